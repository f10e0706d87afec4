"""The utilization of each GPU of a node, from its pods."""

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

    Attributes:
        utilization: 0 to 1.
        memory_mib: How much of its memory is in use.
        pod: The first pod that uses it, or None.
    """

    utilization: float = 0.0
    memory_mib: int = 0
    pod: Document | None = None


def of_gpus(number: int, memory_mib: int, pods: Iterable[Document]) -> list[Usage]:
    """Return the GPUs of a node with *number* GPUs of *memory_mib* each.

    Args:
        pods: Those of the node; running pods use its GPUs, or shares of them, in the order of their starts. Shares are
            assigned to one GPU after the other, and surplus shares start again with the first.
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
    """Return how many GPUs, or shares of them, a pod requests."""
    limits = [(each.get("resources") or {}).get("limits") or {} for each in pod["spec"].get("containers") or ()]
    return sum(int(parse_quantity(each[name])) for each in limits for name in _RESOURCES if name in each)


def _with(usage: Usage, pod: Document, utilization: float, taken_mib: int, memory_mib: int) -> Usage:
    return Usage(
        min(1.0, usage.utilization + utilization), min(memory_mib, usage.memory_mib + taken_mib), usage.pod or pod
    )


def _declared_use(pod: Document, memory_mib: int) -> tuple[float, int]:
    """Return the utilization and the memory of each GPU, as the pod's annotation states: else all, and half."""
    half = memory_mib * _MIB // 2
    try:
        declared = json.loads(own_annotations(pod).get(ANNOTATION) or "{}")
        return float(declared.get("gpu_utilization", 1.0)), int(declared.get("gpu_memory_bytes", half)) // _MIB
    except (ValueError, TypeError, AttributeError):
        return 1.0, half // _MIB
