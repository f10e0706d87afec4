"""MachineSets create Machines, which become nodes or fail as configured; monitoring follows its configuration."""

from __future__ import annotations

from typing import Any

import pytest
from kubernetes.client import ApiException

from .labs import Cluster, wait_for

NAMESPACE, GROUP, VERSION = "openshift-machine-api", "machine.openshift.io", "v1beta1"
SET_LABEL = f"{GROUP}/cluster-api-machineset"
USER_WORKLOAD = "openshift-user-workload-monitoring"


def machines(cluster: Cluster, of: str) -> list[dict[str, Any]]:
    found = cluster.custom.list_namespaced_custom_object(
        GROUP, VERSION, NAMESPACE, "machines", label_selector=f"{SET_LABEL}={of}"
    )
    items: list[dict[str, Any]] = found["items"]
    return items


def machine_set(cluster: Cluster, name: str) -> dict[str, Any]:
    found: dict[str, Any] = cluster.custom.get_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "machinesets", name)
    return found


def scale(cluster: Cluster, name: str, replicas: int) -> None:
    """Set the number of replicas as `oc scale` does."""
    body = {"spec": {"replicas": replicas}}
    cluster.custom.patch_namespaced_custom_object_scale(GROUP, VERSION, NAMESPACE, "machinesets", name, body)


def make_set(cluster: Cluster, name: str, kind: str, **template: Any) -> None:
    base = machine_set(cluster, "lab-worker")
    labels = {SET_LABEL: name}
    value = {**base["spec"]["template"]["spec"]["providerSpec"]["value"], "instanceType": kind}
    body = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "MachineSet",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"providerSpec": {"value": value}, **template}},
        },
    }
    cluster.custom.create_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "machinesets", body)


def remove_set(cluster: Cluster, name: str) -> None:
    cluster.custom.delete_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "machinesets", name)
    wait_for(f"{name} has no machines", lambda: not machines(cluster, name))


def all_are(cluster: Cluster, of: str, phase: str, number: int) -> bool:
    phases = [item.get("status", {}).get("phase") for item in machines(cluster, of)]
    return phases == [phase] * number


def test_machine_becomes_a_node_that_is_removed_with_it(openshift: Cluster) -> None:
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    make_set(openshift, "gpus", "g4dn.12xlarge", taints=[taint], metadata={"labels": {"gpu": "yes"}})
    wait_for("available", lambda: machine_set(openshift, "gpus").get("status", {}).get("availableReplicas") == 1)
    (machine,) = machines(openshift, "gpus")
    assert machine["status"]["phase"] == "Running"
    node = openshift.core.read_node(machine["status"]["nodeRef"]["name"])
    assert node.metadata.annotations["lab.psap.perf/gpus"] == "4"
    assert node.metadata.annotations["lab.psap.perf/gpu-product"] == "Tesla-T4"
    assert node.metadata.labels["gpu"] == "yes"
    assert node.status.capacity["cpu"] == "48"
    assert node.spec.taints[0].key == "gpu"
    assert node.spec.provider_id == machine["spec"]["providerID"]
    remove_set(openshift, "gpus")
    with pytest.raises(ApiException, match="404"):
        openshift.core.read_node(node.metadata.name)


@pytest.mark.deep
def test_smaller_set_deletes_the_chosen_machine_with_its_pods(openshift: Cluster) -> None:
    scale(openshift, "lab-worker", 2)
    wait_for("two nodes", lambda: machine_set(openshift, "lab-worker")["status"].get("availableReplicas") == 2)
    chosen, other = sorted(item["metadata"]["name"] for item in machines(openshift, "lab-worker"))
    mark = {"metadata": {"annotations": {"machine.openshift.io/delete-machine": "true"}}}
    openshift.custom.patch_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "machines", chosen, mark)
    container = {"name": "main", "image": "none"}
    pod = {"metadata": {"name": "there"}, "spec": {"nodeName": chosen, "containers": [container]}}
    openshift.core.create_namespaced_pod("default", pod)
    scale(openshift, "lab-worker", 1)
    wait_for("one is gone", lambda: len(machines(openshift, "lab-worker")) == 1)
    assert machines(openshift, "lab-worker")[0]["metadata"]["name"] == other
    assert not openshift.core.list_namespaced_pod("default", field_selector=f"spec.nodeName={chosen}").items
    scale(openshift, "lab-worker", 0)
    wait_for("none is left", lambda: not machines(openshift, "lab-worker"))
    wait_for("it counts none", lambda: "availableReplicas" not in machine_set(openshift, "lab-worker")["status"])


@pytest.mark.parametrize(
    ("step", "reason"),
    [("provision", "InsufficientResources"), ("join", "JoinClusterTimeoutError")],
)
def test_machine_fails_in_the_configured_step(openshift: Cluster, lab_steps: Any, step: str, reason: str) -> None:
    lab_steps(f"machines.{step}=fail: nothing left")
    make_set(openshift, "failing", "m6i.large")
    wait_for("it failed", lambda: all_are(openshift, "failing", "Failed", 1))
    status = machines(openshift, "failing")[0]["status"]
    assert (status["errorReason"], status["errorMessage"]) == (reason, "nothing left")
    assert "availableReplicas" not in machine_set(openshift, "failing")["status"]
    remove_set(openshift, "failing")


@pytest.mark.deep
def test_waiting_machine_continues_when_the_step_is_reset(openshift: Cluster, lab_steps: Any) -> None:
    lab_steps("machines.join=never")
    make_set(openshift, "waiting", "m6i.large")
    wait_for("it has an instance", lambda: all_are(openshift, "waiting", "Provisioned", 1))
    lab_steps("machines.join=")
    wait_for("it has joined", lambda: all_are(openshift, "waiting", "Running", 1))
    remove_set(openshift, "waiting")


def test_unknown_machine_type_fails(openshift: Cluster) -> None:
    make_set(openshift, "strange", "g5.tiny")
    wait_for("it failed", lambda: all_are(openshift, "strange", "Failed", 1))
    assert machines(openshift, "strange")[0]["status"]["errorReason"] == "InvalidConfiguration"
    remove_set(openshift, "strange")


def test_user_workloads_are_monitored_while_configured(openshift: Cluster) -> None:
    def names() -> set[str]:
        pods = openshift.core.list_namespaced_pod(USER_WORKLOAD).items
        return {item.metadata.name for item in pods if item.status.phase == "Running"}

    config = {"metadata": {"name": "cluster-monitoring-config"}, "data": {"config.yaml": "enableUserWorkload: true"}}
    openshift.core.create_namespaced_config_map("openshift-monitoring", config)
    wait_for("Prometheus runs", lambda: {f"prometheus-user-workload-{index}" for index in (0, 1)} <= names())
    openshift.core.delete_namespaced_config_map("cluster-monitoring-config", "openshift-monitoring")
    wait_for("it is gone", lambda: not names())


def test_cluster_prometheus_exists_from_the_start(openshift: Cluster) -> None:
    def ready() -> bool:
        found = openshift.apps.read_namespaced_stateful_set("prometheus-k8s", "openshift-monitoring")
        return bool(found.status.ready_replicas == 2)

    wait_for("prometheus-k8s is ready", ready)
    label = "app.kubernetes.io/component=prometheus"
    pods = openshift.core.list_namespaced_pod("openshift-monitoring", label_selector=label).items
    assert {pod.metadata.name for pod in pods} == {"prometheus-k8s-0", "prometheus-k8s-1"}
    route = openshift.custom.get_namespaced_custom_object(
        "route.openshift.io", "v1", "openshift-monitoring", "routes", "prometheus-k8s"
    )
    assert route["spec"]["to"]["name"] == "prometheus-k8s"
