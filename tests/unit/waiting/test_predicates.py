from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import predicate_for
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import Verdict


def _workload(spec: dict[str, Any], status: dict[str, Any], generation: int = 2) -> dict[str, Any]:
    return {"metadata": {"name": "x", "generation": generation}, "spec": spec, "status": status}


READY = {"observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "availableReplicas": 3, "readyReplicas": 3}


@pytest.mark.parametrize(
    ("status", "reached", "hopeless"),
    [
        (READY, True, False),
        (READY | {"observedGeneration": 1}, False, False),
        (READY | {"availableReplicas": 2}, False, False),
        (READY | {"replicas": 4}, False, False),
        (
            READY
            | {
                "availableReplicas": 0,
                "conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}],
            },
            False,
            True,
        ),
        ({}, False, False),
    ],
)
def test_deployment_is_ready_when_its_replicas_are(status: dict[str, Any], reached: bool, hopeless: bool) -> None:
    verdict = predicate_for("Deployment", "ready")(_workload({"replicas": 3}, status))
    assert (verdict.reached, verdict.hopeless) == (reached, hopeless)


def test_daemon_set_without_nodes_is_not_ready() -> None:
    status = {"observedGeneration": 2, "desiredNumberScheduled": 0, "numberReady": 0, "updatedNumberScheduled": 0}
    assert not predicate_for("DaemonSet", "ready")(_workload({}, status)).reached
    full = {"observedGeneration": 2, "desiredNumberScheduled": 4, "numberReady": 4, "updatedNumberScheduled": 4}
    assert predicate_for("DaemonSet", "ready")(_workload({}, full)).reached


def test_pod_that_cannot_pull_its_image_is_hopeless() -> None:
    waiting = {"reason": "ImagePullBackOff", "message": "no such image"}
    pod = {
        "metadata": {"name": "x"},
        "status": {"phase": "Pending", "containerStatuses": [{"name": "main", "state": {"waiting": waiting}}]},
    }
    verdict = predicate_for("Pod", "ready")(pod)
    assert verdict.hopeless
    assert "container main: ImagePullBackOff no such image" in verdict.note


def test_failed_job_never_completes_but_has_finished() -> None:
    job = {"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]}}
    assert predicate_for("Job", "completed")(job).hopeless
    assert predicate_for("Job", "finished")(job).reached


def test_unknown_kind_uses_its_ready_condition() -> None:
    notebook = {"status": {"conditions": [{"type": "Ready", "status": "True"}]}}
    assert predicate_for("Notebook", "ready")(notebook).reached
    assert "no condition Ready yet" in predicate_for("Notebook", "ready")({}).note


def test_jmespath_condition_is_evaluated() -> None:
    predicate = predicate_for("ConfigMap", "data.state == 'done'")
    assert predicate({"data": {"state": "done"}}).reached
    assert not predicate({"data": {"state": "busy"}}).reached


@pytest.mark.parametrize("until", ["redy", "data.[", "finised"])
def test_unknown_state_is_refused(until: str) -> None:
    with pytest.raises(UsageError, match=until.replace("[", r"\[")):
        predicate_for("Deployment", until)


@pytest.mark.parametrize("device", ["10de", "0302_10de", "0300_10de"])
def test_gpu_is_found_by_any_label_of_its_vendor(device: str) -> None:
    state = predicate_for("Node", "nvidia_gpu_found")
    label = f"feature.node.kubernetes.io/pci-{device}.present"
    assert state({"metadata": {"labels": {label: "true"}}}).reached
    assert not state({"metadata": {"labels": {label: "false"}}}).reached
    assert "pci-0300_10de.present" in state({"metadata": {}}).note


def test_features_are_found_on_any_system() -> None:
    state = predicate_for("Node", "features_found")
    assert state({"metadata": {"labels": {"feature.node.kubernetes.io/system-os_release.ID": "fedora"}}}).reached
    assert not state({"metadata": {"labels": {"feature.node.kubernetes.io/system-os_release.ID": ""}}}).reached
    assert not state({"metadata": {"name": "n"}}).reached


@pytest.mark.parametrize(
    ("conditions", "reached", "hopeless"),
    [
        ({}, False, False),
        ({"Created": "True"}, False, False),
        ({"Created": "True", "Running": "True"}, True, False),
        ({"Running": "False", "Succeeded": "True"}, True, False),
        # it failed after its start: a wait for its end reports that
        ({"Running": "False", "Failed": "True"}, True, False),
        ({"Succeeded": "True"}, True, False),
        ({"Failed": "True"}, False, True),
    ],
)
def test_training_job_has_started(conditions: dict[str, str], reached: bool, hopeless: bool) -> None:
    rows = [{"type": kind, "status": status} for kind, status in conditions.items()]
    verdict = predicate_for("PyTorchJob", "started")({"status": {"conditions": rows}})
    assert (verdict.reached, verdict.hopeless) == (reached, hopeless)


@pytest.mark.parametrize(
    ("deployment", "job", "started", "completed", "hopeless"),
    [
        ("", "", False, False, False),
        ("Initializing", "", False, False, False),
        ("Running", "PENDING", True, False, False),
        # the job has ended, its submitter has not
        ("Running", "SUCCEEDED", True, False, False),
        ("Complete", "SUCCEEDED", True, True, False),
        # it failed after its start: a wait for its end reports that
        ("Running", "FAILED", True, False, True),
        ("Complete", "STOPPED", True, False, True),
        ("Failed", "", False, False, True),
    ],
)
def test_ray_job_state_combines_its_two_states(
    deployment: str, job: str, started: bool, completed: bool, hopeless: bool
) -> None:
    obj = {"status": {"jobDeploymentStatus": deployment, "jobStatus": job, "message": "why"}}
    found = predicate_for("RayJob", "completed")(obj)
    assert (found.reached, found.hopeless) == (completed, hopeless)
    assert ("why" in found.note) == hopeless
    assert predicate_for("RayJob", "started")(obj).reached == started


def test_unscheduled_pod_is_reported_and_not_hopeless() -> None:
    conditions = [{"type": "PodScheduled", "status": "False", "message": "0/4 nodes are available"}]
    pod = {"metadata": {"name": "x"}, "status": {"phase": "Pending", "conditions": conditions}}
    completed, ready = predicate_for("Pod", "completed")(pod), predicate_for("Pod", "ready")(pod)
    assert completed.note == "phase Pending, not scheduled: 0/4 nodes are available"
    assert ready.note == "no condition Ready yet, not scheduled: 0/4 nodes are available"
    assert not completed.hopeless
    assert not ready.hopeless


def test_failed_pod_reports_how_its_containers_ended() -> None:
    ended = {"exitCode": 137, "reason": "OOMKilled"}
    statuses = [{"name": "main", "state": {"terminated": ended}}]
    pod = {"metadata": {"name": "x"}, "status": {"phase": "Failed", "containerStatuses": statuses}}
    verdict = predicate_for("Pod", "completed")(pod)
    assert verdict.note == "the pod failed: container main: OOMKilled (exit code 137)"
    assert verdict.hopeless
    ended["message"] = "Traceback:\n  ...\nValueError: no model\n"
    note = predicate_for("Pod", "completed")(pod).note
    assert note == "the pod failed: container main: OOMKilled (exit code 137): ValueError: no model"


def test_pod_without_a_node_quotes_the_scheduler() -> None:
    entry = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/4 nodes are available"}
    pod = {"metadata": {"name": "x"}, "status": {"phase": "Pending", "conditions": [entry]}}
    scheduled = predicate_for("Pod", "scheduled")
    assert scheduled(pod) == Verdict(False, "no node, not scheduled: 0/4 nodes are available")
    assert scheduled({"metadata": {"name": "x"}, "status": {"phase": "Failed", "reason": "NodeAffinity"}}).hopeless
    entry["status"] = "True"
    assert scheduled(pod).reached


def _gpu_node(labels: dict[str, str], allocatable: dict[str, str]) -> dict[str, Any]:
    named = {f"nvidia.com/gpu.{name}": value for name, value in labels.items()}
    return {"metadata": {"name": "n", "labels": named}, "status": {"allocatable": allocatable}}


@pytest.mark.parametrize(
    ("labels", "allocatable", "reached"),
    [
        ({}, {"nvidia.com/gpu": "8"}, False),
        ({"count": "8"}, {}, False),
        ({"count": "0"}, {}, False),
        ({"count": "8"}, {"nvidia.com/gpu": "8"}, True),
        ({"count": "8", "replicas": "1"}, {"nvidia.com/gpu": "8"}, True),
        ({"count": "8", "replicas": "4"}, {"nvidia.com/gpu": "8"}, False),
        ({"count": "8", "replicas": "4"}, {"nvidia.com/gpu": "32"}, True),
        ({"count": "8", "replicas": "4"}, {"nvidia.com/gpu.shared": "32"}, True),
    ],
)
def test_gpus_are_allocatable_as_often_as_they_are_shared(
    labels: dict[str, str], allocatable: dict[str, str], reached: bool
) -> None:
    assert predicate_for("Node", "nvidia_gpus_allocatable")(_gpu_node(labels, allocatable)).reached is reached


def test_on_delete_daemon_set_reports_that_pods_must_be_deleted() -> None:
    status = {"observedGeneration": 2, "desiredNumberScheduled": 4, "numberReady": 4, "updatedNumberScheduled": 1}
    verdict = predicate_for("DaemonSet", "ready")(_workload({"updateStrategy": {"type": "OnDelete"}}, status))
    assert not verdict.reached
    assert verdict.note == "4 of 4 nodes ready, 1 updated: its pods are updated only when they are deleted"


@pytest.mark.parametrize(
    ("desired", "ready", "observed", "reached"),
    [(4, 4, 2, True), (4, 3, 2, False), (0, 0, 2, True), (0, 0, 1, False)],
)
def test_daemon_set_without_matching_nodes_is_rolled_out(
    desired: int, ready: int, observed: int, reached: bool
) -> None:
    status = {
        "observedGeneration": observed,
        "desiredNumberScheduled": desired,
        "numberReady": ready,
        "updatedNumberScheduled": ready,
    }
    assert predicate_for("DaemonSet", "rolled_out")(_workload({}, status)).reached is reached
    assert not predicate_for("DaemonSet", "rolled_out")(_workload({}, {}, generation=0)).reached


@pytest.mark.parametrize(
    ("status", "reached", "hopeless", "note"),
    [
        ({}, False, False, "state None"),
        ({"state": "ready"}, True, False, "state ready"),
        ({"state": "ready", "Ready": ("True", "Reconciled", "")}, True, False, "state ready"),
        # Ready, since there is nothing to do
        ({"state": "ready", "Ready": ("True", "NoGPUNodes", "No GPU node")}, False, False, "NoGPUNodes: No GPU node"),
        ({"state": "ready", "Ready": ("True", "NFDLabelsMissing", "")}, False, False, "NFDLabelsMissing"),
        (
            {"state": "notReady", "Error": ("True", "OperandNotReady", "states not ready: [state-driver]")},
            False,
            False,
            "state notReady, states not ready: [state-driver]",
        ),
        ({"state": "notReady", "Error": ("False", "Ready", "of old")}, False, False, "state notReady"),
        ({"state": "ignored"}, False, True, "the operator ignores it: another ClusterPolicy is in force"),
    ],
)
def test_cluster_policy_is_ready_once_it_has_a_node(
    status: dict[str, Any], reached: bool, hopeless: bool, note: str
) -> None:
    rows = [
        {"type": kind, "status": status[kind][0], "reason": status[kind][1], "message": status[kind][2]}
        for kind in ("Ready", "Error")
        if kind in status
    ]
    policy = {"metadata": {"name": "p"}, "status": {"state": status.get("state"), "conditions": rows}}
    verdict = predicate_for("ClusterPolicy", "ready")(policy)
    assert (verdict.reached, verdict.hopeless, verdict.note) == (reached, hopeless, note)
