"""The pods that matter on each node: those of the operands, and those that hold GPUs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.documents import is_leaving, is_true, own_labels, phase_of
from perflab.emulators.framework.resources import PODS
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.framework.units import parse_quantity
from perflab.emulators.operators.gpu_operator.operands import OPERANDS, PREFIX, Operand

_APPS = frozenset(operand.name for operand in OPERANDS)


class Pods:
    """An index by node of the cluster's pods."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the pods of all namespaces."""
        self._by_node: defaultdict[str, dict[Key, Document]] = defaultdict(dict)
        self._listeners: list[Callable[[str], None]] = []
        cluster.store(PODS).listen(self._changed)

    def listen(self, callback: Callable[[str], None]) -> None:
        """Call *callback* with the name of a node where one of the operands' pods changed."""
        self._listeners.append(callback)

    def ready(self, node: str, operand: Operand) -> Document | None:
        """The operand's pod on a node, when it is ready and there to stay."""
        found = (pod for pod in self._of(node) if _app(pod) == operand.name)
        return next((pod for pod in found if is_true(pod, "Ready") and not is_leaving(pod)), None)

    def holding(self, node: str) -> list[tuple[Document, int]]:
        """The running pods that hold GPUs, or shares of such, and how many; in the order in which they got them."""
        running = [pod for pod in self._of(node) if phase_of(pod) == "Running"]
        held = [(pod, gpus_of(pod)) for pod in running]
        return sorted((entry for entry in held if entry[1]), key=_since)

    def _of(self, node: str) -> list[Document]:
        return list(self._by_node.get(node, {}).values())

    def _changed(self, old: Document | None, new: Document | None) -> None:
        for document in (old, new):
            node = _node(document)
            if document is not None and node:
                self._by_node[node].pop(key_of(document), None)
        node = _node(new)
        if new is not None and node and (_app(new) in _APPS or gpus_of(new)):
            self._by_node[node][key_of(new)] = new
        self._notify(old, new)

    def _notify(self, old: Document | None, new: Document | None) -> None:
        of_operands = {_node(document) for document in (old, new) if document is not None and _app(document) in _APPS}
        for node in of_operands - {""}:
            for listener in self._listeners:
                listener(node)


def gpus_of(pod: Document) -> int:
    """How many GPUs, or shares of such, a pod asks for."""
    return sum(_limits(pod))


def _limits(pod: Document) -> Iterator[int]:
    for container in pod["spec"].get("containers") or ():
        limits = (container.get("resources") or {}).get("limits") or {}
        for name in (f"{PREFIX}gpu", f"{PREFIX}gpu.shared"):
            if name in limits:
                yield int(parse_quantity(limits[name]))


def _since(entry: tuple[Document, int]) -> tuple[str, str]:
    pod, _ = entry
    return (pod.get("status") or {}).get("startTime", ""), pod["metadata"]["name"]


def _node(pod: Document | None) -> str:
    return str(((pod or {}).get("spec") or {}).get("nodeName") or "")


def _app(pod: Document) -> str:
    return str(own_labels(pod).get("app") or "")
