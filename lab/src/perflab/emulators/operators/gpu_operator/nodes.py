"""Nodes: the labels that the stack gives them, and their GPUs."""

from __future__ import annotations

import math

from perflab.cluster.api import Document
from perflab.cluster.nodes import GPUS
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, own_annotations, own_labels
from perflab.emulators.framework.operator_deployments import Operator
from perflab.emulators.framework.resources import CLUSTER_POLICIES, NODES
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.operators.gpu_operator.configuration import Configuration
from perflab.emulators.operators.gpu_operator.hardware import hardware_of, is_gpu_node, number_of_gpus
from perflab.emulators.operators.gpu_operator.operands import (
    DEVICE_PLUGIN,
    FEATURE_DISCOVERY,
    MIG_MANAGER_LABEL,
    OPERANDS,
    PREFIX,
)
from perflab.emulators.operators.gpu_operator.pods import Pods
from perflab.emulators.operators.gpu_operator.sharing import UNSHARED, Sharing

# the step whose delay and failure can be set
STEP_LABELS = "labels"
_PRESENT = "nvidia.com/gpu.present"
# what users set themselves, to choose for a node
_KEPT = frozenset(
    ("nvidia.com/device-plugin.config", "nvidia.com/gpu.workload.config", "nvidia.com/gpu.deploy.operands",
     "nvidia.com/mig.config")
)  # fmt: skip


class Nodes:
    """Labels and capacity of the nodes whose machines have GPUs."""

    def __init__(self, cluster: Cluster, operator: Operator, pods: Pods, configuration: Configuration) -> None:
        """Over the cluster's nodes, operands' pods and ClusterPolicy."""
        self._cluster = cluster
        self._operator = operator
        self._pods = pods
        self._configuration = configuration
        self._nodes = cluster.store(NODES)
        self._policies = cluster.store(CLUSTER_POLICIES)
        # by node: the pods whose labels and GPUs it has got
        self._told: dict[str, str] = {}
        self.controller = Controller("node", self._reconcile)
        self.controller.follow(self._nodes)
        self._policies.listen(self._policy_changed)
        pods.listen(lambda name: self.controller.enqueue(("", name)))
        operator.listen(self.controller.enqueue_all)
        cluster.steps.listen(self.controller.enqueue_all)

    def _policy_changed(self, old: Document | None, new: Document | None) -> None:
        if old is None or new is None or is_leaving(new):
            self.controller.enqueue_all()

    async def _reconcile(self, key: Key) -> float | None:
        node = self._nodes.get(key)
        if node is None or GPUS not in own_annotations(node):
            return None
        wanted = any(not is_leaving(policy) for policy in self._policies.values())
        if not wanted or not is_gpu_node(node):
            await self._bring(node, {}, {})
            return None
        if not self._operator.running:
            return None
        return await self._provide(node)

    async def _provide(self, node: Document) -> float | None:
        name = node["metadata"]["name"]
        discovers, plugs = self._pods.ready(name, FEATURE_DISCOVERY), self._pods.ready(name, DEVICE_PLUGIN)
        wait_s = self._wait_s(name, discovers, plugs)
        shared = self._configuration.sharing(node)
        labels, capacity = deploy_labels(), {}
        if discovers is not None and not wait_s:
            labels |= feature_labels(node, shared or UNSHARED)
        if shared is not None and not wait_s:
            capacity = {shared.resource: str(number_of_gpus(node) * shared.replicas)}
        await self._bring(node, labels, capacity)
        return None if math.isinf(wait_s) or not wait_s else wait_s

    def _wait_s(self, name: str, *pods: Document | None) -> float:
        """Seconds until these pods have had time enough to tell of the node; it is not asked again once they have."""
        uid = "/".join(pod["metadata"]["uid"] for pod in pods if pod is not None)
        if not uid or self._told.get(name) == uid:
            return 0.0
        wait_s = self._cluster.steps.wait_s(STEP_LABELS, {"metadata": {"name": name, "uid": uid}})
        if not wait_s:
            self._told[name] = uid
        return wait_s

    async def _bring(self, node: Document, labels: dict[str, str], capacity: dict[str, str]) -> None:
        change = changed_labels(own_labels(node), labels)
        if change:
            await self._nodes.patch(key_of(node), {"metadata": {"labels": change}})
        status = node.get("status") or {}
        fields = ("capacity", "allocatable")
        await self._nodes.patch_status(
            key_of(node), {field: with_gpus(status.get(field) or {}, capacity) for field in fields}
        )


def deploy_labels() -> dict[str, str]:
    """What the operator itself says of a node with GPUs: which operands it shall run."""
    return {_PRESENT: "true"} | {each.label: "true" for each in OPERANDS if each.label != MIG_MANAGER_LABEL}


def feature_labels(node: Document, shared: Sharing) -> dict[str, str]:
    """What GPU feature discovery says of a node."""
    hardware = hardware_of(node)
    suffix = "-SHARED" if shared.replicas > 1 and not shared.renamed else ""
    labels = {
        "nvidia.com/cuda.driver-version.full": "570.148.08",
        "nvidia.com/cuda.runtime-version.full": "12.8",
        "nvidia.com/gpu.compute.major": hardware.compute_major,
        "nvidia.com/gpu.compute.minor": hardware.compute_minor,
        "nvidia.com/gpu.count": str(number_of_gpus(node)),
        "nvidia.com/gpu.family": hardware.family,
        "nvidia.com/gpu.machine": "simulated",
        "nvidia.com/gpu.memory": str(hardware.memory_mib),
        "nvidia.com/gpu.product": f"{hardware.product}{suffix}",
        "nvidia.com/gpu.replicas": str(shared.replicas),
        "nvidia.com/gpu.sharing-strategy": shared.strategy,
        "nvidia.com/mig.capable": str(hardware.mig_capable).lower(),
        "nvidia.com/mig.strategy": "single",
    }
    return labels | ({MIG_MANAGER_LABEL: "true"} if hardware.mig_capable else {})


def changed_labels(present: dict[str, str], wanted: dict[str, str]) -> dict[str, str | None]:
    """What to merge into *present*, so that of the stack's labels it has the wanted ones only."""
    gone = {name for name in present if name.startswith(PREFIX)} - wanted.keys() - _KEPT
    return dict.fromkeys(sorted(gone)) | {name: value for name, value in wanted.items() if present.get(name) != value}


def with_gpus(present: dict[str, str], wanted: dict[str, str]) -> dict[str, str | None]:
    """A node's resources to merge into *present*, so that of the GPUs it has the wanted ones only."""
    gone: dict[str, str | None] = {name: None for name in present if name.startswith(PREFIX) and name not in wanted}
    return {**present, **wanted, **gone}
