"""The simulated GPU nodes: their contents, and changes of their number."""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from perflab.cluster import devices
from perflab.cluster.api import Api, Document, in_bulk
from perflab.cluster.topology import Level, domain_labels, parse_topology
from perflab.errors import UsageError
from perflab.files.bounded_yaml import load_yaml
from perflab.processes import state
from perflab.processes.launch import wait_until
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import Lab, Options
from perflab.profiles import OPENSHIFT

FAKE = {"kwok.x-k8s.io/node": "fake"}
# the hardware of a node without labels and capacity for it
GPUS = "lab.psap.perf/gpus"
GPU_PRODUCT = "lab.psap.perf/gpu-product"
# the label of all simulated nodes
SIMULATED = {"type": "kwok"}
_SELECTOR = "labelSelector=type%3Dkwok"
_HEALTHY = {
    "MemoryPressure": ("False", "KubeletHasSufficientMemory"),
    "DiskPressure": ("False", "KubeletHasNoDiskPressure"),
    "PIDPressure": ("False", "KubeletHasSufficientPID"),
    "Ready": ("True", "KubeletReady"),
}


def node_name(number: int) -> str:
    """Return `node-0007` for 7."""
    return f"node-{number:04d}"


def read_template(path: Path) -> Document:
    """Read a Node from a YAML file. Raises UsageError if it is invalid."""
    try:
        document = load_yaml(path.read_text())
    except (OSError, yaml.YAMLError) as error:
        raise UsageError(f"cannot read the node template {path}: {error}") from error
    if not isinstance(document, dict) or document.get("kind", "Node") != "Node":
        raise UsageError(f"the node template {path} must be one YAML document of kind Node.")
    return document


def merge(base: Any, changes: Any) -> Any:
    """Return `base` with `changes`: dictionaries are merged key by key, anything else is replaced."""
    if not isinstance(base, dict) or not isinstance(changes, dict):
        return copy.deepcopy(changes)
    merged = dict(base)
    for key, value in changes.items():
        merged[key] = merge(base[key], value) if key in base else copy.deepcopy(value)
    return merged


def shared_document(lab: Lab, template: Document) -> Document:
    """Return what all nodes of a lab have in common: Ready from the start, `template` merged over the defaults."""
    merged: Document = merge(_defaults(lab.options, lab), template)
    return merged


def numbered(document: Document, number: int, levels: Sequence[Level] = ()) -> Document:
    """Return the Node with this number: the shared document with the node's own values and its domains."""
    name = node_name(number)
    labels = {**document["metadata"]["labels"], "kubernetes.io/hostname": name, **domain_labels(levels, number)}
    status = {**document["status"]}
    status["addresses"] = [
        {"type": "InternalIP", "address": LOOPBACK},
        {"type": "Hostname", "address": name},
    ]
    return {**document, "metadata": {**document["metadata"], "name": name, "labels": labels}, "status": status}


def _defaults(options: Options, lab: Lab) -> Document:
    capacity = {
        "cpu": "128",
        "memory": "1Ti",
        "ephemeral-storage": "2Ti",
        "pods": "250",
        **({"nvidia.com/gpu": str(options.gpus_per_node)} if _shows_gpus(options) and not options.dra else {}),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"labels": _labels(options), "annotations": {**FAKE, **_hardware(options)}},
        "spec": {},
        "status": {
            "phase": "Running",
            "capacity": capacity,
            "allocatable": capacity,
            "conditions": _conditions(),
            "daemonEndpoints": {"kubeletEndpoint": {"Port": lab.ports["kubelet"]}},
            "nodeInfo": _node_info(lab),
        },
    }


def _is_bare(options: Options) -> bool:
    # node feature discovery and the GPU operator, which label hardware, are not installed yet
    return options.profile == OPENSHIFT


def _shows_gpus(options: Options) -> bool:
    return options.gpus_per_node > 0 and not _is_bare(options)


def _hardware(options: Options) -> dict[str, str]:
    if not _is_bare(options):
        return {}
    return {GPUS: str(options.gpus_per_node), GPU_PRODUCT: options.gpu_product}


def _labels(options: Options) -> dict[str, str]:
    labels = {
        **SIMULATED,
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/worker": "",
    }
    if not _is_bare(options):
        labels["feature.node.kubernetes.io/system-os_release.ID"] = "rhel"
    if _shows_gpus(options):
        labels |= {
            "nvidia.com/gpu.present": "true",
            "nvidia.com/gpu.product": options.gpu_product,
            "nvidia.com/gpu.count": str(options.gpus_per_node),
            "feature.node.kubernetes.io/pci-10de.present": "true",
        }
    return labels


def _conditions() -> list[dict[str, str]]:
    now = state.now()
    return [
        {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": "simulated",
            "lastHeartbeatTime": now,
            "lastTransitionTime": now,
        }
        for kind, (status, reason) in _HEALTHY.items()
    ]


def _node_info(lab: Lab) -> dict[str, str]:
    # the suffix makes `kubectl get nodes` show that there is no machine
    kubernetes = f"{lab.versions['kubernetes']}+simulated"
    return {
        "architecture": "amd64",
        "operatingSystem": "linux",
        "osImage": "simulated by perflab",
        "kernelVersion": "simulated",
        "containerRuntimeVersion": f"kwok://{lab.versions['kwok']}",
        "kubeletVersion": kubernetes,
        "kubeProxyVersion": kubernetes,
        "machineID": "",
        "systemUUID": "",
        "bootID": "",
    }


async def set_number(api: Api, lab: Lab, number: int) -> None:
    """Create or delete simulated nodes until there are `number`; pods of deleted nodes are deleted with them."""
    listed = await api.list(f"/api/v1/nodes?{_SELECTOR}")
    present = {node["metadata"]["name"] for node in listed if _is_numbered(node)}
    wanted = {node_name(index): index for index in range(number)}
    levels = parse_topology(lab.options.topology)
    template = read_template(lab.node_template) if lab.node_template.exists() else {}
    shared = shared_document(lab, template)

    async def create(name: str) -> None:
        await api.create("/api/v1/nodes", numbered(shared, wanted[name], levels))

    async def delete(name: str) -> None:
        await api.delete(f"/api/v1/nodes/{name}")

    surplus = present - wanted.keys()
    await in_bulk(sorted(wanted.keys() - present), create)
    # the node first, so that no new pod is bound to it
    await in_bulk(sorted(surplus), delete)
    if surplus:
        await _delete_pods(api, surplus)
    if lab.options.dra:
        listed = await api.list(f"/api/v1/nodes?{_SELECTOR}")
        await devices.publish(api, [node for node in listed if node["metadata"]["name"] in wanted], lab.options)


async def _delete_pods(api: Api, nodes: set[str]) -> None:
    pods = await api.list("/api/v1/pods")
    orphans = [
        f"/api/v1/namespaces/{pod['metadata']['namespace']}/pods/{pod['metadata']['name']}"
        for pod in pods
        if pod["spec"].get("nodeName") in nodes
    ]
    await in_bulk(orphans, api.delete)


async def wait_ready(api: Api, lab: Lab, number: int) -> None:
    """Wait until the lab has `number` simulated nodes that are Ready."""

    async def all_ready() -> bool:
        return await count_ready(api) == number

    await wait_until(lab, f"{number} nodes are Ready", all_ready)


async def count_ready(api: Api) -> int:
    """Return the number of the lab's numbered nodes whose Ready condition is true."""
    listed = await api.list(f"/api/v1/nodes?{_SELECTOR}&resourceVersion=0")
    return sum(_is_ready(node) for node in listed if _is_numbered(node))


def _is_numbered(node: Document) -> bool:
    # others, such as those of Machines, are not counted
    return re.fullmatch(r"node-\d{4,}", node["metadata"]["name"]) is not None


def _is_ready(node: Document) -> bool:
    conditions = node.get("status", {}).get("conditions", [])
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
