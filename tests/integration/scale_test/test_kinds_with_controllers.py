"""Kinds whose own controllers a lab runs on request, JobSet, LeaderWorkerSet and TrainJob: results, queues, faults."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.trace import Trace, TraceRow

from tests.polling import PATIENCE_S

from .conftest import Lab, Submission
from .test_faults_control_plane import kill_and_restart
from .test_kueue import most_concurrent
from .test_shapes import moments

pytestmark = [pytest.mark.lab, pytest.mark.deep, pytest.mark.usefixtures("quiet")]

TRAINJOBS = ResourceKind("trainer.kubeflow.org/v1alpha1", "TrainJob", "trainjobs")
RUNTIMES = ResourceKind("trainer.kubeflow.org/v1alpha1", "TrainingRuntime", "trainingruntimes")
JOBSETS = ResourceKind("jobset.x-k8s.io/v1alpha2", "JobSet", "jobsets")
KINDS = pytest.mark.parametrize("kind", ["jobset", "leaderworkerset", "trainjob"])
TOGETHER = pytest.mark.parametrize("kind", ["jobset", "leaderworkerset"])


@pytest.fixture(name="lab", scope="module")
def _lab(kinds_lab: Lab) -> Lab:
    return kinds_lab


@KINDS
def test_each_kind_completes(submission: Submission, kind: str) -> None:
    submission.kind, submission.pods, submission.count = kind, 3, 4
    end = submission.submit()
    assert end.accounting.sentence() == "4 of 4 workloads submitted: 4 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    assert {(row["gpus"], row["pods"]) for row in submission.rows("submissions")} == {(3, 3)}
    rows = submission.rows("transitions")
    names = {row["name"] for row in submission.rows("submissions")}
    ready = Counter(row["workload"] for row in rows if (row["kind"], row["transition"]) == ("Pod", "ready"))
    assert ready == dict.fromkeys(names, 3)
    words = Counter(row["transition"] for row in rows if row["kind"].lower() == kind)
    # a TrainJob that was never suspended reports no start
    assert words.keys() >= {"created", "completed", *(["started"] if kind != "trainjob" else [])}
    assert set(words.values()) == {4}


def test_job_of_each_job_set_is_recorded(submission: Submission) -> None:
    submission.kind, submission.count = "jobset", 3
    assert submission.submit().accounting.completed == 3
    jobs = [row for row in submission.rows("transitions") if row["kind"] == "Job"]
    names = {row["name"] for row in submission.rows("submissions")}
    assert {(row["workload"], row["name"]) for row in jobs} == {(name, f"{name}-workers-0") for name in names}
    assert Counter(row["transition"] for row in jobs).keys() >= {"created", "started", "completed"}


def test_runtime_of_train_jobs_is_deleted_with_them(submission: Submission, lab: Lab) -> None:
    submission.kind, submission.pods, submission.count = "trainjob", 2, 3
    assert submission.submit().accounting.completed == 3
    rows = submission.rows("transitions")
    between = Counter((row["kind"], row["transition"]) for row in rows if row["kind"] in ("JobSet", "Job"))
    assert (between["JobSet", "created"], between["Job", "created"]) == (3, 3)

    async def left() -> list[dict[str, Any]]:
        async with lab.client() as client:
            for row in submission.rows("submissions"):
                await client.request("DELETE", TRAINJOBS.object(submission.namespace, row["name"]))
            async with asyncio.timeout(PATIENCE_S):
                while found := (await client.request("GET", RUNTIMES.collection(submission.namespace))).document():
                    items: list[dict[str, Any]] = found["items"]
                    if not items:
                        return items
                    # it has a finalizer until no TrainJob names it
                    assert items[0]["metadata"]["deletionTimestamp"]
                    await asyncio.sleep(0.1)
        raise AssertionError("no response")

    assert asyncio.run(left()) == []


@KINDS
def test_workloads_wait_for_gpus_that_no_node_has_left(submission: Submission, kind: str) -> None:
    # more than a node has
    submission.kind, submission.count, submission.gpus, submission.timeout_s = kind, 2, 9, 8.0
    end = submission.submit()
    assert end.ended_by == "timeout"
    assert end.accounting.running_by_cause == {"Insufficient nvidia.com/gpu": 2}


@pytest.mark.parametrize(
    ("kind", "component"), [("jobset", "jobset"), ("leaderworkerset", "lws"), ("trainjob", "trainer")]
)
def test_submission_survives_a_killed_controller(submission: Submission, kind: str, component: str) -> None:
    submission.kind, submission.count, submission.rate = kind, 40, 10.0

    async def scene() -> SessionEnd:
        running = asyncio.create_task(submission.run())
        await submission.wait_answered(10)
        await kill_and_restart(submission.lab, component)
        return await running

    end = asyncio.run(scene())
    assert end.accounting.sentence() == "40 of 40 workloads submitted: 40 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    # while it is down, its webhooks refuse requests only temporarily
    assert submission.document("recording")["client"]["requests"]["retries"]
    requests.judge(end, max_failed=0, timeout_s=1.0)


@KINDS
def test_churned_workloads_leave_with_their_pods(submission: Submission, kind: str) -> None:
    submission.kind, submission.count, submission.duration_s = kind, 4, 12.0
    submission.churn = ChurnPlan(percent=50, period_s=4.0, rounds=1)
    accounting = submission.submit().accounting
    assert accounting.identity_holds
    # a LeaderWorkerSet is complete by then
    churned = 0 if kind == "leaderworkerset" else 2
    assert (accounting.submitted, accounting.completed, accounting.churned) == (6, 6 - churned, churned)
    left = {row["name"] for row in submission.rows("churn")}
    assert len(left) == 2
    gone = [row for row in submission.rows("transitions") if row["transition"] == "deleted"]
    assert {row["name"] for row in gone if row["kind"].lower() == kind} == left


@TOGETHER
def test_gang_starts_completely_or_not_at_all(submission: Submission, kind: str) -> None:
    # each takes 12 of the lab's 20 nodes
    submission.kind, submission.gang, submission.pods, submission.gpus = kind, True, 12, 8
    submission.count, submission.timeout_s = (2, submission.timeout_s) if kind == "jobset" else (1, 60.0)
    end = submission.submit()
    assert (end.accounting.completed, end.accounting.identity_holds) == (submission.count, True)
    scheduled = moments(submission, "scheduled")
    assert {len(times) for times in scheduled.values()} == {12}
    if kind == "jobset":
        first, second = sorted(scheduled, key=lambda name: scheduled[name][0])
        assert min(scheduled[second]) > max(scheduled[first])


def test_job_sets_wait_in_queues_of_kueue(submission: Submission) -> None:
    submission.kind, submission.count = "jobset", 12
    submission.tenants = [Tenant(submission.namespace, "gold", quota=4)]
    end = submission.submit()
    assert end.accounting.sentence() == "12 of 12 workloads submitted: 12 completed, 0 failed, 0 lost"
    assert 1 <= most_concurrent(submission, submission.namespace) <= 4
    counts = Counter((row["kind"], row["transition"]) for row in submission.rows("transitions"))
    assert {word: counts["Workload", word] for word in ("created", "admitted", "completed")} == {
        "created": 12,
        "admitted": 12,
        "completed": 12,
    }
    # Kueue may start the first four before JobSet's controller reports that they are suspended
    assert 8 <= counts["JobSet", "suspended"] <= 12
    assert counts["JobSet", "started"] == 12


@pytest.mark.parametrize("kind", ["leaderworkerset", "trainjob", "deployment", "pod"])
def test_kind_without_a_webhook_of_kueue_is_refused_in_a_queue(submission: Submission, kind: str) -> None:
    submission.kind, submission.count = kind, 1
    submission.tenants = [Tenant(submission.namespace, "gold", quota=4)]
    with pytest.raises(ClusterError, match="does not queue workloads of kind"):
        submission.submit()
    assert not (submission.folder / "artifacts" / "submissions.jsonl").exists()


def test_trace_mixes_them_with_other_kinds(submission: Submission) -> None:
    kinds = ("JobSet", "Job", "LeaderWorkerSet", "TrainJob")
    rows = tuple(TraceRow(0.1 * place, kind, place + 1, 1.0) for place, kind in enumerate(kinds))
    submission.trace, submission.count = Trace("trace.csv", rows), 4
    assert submission.submit().accounting.completed == 4
    sent = sorted(submission.rows("submissions"), key=lambda row: row["index"])
    assert [(row["kind"], row["gpus"]) for row in sent] == [(kind, place + 1) for place, kind in enumerate(kinds)]
