"""The GPUs that nodes offer: as an extended resource, or as devices of ResourceSlices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

GPU = "nvidia.com/gpu"
GPU_DRIVER = "gpu.nvidia.com"
"""NVIDIA's driver; its class of whole GPUs has the same name."""
# devices of classes whose names begin with it count as GPUs
_GPU_CLASS = "gpu."
_TYPE = "type"
_WHOLE = "gpu"


def is_gpu_class(device_class: str) -> bool:
    """Return whether devices of this class count as GPUs."""
    return device_class.startswith(_GPU_CLASS)


def allocatable_gpus(node: Mapping[str, Any]) -> int:
    """Return the GPUs that *node* offers as an extended resource."""
    return int(((node.get("status") or {}).get("allocatable") or {}).get(GPU, 0))


def gpus_of_nodes(nodes: Iterable[Mapping[str, Any]], devices: Mapping[str, int]) -> dict[str, int]:
    """Return the GPUs of each node: its allocatable ones, or its devices if it has none.

    Args:
        devices: The result of :func:`count_gpus`.
    """
    names = ((node["metadata"]["name"], node) for node in nodes)
    return {name: allocatable_gpus(node) or devices.get(name, 0) for name, node in names}


def count_gpus(slices: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """Return the number of whole GPUs by node, in the newest generation of each pool."""
    newest: dict[str, int] = {}
    found: dict[tuple[str, int], Counter[str]] = {}
    for spec in (each["spec"] for each in slices):
        if spec.get("driver") != GPU_DRIVER:
            continue
        pool, generation = spec["pool"]["name"], spec["pool"]["generation"]
        newest[pool] = max(generation, newest.get(pool, 0))
        whole = sum(_is_whole(device) for device in spec.get("devices") or ())
        # devices of several nodes count for none
        if spec.get("nodeName"):
            found.setdefault((pool, generation), Counter())[spec["nodeName"]] += whole
    total: Counter[str] = Counter()
    for (pool, generation), counts in found.items():
        if generation == newest[pool]:
            total.update(counts)
    return total


def _is_whole(device: Mapping[str, Any]) -> bool:
    attributes = device.get("attributes") or {}
    kind = attributes.get(_TYPE) or attributes.get(f"{GPU_DRIVER}/{_TYPE}") or {}
    return str(kind.get("string", _WHOLE)) == _WHOLE
