"""Run:ai's chain of objects, from the workload to its pods and back."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest
from perflab.processes.state import Lab

from .labs import Cluster, Labs, wait_for

NAMESPACE = "runai-team"
OWN_LABEL = "psap.perf/workload"
PLURALS = {
    "TrainingWorkload": ("run.ai", "v2alpha1", "trainingworkloads"),
    "InteractiveWorkload": ("run.ai", "v2alpha1", "interactiveworkloads"),
    "DistributedWorkload": ("run.ai", "v2alpha1", "distributedworkloads"),
    "RunaiJob": ("run.ai", "v1", "runaijobs"),
    "PyTorchJob": ("kubeflow.org", "v1", "pytorchjobs"),
    "PodGroup": ("scheduling.run.ai", "v2alpha2", "podgroups"),
    "Gang": ("scheduling.k8s.io", "v1alpha2", "podgroups"),
}


@pytest.fixture(scope="module")
def runai(queues_lab: Lab) -> Cluster:
    """Start a lab with a project."""
    cluster = Cluster.of(queues_lab)
    cluster.core.create_namespace({"metadata": {"name": NAMESPACE}})
    return cluster


def submit(cluster: Cluster, kind: str, name: str, annotations: dict[str, str] | None = None, **fields: Any) -> None:
    group, version, plural = PLURALS[kind]
    items = {f"lab.psap.perf/{key}": {"value": value} for key, value in (annotations or {}).items()}
    spec = {field: {"value": value} for field, value in {"gpu": "1", "backoffLimit": 0, **fields}.items()}
    body = {
        "apiVersion": f"{group}/{version}",
        "kind": kind,
        "metadata": {"name": name, "labels": {OWN_LABEL: name}},
        "spec": {**spec, "annotations": {"items": items}},
    }
    cluster.custom.create_namespaced_custom_object(group, version, NAMESPACE, plural, body)


def read(cluster: Cluster, kind: str, name: str) -> dict[str, Any]:
    group, version, plural = PLURALS[kind]
    found: dict[str, Any] = cluster.custom.get_namespaced_custom_object(group, version, NAMESPACE, plural, name)
    return found


def of_workload(cluster: Cluster, kind: str, name: str) -> list[dict[str, Any]]:
    group, version, plural = PLURALS[kind]
    selector = f"{OWN_LABEL}={name}"
    listed = cluster.custom.list_namespaced_custom_object(group, version, NAMESPACE, plural, label_selector=selector)
    items: list[dict[str, Any]] = listed["items"]
    return items


def pods_of(cluster: Cluster, name: str) -> list[Any]:
    items: list[Any] = cluster.core.list_namespaced_pod(NAMESPACE, label_selector=f"{OWN_LABEL}={name}").items
    return items


def phase(cluster: Cluster, kind: str, name: str) -> str:
    return str(read(cluster, kind, name).get("status", {}).get("phase"))


def is_complete(cluster: Cluster, name: str) -> bool:
    return phase(cluster, "TrainingWorkload", name) == "Completed"


def all_run(cluster: Cluster, name: str, count: int) -> bool:
    return [pod.status.phase for pod in pods_of(cluster, name)] == ["Running"] * count


def conditions(document: dict[str, Any]) -> dict[str, str]:
    return {item["type"]: item["status"] for item in document["status"]["conditions"]}


def delete(cluster: Cluster, kind: str, name: str) -> None:
    group, version, plural = PLURALS[kind]
    cluster.custom.delete_namespaced_custom_object(group, version, NAMESPACE, plural, name)

    def left() -> list[Any]:
        below = [
            each for kind in ("RunaiJob", "PyTorchJob", "PodGroup", "Gang") for each in of_workload(cluster, kind, name)
        ]
        return [*below, *pods_of(cluster, name)]

    wait_for(f"nothing is left below {name}", lambda: not left())


def test_training_workload_creates_its_chain_and_completes(runai: Cluster) -> None:
    submit(runai, "TrainingWorkload", "trains", {"duration": "1s"})
    wait_for("it is complete", lambda: phase(runai, "TrainingWorkload", "trains") == "Completed")
    assert conditions(read(runai, "TrainingWorkload", "trains")) == {"Running": "False", "Completed": "True"}
    job = read(runai, "RunaiJob", "trains")
    assert conditions(job) == {"Complete": "True"}
    assert {key: job["status"][key] for key in ("active", "succeeded", "failed")} == {
        "active": 0,
        "succeeded": 1,
        "failed": 0,
    }
    [pod], [group] = pods_of(runai, "trains"), of_workload(runai, "PodGroup", "trains")
    assert pod.metadata.name == "trains-0-0"
    assert pod.metadata.labels["release"] == pod.metadata.labels["workloadName"] == "trains"
    assert pod.metadata.annotations["pod-group-name"] == group["metadata"]["name"]
    assert group["spec"] == {"minMember": 1, "queue": "team"}
    wait_for(
        "the group is complete", lambda: of_workload(runai, "PodGroup", "trains")[0]["status"]["phase"] == "Succeeded"
    )
    # the group existed before the pod got a node
    scheduled = next(item for item in pod.status.conditions if item.type == "PodScheduled")
    assert scheduled.last_transition_time.strftime("%Y-%m-%dT%H:%M:%SZ") >= group["metadata"]["creationTimestamp"]
    for document in (job["metadata"], group["metadata"], pod.metadata.to_dict()):
        assert document["annotations"]["lab.psap.perf/emulated"] == "runai"
    delete(runai, "TrainingWorkload", "trains")


def test_training_workload_fails_with_its_pods(runai: Cluster) -> None:
    submit(runai, "TrainingWorkload", "breaks", {"reason": "OOMKilled"}, parallelism=2, completions=2, backoffLimit=1)
    wait_for("it has failed", lambda: phase(runai, "TrainingWorkload", "breaks") == "Failed")
    failed = next(
        item for item in read(runai, "TrainingWorkload", "breaks")["status"]["conditions"] if item["type"] == "Failed"
    )
    assert failed["reason"] == "BackoffLimitExceeded"
    status = read(runai, "RunaiJob", "breaks")["status"]
    assert (status["active"], status["succeeded"]) == (0, 0)
    assert status["failed"] >= 2
    wait_for("no pod runs", lambda: {pod.status.phase for pod in pods_of(runai, "breaks")} == {"Failed"})
    delete(runai, "TrainingWorkload", "breaks")


@pytest.mark.deep
def test_failed_pod_is_retried_up_to_the_limit(runai: Cluster) -> None:
    submit(runai, "TrainingWorkload", "retries", {"exit-code": "1", "duration": "100ms"}, backoffLimit=2)
    wait_for("it has failed", lambda: phase(runai, "TrainingWorkload", "retries") == "Failed")
    assert sorted(pod.metadata.name for pod in pods_of(runai, "retries")) == [f"retries-0-{each}" for each in range(3)]
    delete(runai, "TrainingWorkload", "retries")


def test_interactive_workload_continues_and_returns(runai: Cluster) -> None:
    submit(runai, "InteractiveWorkload", "notebook")
    wait_for("it runs", lambda: phase(runai, "InteractiveWorkload", "notebook") == "Running")
    uid = pods_of(runai, "notebook")[0].metadata.uid
    runai.core.delete_namespaced_pod("notebook-0-0", NAMESPACE)
    wait_for(
        "another pod runs",
        lambda: [
            pod for pod in pods_of(runai, "notebook") if pod.metadata.uid != uid and pod.status.phase == "Running"
        ],
    )
    wait_for("it runs again", lambda: phase(runai, "InteractiveWorkload", "notebook") == "Running")
    delete(runai, "InteractiveWorkload", "notebook")


def test_distributed_workload_starts_completely_or_not_at_all(runai: Cluster) -> None:
    submit(runai, "DistributedWorkload", "too-large", gpu="8", workers=2)
    submit(runai, "DistributedWorkload", "fits", {"duration": "1s"}, gpu="8", workers=1)
    wait_for("the smaller is complete", lambda: phase(runai, "DistributedWorkload", "fits") == "Completed")
    assert len(pods_of(runai, "fits")) == 2
    [group] = of_workload(runai, "PodGroup", "fits")
    assert group["spec"]["minMember"] == 2
    pods = wait_for("its pods", lambda: len(pods_of(runai, "too-large")) == 3 and pods_of(runai, "too-large"))
    assert [pod.spec.node_name for pod in pods] == [None, None, None]
    wait_for("it is Pending", lambda: phase(runai, "DistributedWorkload", "too-large") == "Pending")
    delete(runai, "DistributedWorkload", "too-large")
    delete(runai, "DistributedWorkload", "fits")


def test_name_can_be_reused_immediately(runai: Cluster) -> None:
    submit(runai, "TrainingWorkload", "again", {"duration": "1h"})
    wait_for("it runs", lambda: phase(runai, "TrainingWorkload", "again") == "Running")
    group, version, plural = PLURALS["TrainingWorkload"]
    runai.custom.delete_namespaced_custom_object(group, version, NAMESPACE, plural, "again")
    submit(runai, "TrainingWorkload", "again", {"duration": "1s"})
    wait_for("the second is complete", lambda: phase(runai, "TrainingWorkload", "again") == "Completed")
    delete(runai, "TrainingWorkload", "again")


@pytest.mark.deep
def test_workload_of_higher_priority_preempts_another(runai: Cluster) -> None:
    for name, value in (("build", 100), ("train", 50)):
        runai.custom.create_cluster_custom_object(
            "scheduling.k8s.io", "v1", "priorityclasses", {"metadata": {"name": name}, "value": value}
        )
    group, version, plural = PLURALS["TrainingWorkload"]
    for name, priority in (("victim", "train"), ("winner", "build")):
        body = {
            "apiVersion": f"{group}/{version}",
            "kind": "TrainingWorkload",
            "metadata": {"name": name, "labels": {OWN_LABEL: name, "priorityClassName": priority}},
            "spec": {
                "gpu": {"value": "8"},
                "parallelism": {"value": 2},
                "annotations": {"items": {"lab.psap.perf/duration": {"value": "1h"}}},
            },
        }
        runai.custom.create_namespaced_custom_object(group, version, NAMESPACE, plural, body)
        wait_for(f"{name} runs", partial(all_run, runai, name, 2))
    # it waits in the queue, and has not failed
    wait_for("the victim waits", lambda: [pod.status.phase for pod in pods_of(runai, "victim")] == ["Pending"] * 2)
    wait_for("it is Pending", lambda: phase(runai, "TrainingWorkload", "victim") == "Pending")
    delete(runai, "TrainingWorkload", "winner")
    wait_for("the victim runs again", lambda: phase(runai, "TrainingWorkload", "victim") == "Running")
    delete(runai, "TrainingWorkload", "victim")


def test_refused_pod_is_reported(runai: Cluster) -> None:
    group, version, plural = PLURALS["TrainingWorkload"]
    metadata = {"name": "refused", "labels": {OWN_LABEL: "refused", "priorityClassName": "nobody-has-it"}}
    body = {"apiVersion": f"{group}/{version}", "kind": "TrainingWorkload", "metadata": metadata, "spec": {}}
    runai.custom.create_namespaced_custom_object(group, version, NAMESPACE, plural, body)
    selector = "involvedObject.name=refused,reason=FailedCreate"
    events = wait_for("the event", lambda: runai.core.list_namespaced_event(NAMESPACE, field_selector=selector).items)
    assert "nobody-has-it" in events[0].message
    delete(runai, "TrainingWorkload", "refused")


@pytest.mark.deep
def test_work_survives_kills_of_api_server_and_emulator(labs: Labs, queues_lab: Lab, runai: Cluster) -> None:
    submit(runai, "TrainingWorkload", "survives", {"duration": "3s"})
    wait_for("it runs", lambda: phase(runai, "TrainingWorkload", "survives") == "Running")
    assert labs.run("restart", "--name", queues_lab.name, "kube-apiserver").returncode == 0
    assert labs.run("restart", "--name", queues_lab.name, "emulators").returncode == 0
    submit(runai, "TrainingWorkload", "comes-later", {"duration": "1s"})
    for name in ("survives", "comes-later"):
        wait_for(f"{name} is complete", partial(is_complete, runai, name))
        delete(runai, "TrainingWorkload", name)


def test_lab_reports_what_is_emulated(labs: Labs, queues_lab: Lab, runai: Cluster) -> None:
    name = queues_lab.name
    assert labs.get(name).document()["emulated"] == ["volumes", "trainers", "runai"]
    config_map = runai.core.read_namespaced_config_map("perflab", "kube-system")
    assert config_map.data["emulated"] == "volumes,trainers,runai"
    products = "kueue, ray, training-operator"
    assert f"{name}: running, 2 nodes of 8 GPUs, with {products}, emulates runai, since" in labs.run("status").stdout
    assert labs.run("up", "--name", name).returncode == 0
    assert labs.run("up", "--name", name, "--with", "ray", "--with", "kueue", "--emulate", "runai").returncode == 0
    refused = labs.run("up", "--name", name, "--with", "ray")
    assert refused.returncode == 2
    assert f"is running with products = {products}, not ray" in refused.stderr
