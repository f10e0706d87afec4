"""MachineSets and Machines in the format of a cluster."""

from __future__ import annotations

from typing import Any

SET_LABEL = "machine.openshift.io/cluster-api-machineset"
_CLUSTER = {"machine.openshift.io/cluster-api-cluster": "lab"}


def aws(
    name: str,
    kind: str = "m6i.2xlarge",
    replicas: int = 0,
    role: str = "worker",
    labels: dict[str, str] | None = None,
) -> dict[str, Any]:
    value = {
        "instanceType": kind,
        "blockDevices": [{"ebs": {"volumeSize": 120, "volumeType": "gp3"}}],
        "subnet": {"id": "subnet-1"},
    }
    return _set(name, value, replicas, role, labels or {})


def ibm(name: str, profile: str = "bx2-4x16", replicas: int = 0) -> dict[str, Any]:
    return _set(name, {"profile": profile, "zone": "us-south-1"}, replicas, "worker", {})


def value(machine_set: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = machine_set["spec"]["template"]["spec"]["providerSpec"]["value"]
    return found


def _set(name: str, wanted: dict[str, Any], replicas: int, role: str, labels: dict[str, str]) -> dict[str, Any]:
    chosen = {**_CLUSTER, SET_LABEL: name}
    return {
        "apiVersion": "machine.openshift.io/v1beta1",
        "kind": "MachineSet",
        "metadata": {
            "name": name,
            "namespace": "openshift-machine-api",
            "uid": f"uid-of-{name}",
            "labels": {**_CLUSTER, **labels},
            "annotations": {"machine.openshift.io/vCPU": "8"},
        },
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": chosen},
            "template": {
                "metadata": {"labels": {**chosen, "machine.openshift.io/cluster-api-machine-role": role}},
                "spec": {"providerSpec": {"value": wanted}},
            },
        },
        "status": {"replicas": replicas},
    }


def machine(name: str, of: str, phase: str = "Running", node: str | None = None) -> dict[str, Any]:
    status: dict[str, Any] = {"phase": phase}
    if phase == "Running":
        status["nodeRef"] = {"name": node or name}
    if phase == "Failed":
        status |= {"errorReason": "InsufficientResources", "errorMessage": "no capacity"}
    owner = {"kind": "MachineSet", "name": of, "uid": f"uid-of-{of}", "controller": True}
    return {"metadata": {"name": name, "ownerReferences": [owner]}, "status": status}
