"""The scheduler starts the pods of a PodGroup together or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.processes.state import Lab

from .labs import Cluster, wait_for
from .workloads import job, pytorch_job

NAMESPACE = "default"
GROUPS = ("scheduling.k8s.io", "v1alpha2", NAMESPACE, "podgroups")
POD_GROUP_LABEL = "lab.psap.perf/pod-group"
GPUS = 8


@pytest.fixture(scope="module")
def gangs(queues_lab: Lab) -> Cluster:
    return Cluster.of(queues_lab)


def create_group(cluster: Cluster, name: str, members: int, **spec: Any) -> None:
    body = {
        "apiVersion": "scheduling.k8s.io/v1alpha2",
        "kind": "PodGroup",
        "metadata": {"name": name},
        "spec": {"schedulingPolicy": {"gang": {"minCount": members}}, **spec},
    }
    cluster.custom.create_namespaced_custom_object(*GROUPS, body)


def create_gang(cluster: Cluster, name: str, pods: int, **spec: Any) -> None:
    """Create a Job of *pods* pods, each with all GPUs of a node, that refer to the PodGroup of its name."""
    manifest = job(name, {"duration": "5m"}, gpus=GPUS)
    manifest["spec"] |= {"parallelism": pods, "completions": pods}
    manifest["spec"]["template"]["spec"] |= {"schedulingGroup": {"podGroupName": name}, **spec}
    body = {"apiVersion": "batch/v1", "kind": "Job", **manifest}
    # the typed client has no such field
    cluster.custom.create_namespaced_custom_object("batch", "v1", NAMESPACE, "jobs", body)


def pods_of(cluster: Cluster, name: str) -> list[Any]:
    items: list[Any] = cluster.core.list_namespaced_pod(NAMESPACE, label_selector=f"job-name={name}").items
    return items


def nodes_of(cluster: Cluster, name: str) -> list[str | None]:
    return [item.spec.node_name for item in pods_of(cluster, name)]


def group_condition(cluster: Cluster, name: str) -> dict[str, Any]:
    status = cluster.custom.get_namespaced_custom_object(*GROUPS, name).get("status", {})
    conditions: dict[str, Any] = {item["type"]: item for item in status.get("conditions", [])}
    found: dict[str, Any] = conditions.get("PodGroupScheduled", {})
    return found


def delete(cluster: Cluster, name: str) -> None:
    cluster.batch.delete_namespaced_job(name, NAMESPACE, propagation_policy="Background")
    cluster.custom.delete_namespaced_custom_object(*GROUPS, name)
    wait_for(f"no pod of {name}", lambda: not pods_of(cluster, name))


def test_gang_that_does_not_fit_starts_no_pod(gangs: Cluster) -> None:
    create_group(gangs, "too-large", 3)
    create_gang(gangs, "too-large", 3)
    refused = wait_for("the group has its condition", lambda: group_condition(gangs, "too-large"))
    assert (refused["status"], refused["reason"]) == ("False", "Unschedulable")
    # two of its three pods would fit; a gang that fits gets the room
    assert nodes_of(gangs, "too-large") == [None, None, None]
    create_group(gangs, "fits", 2)
    create_gang(gangs, "fits", 2)
    wait_for("the gang runs", lambda: sorted(filter(None, nodes_of(gangs, "fits"))) == ["node-0000", "node-0001"])
    wait_for("the group scheduled", lambda: group_condition(gangs, "fits").get("status") == "True")
    assert nodes_of(gangs, "too-large") == [None, None, None]
    delete(gangs, "fits")
    delete(gangs, "too-large")


def test_gang_waits_for_its_last_pod(gangs: Cluster) -> None:
    create_group(gangs, "late", 2)
    create_gang(gangs, "late", 1)
    pod = wait_for("its first pod", lambda: pods_of(gangs, "late"))[0]
    assert not pod.spec.node_name
    template = gangs.custom.get_namespaced_custom_object("batch", "v1", NAMESPACE, "jobs", "late")["spec"]["template"]
    second = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "late-second", "labels": {"job-name": "late", POD_GROUP_LABEL: "late"}},
        "spec": {key: value for key, value in template["spec"].items() if key != "schedulingGroup"},
    }
    gangs.core.create_namespaced_pod(NAMESPACE, second)
    wait_for("both run", lambda: sorted(filter(None, nodes_of(gangs, "late"))) == ["node-0000", "node-0001"])
    gangs.core.delete_namespaced_pod("late-second", NAMESPACE)
    delete(gangs, "late")


def test_gang_of_higher_priority_preempts_for_all_its_pods(gangs: Cluster) -> None:
    for name, value in (("low", 10), ("high", 1000)):
        gangs.custom.create_cluster_custom_object(
            "scheduling.k8s.io", "v1", "priorityclasses", {"metadata": {"name": name}, "value": value}
        )
    create_group(gangs, "victim", 2, priorityClassName="low")
    create_gang(gangs, "victim", 2, priorityClassName="low")
    wait_for("the victim runs", lambda: all(nodes_of(gangs, "victim")) and len(nodes_of(gangs, "victim")) == 2)
    create_group(gangs, "preemptor", 2, priorityClassName="high")
    create_gang(gangs, "preemptor", 2, priorityClassName="high")
    wait_for(
        "the preemptor runs",
        lambda: sorted(filter(None, nodes_of(gangs, "preemptor"))) == ["node-0000", "node-0001"],
    )
    delete(gangs, "preemptor")
    delete(gangs, "victim")


def test_pods_of_a_pytorch_job_join_a_group_by_label(gangs: Cluster) -> None:
    create_group(gangs, "trains-whole", 3)
    manifest = pytorch_job("trains-whole", {"duration": "5m"}, workers=2)
    for replica in manifest["spec"]["pytorchReplicaSpecs"].values():
        replica["template"]["metadata"]["labels"] = {POD_GROUP_LABEL: "trains-whole"}
        replica["template"]["spec"]["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] = str(GPUS)
    gangs.custom.create_namespaced_custom_object("kubeflow.org", "v1", NAMESPACE, "pytorchjobs", manifest)
    refused = wait_for("the group has its condition", lambda: group_condition(gangs, "trains-whole"))
    assert (refused["status"], refused["reason"]) == ("False", "Unschedulable")
    selector = f"{POD_GROUP_LABEL}=trains-whole"
    pods = gangs.core.list_namespaced_pod(NAMESPACE, label_selector=selector).items
    assert [item.spec.node_name for item in pods] == [None, None, None]
    gangs.custom.delete_namespaced_custom_object("kubeflow.org", "v1", NAMESPACE, "pytorchjobs", "trains-whole")
    gangs.custom.delete_namespaced_custom_object(*GROUPS, "trains-whole")
    wait_for("no pod of it", lambda: not gangs.core.list_namespaced_pod(NAMESPACE, label_selector=selector).items)
