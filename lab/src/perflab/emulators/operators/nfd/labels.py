"""What a worker of NFD finds out about its node: the labels it gets."""

from __future__ import annotations

from collections.abc import Mapping

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, is_true, own_annotations, own_labels
from perflab.emulators.framework.resources import NODES, PODS
from perflab.emulators.framework.store import Key, key_of

WORKER, MASTER, COLLECTOR = "nfd-worker", "nfd-master", "nfd-gc"
# the label `app` of what the operator makes
APP = "app"

_PREFIX = "feature.node.kubernetes.io"
# NFD's own note of the labels that it set
_NOTE = "nfd.node.kubernetes.io/feature-labels"
# what the lab says is in the machine
_GPUS = "lab.psap.perf/gpus"
_MACHINE = {
    "cpu-cpuid.AVX512F": "true",
    "cpu-hardware_multithreading": "true",
    "cpu-model.vendor_id": "Intel",
    "kernel-version.full": "5.14.0-427.50.1.el9_4.x86_64",
    "kernel-version.major": "5",
    "kernel-version.minor": "14",
    "memory-numa": "true",
    "storage-nonrotationaldisk": "true",
    "system-os_release.ID": "rhcos",
    "system-os_release.VERSION_ID": "4.18",
    "system-os_release.VERSION_ID.major": "4",
    "system-os_release.VERSION_ID.minor": "18",
}


def features(node: Document) -> dict[str, str]:
    """The labels of a node's features."""
    gpus = own_annotations(node).get(_GPUS, "0")
    found = {**_MACHINE, **({"pci-10de.present": "true"} if gpus not in ("", "0") else {})}
    return {f"{_PREFIX}/{name}": value for name, value in found.items()}


def _noted(labels: Mapping[str, str]) -> str:
    return ",".join(sorted(name.removeprefix(f"{_PREFIX}/") for name in labels))


def _works(worker: Document) -> bool:
    return is_true(worker, "Ready") and not is_leaving(worker)


class Labels:
    """Labels the nodes that have a worker."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's nodes and NFD's pods."""
        self._cluster = cluster
        self._nodes = cluster.store(NODES)
        self.workers = cluster.store(PODS, f"{APP}={WORKER}")
        self.controller = Controller("features of a node", self._label)
        # a node changes with each heartbeat, which changes nothing about its features
        self.controller.follow(self._nodes, changes=False)
        self.workers.listen(self._worker_changed)
        cluster.steps.listen(self.controller.enqueue_all)

    def _worker_changed(self, _old: Document | None, new: Document | None) -> None:
        name = new["spec"].get("nodeName") if new else None
        if name:
            self.controller.enqueue(("", name))

    async def _label(self, key: Key) -> float | None:
        node = self._nodes.get(key)
        if node is None or not self._has_worker(key[1]):
            return None
        if self._cluster.steps.failure("labels", node):
            return None
        wait_s = self._cluster.steps.wait_s("labels", node)
        if wait_s > 0:
            return wait_s
        labels = features(node)
        if labels.items() - own_labels(node).items():
            await self._nodes.patch(key, {"metadata": {"labels": labels, "annotations": {_NOTE: _noted(labels)}}})
        return None

    def _has_worker(self, node: str) -> bool:
        return any(pod["spec"].get("nodeName") == node and _works(pod) for pod in self.workers.values())

    def are_set_from(self, namespace: str) -> bool:
        """Whether a worker in a namespace still labels its node."""
        return any(pod["metadata"]["namespace"] == namespace and _works(pod) for pod in self.workers.values())

    async def prune(self) -> bool:
        """Take all labels of features from all nodes; whether there were any."""
        found = False
        for node in self._nodes.values():
            labels = own_labels(node)
            gone = {name: None for name in labels if name.startswith(f"{_PREFIX}/")}
            if gone:
                found = True
                change = {"metadata": {"labels": gone, "annotations": {_NOTE: None}}}
                await self._nodes.patch(key_of(node), change)
        return found
