"""How busy each GPU of a node is, from the pods that hold it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import own_annotations, phase_of
from perflab.emulators.framework.units import parse_quantity
from perflab.kubelet.training import ANNOTATION

_MIB = 1 << 20
_RESOURCES = ("nvidia.com/gpu", "nvidia.com/gpu.shared")


@dataclass(frozen=True, slots=True)
class Usage:
    """One GPU.

    :param utilization: 0 to 1.
    :param memory_mib: how much of its memory is taken.
    :param pod: the first pod that holds it, None when nobody does.
    """

    utilization: float = 0.0
    memory_mib: int = 0
    pod: Document | None = None


def of_gpus(number: int, memory_mib: int, pods: Iterable[Document]) -> list[Usage]:
    """The GPUs of a node of *number* with *memory_mib* each.

    :param pods: those of the node; who runs holds its GPUs, or shares of such, in the order in which pods started.
        Shares are assigned to one GPU after the other, and what does not fit shares again.
    """
    found = [Usage() for _ in range(number)]
    slot = 0
    for pod, asked in _holding(pods):
        utilization, taken_mib = _declared_use(pod, memory_mib)
        for _ in range(asked if number else 0):
            index = slot % number
            found[index] = _with(found[index], pod, utilization, taken_mib, memory_mib)
            slot += 1
    return found


def _holding(pods: Iterable[Document]) -> list[tuple[Document, int]]:
    held = [(pod, gpus_of(pod)) for pod in pods if phase_of(pod) == "Running"]
    return sorted((entry for entry in held if entry[1]), key=_since)


def _since(entry: tuple[Document, int]) -> tuple[str, str]:
    pod, _ = entry
    return (pod.get("status") or {}).get("startTime", ""), pod["metadata"]["name"]


def gpus_of(pod: Document) -> int:
    """How many GPUs, or shares of such, a pod asks for."""
    limits = [(each.get("resources") or {}).get("limits") or {} for each in pod["spec"].get("containers") or ()]
    return sum(int(parse_quantity(each[name])) for each in limits for name in _RESOURCES if name in each)


def _with(usage: Usage, pod: Document, utilization: float, taken_mib: int, memory_mib: int) -> Usage:
    return Usage(
        min(1.0, usage.utilization + utilization), min(memory_mib, usage.memory_mib + taken_mib), usage.pod or pod
    )


def _declared_use(pod: Document, memory_mib: int) -> tuple[float, int]:
    """The utilization and the memory of each GPU, as the pod's annotation has them: else all, and half."""
    half = memory_mib * _MIB // 2
    try:
        declared = json.loads(own_annotations(pod).get(ANNOTATION) or "{}")
        return float(declared.get("gpu_utilization", 1.0)), int(declared.get("gpu_memory_bytes", half)) // _MIB
    except (ValueError, TypeError, AttributeError):
        return 1.0, half // _MIB
