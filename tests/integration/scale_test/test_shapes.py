"""Shapes of a submission on a real control plane: kinds, traces, tenants and priorities."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter

import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Priority, Tenant
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace, TraceRow

from tests.programs import PROJECT

from .conftest import Lab, Submission

# gangs and crowds use all of its nodes
pytestmark = [pytest.mark.lab, pytest.mark.usefixtures("quiet")]

KINDS = PROJECT / "tests/data/kinds"
CLASSES = "/apis/scheduling.k8s.io/v1/priorityclasses"


@pytest.mark.parametrize(("kind", "pods"), [("pod", 1), ("indexedjob", 3), ("deployment", 2)])
def test_each_kind_completes(submission: Submission, kind: str, pods: int) -> None:
    submission.kind, submission.pods, submission.count = kind, pods, 4
    end = submission.submit()
    assert (end.accounting.completed, end.accounting.identity_holds) == (4, True)
    seen = {row["name"] for row in submission.rows("transitions") if row["kind"] == "Pod"}
    assert len(seen) == 4 * pods


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "own_pods"), [("rayjob", 4), ("raycluster", 3)])
def test_kinds_of_ray_complete(submission: Submission, kind: str, own_pods: int) -> None:
    submission.kind, submission.pods, submission.count = kind, 3, 3
    end = submission.submit()
    assert end.accounting.sentence() == "3 of 3 workloads submitted: 3 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    assert {(row["gpus"], row["pods"]) for row in submission.rows("submissions")} == {(3, own_pods)}
    rows = submission.rows("transitions")
    words = Counter(row["transition"] for row in rows if row["kind"].lower() == kind)
    assert {word: words[word] for word in ("created", "started", "completed")} == {
        "created": 3,
        "started": 3,
        "completed": 3,
    }
    ready = Counter(row["workload"] for row in rows if (row["kind"], row["transition"]) == ("Pod", "running"))
    assert set(ready.values()) == {own_pods}


@pytest.mark.deep
def test_failed_ray_jobs_have_the_reason_of_the_pod_that_submits(submission: Submission) -> None:
    submission.kind, submission.count = "rayjob", 2
    fails = {"metadata": {"annotations": {"lab.psap.perf/exit-code": "3"}}}
    submission.patch = {"spec": {"submitterPodTemplate": fails}}
    assert submission.submit().accounting.failed_by_cause == {"Error (exit code 3)": 2}


def test_kind_that_is_not_shipped_needs_a_template_and_a_lifecycle(submission: Submission) -> None:
    # the example of docs/scale-test.md
    submission.template = KINDS / "statefulset.yml.j2"
    submission.lifecycles = yaml.safe_load((KINDS / "lifecycles.yml").read_text())["scale_test_lifecycles"]
    submission.count, submission.pods, submission.duration_s = 3, 2, 30.0
    end = submission.submit()
    assert (end.accounting.completed, end.accounting.identity_holds) == (3, True)
    rows = submission.rows("transitions")
    words = Counter(row["transition"] for row in rows if row["kind"] == "StatefulSet")
    assert words == {"created": 3, "started": 3, "completed": 3}
    assert Counter(row["transition"] for row in rows if row["kind"] == "Pod")["ready"] == 6


@pytest.mark.deep
def test_trace_mixes_kinds_in_one_recording(submission: Submission) -> None:
    kinds = ("Job", "Pod", "PyTorchJob", "Deployment")
    rows = tuple(TraceRow(0.1 * place, kind, place + 1, 1.0) for place, kind in enumerate(kinds))
    submission.trace, submission.count = Trace("trace.csv", rows), 4
    assert submission.submit().accounting.completed == 4
    sent = sorted(submission.rows("submissions"), key=lambda row: row["index"])
    assert [(row["kind"], row["gpus"]) for row in sent] == [(kind, place + 1) for place, kind in enumerate(kinds)]
    gaps = [later["sent_s"] - earlier["sent_s"] for earlier, later in itertools.pairwise(sent)]
    assert min(gaps) > 0


def test_tenants_and_priorities_have_their_shares(submission: Submission, lab: Lab) -> None:
    other = f"{submission.namespace}-b"
    submission.tenants = [Tenant(submission.namespace, weight=2), Tenant(other)]
    submission.priorities = [Priority("low", 0), Priority("high", 1000)]
    submission.count = 12
    end = submission.submit()
    assert (end.accounting.completed, end.accounting.identity_holds) == (12, True)
    assert Counter(row["namespace"] for row in submission.rows("submissions")) == {submission.namespace: 8, other: 4}
    pods = [row for row in submission.rows("transitions") if (row["kind"], row["transition"]) == ("Pod", "succeeded")]
    assert Counter(row["namespace"] for row in pods) == {submission.namespace: 8, other: 4}

    async def left() -> list[str]:
        async with lab.client() as client:
            items = (await client.request("GET", CLASSES)).document()["items"]
            return [item["metadata"]["name"] for item in items]

    assert all(name.startswith("system-") for name in asyncio.run(left()))


def moments(submission: Submission, word: str) -> dict[str, list[float]]:
    """Return the time at which the pods of each workload reached a state."""
    found: dict[str, list[float]] = {}
    for row in submission.rows("transitions"):
        if (row["kind"], row["transition"]) == ("Pod", word):
            found.setdefault(row["workload"], []).append(row["seen_s"])
    return found


@pytest.mark.deep
@pytest.mark.parametrize("kind", ["job", pytest.param("pytorchjob")])
def test_gang_starts_completely_or_not_at_all(submission: Submission, kind: str) -> None:
    # each takes 12 of the lab's 20 nodes: without a gang the second would start with 8
    submission.kind, submission.gang = kind, True
    submission.count, submission.pods, submission.gpus = 2, 12, 8
    end = submission.submit()
    assert (end.accounting.submitted, end.accounting.completed, end.accounting.identity_holds) == (2, 2, True)
    scheduled, ended = moments(submission, "scheduled"), moments(submission, "succeeded")
    first, second = sorted(scheduled, key=lambda name: scheduled[name][0])
    assert len(scheduled[first]) == len(scheduled[second]) == 12
    assert min(scheduled[second]) > max(scheduled[first])
    assert min(scheduled[second]) > min(ended[first])
    groups = [row for row in submission.rows("transitions") if row["kind"] == "PodGroup"]
    assert Counter(row["transition"] for row in groups if row["workload"] in (first, second))["scheduled"] == 2


@pytest.mark.deep
def test_preempted_pod_without_a_controller_has_failed(submission: Submission) -> None:
    submission.crowd()
    submission.kind = "pod"
    accounting = submission.submit().accounting
    assert accounting.submitted == accounting.completed + accounting.failed == 30
    assert accounting.identity_holds
    evicted = [row for row in submission.rows("transitions") if row["transition"] == "evicted"]
    assert accounting.failed_by_cause == {"PreemptionByScheduler": len(evicted)}
    assert evicted


@pytest.mark.deep
def test_jobs_of_high_priority_preempt_those_of_low_priority(submission: Submission) -> None:
    submission.crowd()
    end = submission.submit()
    assert end.accounting.sentence() == "30 of 30 workloads submitted: 30 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    sent = {row["name"]: row for row in submission.rows("submissions")}
    assert Counter(row["priority"] for row in sent.values()) == {0: 25, 1000: 5}
    pods = [row for row in submission.rows("transitions") if row["kind"] == "Pod"]
    victims = [row for row in pods if row["transition"] == "evicted"]
    assert {row["reason"] for row in victims} == {"PreemptionByScheduler"}
    assert {sent[row["workload"]]["priority"] for row in victims} == {0}
    # each victim's Job created another pod, which ended
    made = Counter(row["workload"] for row in pods if row["transition"] == "created")
    assert all(made[row["workload"]] >= 2 for row in victims)
