"""Run:ai's workloads on a lab that emulates its controllers: the whole chain down to the pods is recorded."""

from __future__ import annotations

from collections import Counter

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant

from .conftest import Submission

pytestmark = pytest.mark.lab


@pytest.fixture(name="project")
def _project(submission: Submission) -> Submission:
    """Return a submission to a dedicated project."""
    submission.tenants = [Tenant(f"runai-{submission.namespace[-20:]}")]
    return submission


def first_seen(submission: Submission, kind: str, word: str) -> dict[str, float]:
    """Return the time at which the first object of a kind reached a state, by workload."""
    found: dict[str, float] = {}
    for row in submission.rows("transitions"):
        if (row["kind"], row["transition"]) == (kind, word) and row["workload"] is not None:
            found.setdefault(row["workload"], row["seen_s"])
    return found


@pytest.mark.parametrize(
    ("kind", "pods", "between"),
    [("TrainingWorkload", 2, "RunaiJob"), ("DistributedWorkload", 3, "PyTorchJob")],
)
def test_complete_chain_is_recorded(project: Submission, kind: str, pods: int, between: str) -> None:
    project.kind, project.pods, project.count = kind.lower(), pods, 4
    end = project.submit()
    assert end.accounting.sentence() == "4 of 4 workloads submitted: 4 completed, 0 failed, 0 lost"
    assert end.accounting.identity_holds
    names = {row["name"] for row in project.rows("submissions")}
    chain = [first_seen(project, step, "created") for step in (kind, between, "PodGroup", "Pod")]
    chain += [first_seen(project, "Pod", word) for word in ("scheduled", "running", "succeeded")]
    chain.append(first_seen(project, kind, "completed"))
    assert all(seen.keys() == names for seen in chain)
    assert {row["pods"] for row in project.rows("submissions")} == {pods}
    pods_made = {row["name"] for row in project.rows("transitions") if row["kind"] == "Pod"}
    assert len(pods_made) == 4 * pods
    queues = {row["queue"] for row in project.rows("submissions")}
    assert queues == {project.tenants[0].namespace.removeprefix("runai-")}
    assert "runai" in " ".join(project.document("recording")["lab"]["emulated"])


@pytest.mark.deep
def test_interactive_workload_is_complete_when_it_runs(project: Submission) -> None:
    project.kind, project.count = "interactiveworkload", 3
    end = project.submit()
    assert end.accounting.completed == 3
    pods = [row["transition"] for row in project.rows("transitions") if row["kind"] == "Pod"]
    assert Counter(pods)["running"] == 3
    assert "succeeded" not in pods


@pytest.mark.deep
def test_priorities_reach_the_pods(project: Submission) -> None:
    project.crowd()
    project.kind = "trainingworkload"
    end = project.submit()
    assert end.accounting.submitted == end.accounting.completed + end.accounting.failed == 30
    priorities = {row["name"]: row["priority"] for row in project.rows("submissions")}
    victims = [row for row in project.rows("transitions") if row["transition"] == "evicted" and row["kind"] == "Pod"]
    assert victims
    assert {priorities[row["workload"]] for row in victims} == {0}
