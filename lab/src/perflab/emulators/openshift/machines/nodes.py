"""The Node of a Machine that joined: simulated, without software, like the lab's others."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.cluster.nodes import FAKE, GPU_PRODUCT, GPUS
from perflab.emulators.openshift.machines import providers
from perflab.emulators.openshift.machines.instance_types import InstanceType

# annotation of a Node: its Machine, as namespace/name
MACHINE_OF_NODE = "machine.openshift.io/machine"


def node_of(machine: Document, hardware: InstanceType, kubernetes: str, mark: dict[str, str]) -> Document:
    """Return the Node, named as its Machine; KWOK makes it Ready. *kubernetes* is the kubelet's version."""
    metadata, spec = machine["metadata"], machine["spec"]
    wanted = providers.read(machine)
    capacity = {
        "cpu": str(hardware.cpus),
        "memory": f"{hardware.memory_gib}Gi",
        "ephemeral-storage": f"{wanted.disk_gib}Gi",
        "pods": "250",
    }
    annotations = {**FAKE, **mark, MACHINE_OF_NODE: f"{metadata['namespace']}/{metadata['name']}"}
    if hardware.gpus:
        annotations |= {GPUS: str(hardware.gpus), GPU_PRODUCT: hardware.gpu_product}
    labels = {**_labels(metadata["name"], wanted), **((spec.get("metadata") or {}).get("labels") or {})}
    return {
        "metadata": {"name": metadata["name"], "labels": labels, "annotations": annotations},
        "spec": {"providerID": providers.provider_id(machine), "taints": spec.get("taints") or []},
        "status": {"capacity": capacity, "allocatable": capacity, "nodeInfo": _node_info(kubernetes)},
    }


def _labels(name: str, wanted: providers.Wanted) -> dict[str, str]:
    labels = {
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "kubernetes.io/hostname": name,
        "node.kubernetes.io/instance-type": wanted.type,
        "node.openshift.io/os_id": "rhel",
        "node-role.kubernetes.io/worker": "",
        "topology.kubernetes.io/region": wanted.region,
        "topology.kubernetes.io/zone": wanted.zone,
    }
    return labels | ({"machine.openshift.io/interruptible-instance": ""} if wanted.spot else {})


def _node_info(kubernetes: str) -> dict[str, str]:
    # the suffix makes `kubectl get nodes` show that there is no machine
    version = f"{kubernetes}+simulated"
    return {
        "architecture": "amd64",
        "operatingSystem": "linux",
        "osImage": "simulated by perflab",
        "kernelVersion": "simulated",
        "containerRuntimeVersion": "simulated",
        "kubeletVersion": version,
        "kubeProxyVersion": version,
        "machineID": "",
        "systemUUID": "",
        "bootID": "",
    }
