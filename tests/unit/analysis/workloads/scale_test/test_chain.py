"""The complete chain of a workload's objects: queue, intermediate object, pod group, pods, volume claims, by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from perfanalysis.workloads.scale_test.measures import measure
from perfanalysis.workloads.scale_test.steps import absence, anomalies_table, latencies_table, present_steps
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import life, submission, tables, transition


def binding_event(pod: str, moment: float) -> dict[str, Any]:
    """Return the scheduler's event of a pod's binding, at its own time, seen 50 ms later."""
    of = {"kind": "Pod", "namespace": "ns", "name": pod, "workload": pod.split("-")[0]}
    times = {"seen_s": moment + 0.05, "server_s": moment, "resolution_s": 1e-6}
    return {**of, **times, "type": "Normal", "reason": "Scheduled", "message": "", "count": 1}


def of_pods(name: str, **times: tuple[float, float]) -> list[dict[str, Any]]:
    """Return transitions of a workload's two pods: word → time of each."""
    return [transition("Pod", f"{name}-{pod}", word, at[pod]) for word, at in times.items() for pod in range(2)]


@pytest.fixture
def queued_job() -> ScaleTestTables:
    """Return a Job of two pods that Kueue queued, with a pod group and two volume claims."""
    job = {"created": 10.5, "suspended": 10.5, "started": 16.0, "completed": 40.0}
    queue = {"created": 11.0, "quota_reserved": 14.0, "admitted": 15.0}
    seen = [transition("Job", "a", word, at) for word, at in job.items()]
    seen += [transition("Workload", "a-queue", word, at) for word, at in queue.items()]
    seen += [transition("PodGroup", "a-group", "created", 16.5), transition("PodGroup", "a-group", "scheduled", 19.5)]
    seen += of_pods("a", created=(17.0, 17.5), scheduled=(19.0, 20.0), ready_to_start=(21.0, 22.0))
    seen += of_pods("a", initialized=(20.5, 21.0), running=(23.0, 25.0), containers_ready=(23.5, 26.0))
    claims = {"a-claim0": (17.0, 18.0), "a-claim1": (17.5, 18.5)}
    for claim, (created, bound_at) in claims.items():
        seen += [transition("PersistentVolumeClaim", claim, "created", created)]
        seen += [transition("PersistentVolumeClaim", claim, "bound", bound_at)]
    return tables(
        [submission("a", 10.0, pods=2.0, queue="blue")],
        seen,
        [binding_event("a-0", 18.75), binding_event("a-1", 20.25)],
    )


def latencies(recorded: ScaleTestTables) -> dict[str, float]:
    """Return step → latency of the only workload, for existing steps."""
    workloads = workloads_table(recorded)
    row = latencies_table(workloads).iloc[0]
    return {step.name: float(row[f"{step.name}_s"]) for step in present_steps(workloads)}


def test_every_step_of_the_chain_matches_hand_computation(queued_job: ScaleTestTables) -> None:
    found = latencies(queued_job)
    expected = {
        "queue_wait": 16.0 - 10.5,
        "quota_wait": 14.0 - 11.0,
        "admission": 15.0 - 14.0,
        "release": 16.0 - 15.0,
        "podgroup_creation": 16.5 - 10.5,
        "podgroup_scheduling": 20.0 - 16.5,
        "decision": 20.25 - 17.5,
        "bind": 20.0 - 20.25,
        "gang_scheduling": 20.0 - 19.0,
        "gang_completeness": 25.0 - 23.0,
        "pvc_bind": 18.5 - 17.0,
        "sandbox": 22.0 - 20.0,
        "container_readiness": 26.0 - 25.0,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected)
    assert found["decision"] + found["bind"] == pytest.approx(found["scheduling"])
    assert "intermediate" not in found


def test_binding_reported_late_is_negative_with_its_cause(queued_job: ScaleTestTables) -> None:
    workloads = workloads_table(queued_job)
    table = anomalies_table(workloads, latencies_table(workloads))
    negative = table[(table["problem"] == "negative") & (table["clock"] == "seen")]
    cause = "clocks differ, or the watch reported it before the scheduler did"
    assert negative[["step", "cause", "count"]].to_numpy().tolist() == [["bind", cause, 1]]


def test_pod_group_created_first_is_marked() -> None:
    seen = [transition("PodGroup", "a", "created", 1.0), transition("Job", "a", "created", 1.5)]
    recorded = tables([submission("a", 1.25)], seen)
    workloads = workloads_table(recorded)
    table = anomalies_table(workloads, latencies_table(workloads))
    [row] = table[table["problem"] == "negative"].to_dict("records")
    assert (row["step"], row["cause"]) == ("podgroup_creation", "the pod group was created before the workload")


def test_object_between_workload_and_pods_has_its_step() -> None:
    seen = [transition("TrainingWorkload", "a", "created", 1.25), transition("RunaiJob", "a", "created", 1.75)]
    seen += [transition("RunaiJob", "a", "completed", 8.0), transition("TrainingWorkload", "a", "completed", 9.0)]
    recorded = tables([submission("a", 1.0, kind="TrainingWorkload")], seen)
    row = workloads_table(recorded).iloc[0]
    assert (row["created_s"], row["intermediate_created_s"], row["completed_s"]) == (1.25, 1.75, 9.0)
    assert latencies(recorded)["intermediate"] == 0.5
    # Without a recorded submission, the same objects are recognized.
    watched = workloads_table(tables([], list(reversed(seen)))).iloc[0]
    assert (watched["kind"], watched["created_s"], watched["intermediate_created_s"]) == (
        "TrainingWorkload",
        1.25,
        1.75,
    )


def test_training_job_below_a_distributed_workload_is_not_counted() -> None:
    seen = [transition("PyTorchJob", "a", "created", 1.5), transition("DistributedWorkload", "a", "created", 1.25)]
    row = workloads_table(tables([submission("a", 1.0, kind="DistributedWorkload")], seen)).iloc[0]
    assert (row["created_s"], row["intermediate_created_s"]) == (1.25, 1.5)
    own = workloads_table(tables([submission("a", 1.0, kind="PyTorchJob")], seen[:1])).iloc[0]
    assert own["created_s"] == 1.5


def test_absent_steps_are_left_out_with_a_reason() -> None:
    workloads = workloads_table(tables([submission("a", 1.0)], life("a", created=2.0)))
    assert {step.name for step in present_steps(workloads)} == {
        *("answer", "creation", "first_pod", "scheduling", "initialization", "start", "readiness", "execution"),
        *("pod_ready", "time_to_scheduled", "time_to_running", "time_to_ready", "time_to_completed"),
    }
    measures = measure(tables([submission("a", 1.0)], life("a", created=2.0)), {}, {})
    assert set(measures.percentiles["step"]) == {step.name for step in measures.steps}
    reasons = {step.name: absence(workloads, step) for step in measures.steps}
    assert set(reasons.values()) == {None}


def test_step_of_one_kind_is_not_missing_from_another() -> None:
    seen = [transition("TrainingWorkload", "a", "created", 1.5), transition("RunaiJob", "a", "created", 2.0)]
    seen += [transition("Job", "b", "created", 1.5)]
    recorded = tables([submission("a", 1.0, kind="TrainingWorkload"), submission("b", 1.0)], seen)
    workloads = workloads_table(recorded)
    table = anomalies_table(workloads, latencies_table(workloads))
    assert "intermediate" not in set(table["step"])


def test_job_suspended_later_was_not_held_back() -> None:
    seen = [transition("Job", "a", "created", 1.0), transition("Job", "a", "started", 1.5)]
    seen += [transition("Job", "a", "suspended", 9.0)]
    row = workloads_table(tables([submission("a", 0.5)], seen)).iloc[0]
    assert pd.isna(row["released_s"])


def test_tenants_are_queues_or_namespaces() -> None:
    sent = [submission("a", 1.0, queue="blue"), submission("b", 2.0), submission("c", 3.0, namespace="other")]
    sent += [submission("d", 4.0, namespace="other", queue="red"), submission("e", 5.0, namespace="x", queue="red")]
    frame = workloads_table(tables(sent, []))
    assert frame["tenant"].tolist() == ["blue", "ns", "other", "other/red", "x/red"]


def test_nodes_without_a_namespace_are_no_second_namespace() -> None:
    node = transition("Node", "n", "not_ready", 3.0, workload=None, namespace="", node="n")
    frame = workloads_table(tables([submission("a", 1.0)], [*life("a", created=2.0), node]))
    assert frame["workload"].tolist() == ["a"]
    assert frame["created_s"].tolist() == [2.0]
