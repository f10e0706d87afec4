"""Pods as rows, and the capacity of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from perfanalysis.workloads.kubernetes_objects.model import (
    Item,
    Labels,
    Quantity,
    Spec,
    Stamps,
    Status,
    Terminated,
    latest,
)

DURATIONS = (
    ("scheduled_after_s", "created_s", "scheduled_s"),
    ("ready_after_s", "created_s", "ready_s"),
    ("running_after_s", "created_s", "running_s"),
    ("finished_after_s", "created_s", "finished_s"),
)
"""Name, begin and end of each."""
GPU_RESOURCES = ("nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915")
OUTCOMES = {"Succeeded": "succeeded", "Failed": "failed", "Running": "running", "Pending": "pending"}


def pod_row(pod: Item, stamps: Stamps) -> dict[str, Any]:
    """Return a row of the table of pods.

    A finished pod is not ready any more: its condition Ready then has the time of its end, so `ready_s` is only set if
    the condition is true. `running_s` is when the last of its containers began, `finished_s` when the last one ended,
    if all did.
    """
    metadata, spec, status = pod.metadata, pod.spec or Spec(), pod.status or Status()
    met = {each.type: stamps(each.moment) for each in status.conditions or () if each.status == "True"}
    states = [container.state for container in status.container_statuses or ()]
    ended = [state.terminated for state in states if state is not None and state.terminated is not None]
    finished = latest([stamps(each.finished_at) for each in ended]) if len(ended) == len(states) else None
    begun = [(state.terminated or state.running) if state is not None else None for state in states]
    return {
        "namespace": metadata.namespace,
        "name": metadata.name,
        "workload": (metadata.labels and metadata.labels.job) or metadata.owner,
        "node": spec.node_name,
        "created_s": stamps(metadata.creation_timestamp),
        "scheduled_s": met.get("PodScheduled"),
        "ready_s": met.get("Ready"),
        "running_s": latest([None if each is None else stamps(each.started_at) for each in begun]),
        "finished_s": finished,
        "outcome": _outcome(status, ended, finished),
        "gpus": gpus_of(spec),
        "restarts": sum(each.restart_count or 0 for each in status.container_statuses or ()),
    }


def _outcome(status: Status, ended: list[Terminated], finished: float | None) -> str | None:
    """Return the status by the phase or, in a dump without it, by the containers."""
    if status.phase is not None:
        return OUTCOMES.get(status.phase, status.phase.lower())
    if any(each.exit_code for each in ended):
        return "failed"
    return "succeeded" if finished is not None else None


def gpus_of(spec: Spec) -> int | None:
    """Return the GPUs of the containers of a pod; None if no container states its resources."""
    limits = [container.resources.limits for container in spec.containers or () if container.resources is not None]
    known = [each for each in limits if each is not None]
    return sum(_whole(each.get(name)) for each in known for name in GPU_RESOURCES) if known else None


def _whole(quantity: object) -> int:
    """Return a count of devices, which is always whole."""
    text = str(quantity)
    return int(text) if text.isdecimal() and len(text) < 10 else 0


FACTORS = {
    "m": Decimal("0.001"),
    **{suffix: Decimal(1000**power) for power, suffix in enumerate(("", "k", "M", "G", "T"))},
    **{suffix: Decimal(1024**power) for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti"), start=1)},
}


def offered_by(nodes: Iterable[Item], devices: Mapping[str, int]) -> dict[str, Any]:
    """Return how many nodes there are, their instance types, GPU products and capacity; None if not stated.

    Args:
        nodes: The objects of nodes.
        devices: GPUs by node as devices of ResourceSlices, which count for nodes without other GPUs.
    """
    given = list(nodes)
    labels = [node.metadata.labels or Labels() for node in given]
    offers = [(node.status or Status()).allocatable or {} for node in given]
    return {
        "nodes": len(given) or None,
        "instance_types": _named(label.instance_type for label in labels),
        "gpu_products": _named(label.gpu_product for label in labels),
        "cpus": _sum(quantity(offer.get("cpu")) for offer in offers),
        "memory_bytes": _sum(quantity(offer.get("memory")) for offer in offers),
        "gpus": _sum(_gpus(offer, devices.get(node.metadata.name)) for node, offer in zip(given, offers, strict=True)),
    }


def _gpus(offer: Mapping[str, Quantity], devices: int | None) -> float | None:
    found = _sum(quantity(offer.get(name)) for name in GPU_RESOURCES)
    return found if found or devices is None else devices


def _named(names: Iterable[str | None]) -> str | None:
    return ", ".join(sorted({name for name in names if name})) or None


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def quantity(given: object) -> float | None:
    """Return a Kubernetes quantity as a number in its base unit; None if it is invalid."""
    text = str(given)
    suffix = text.lstrip("0123456789.")
    number = text[: len(text) - len(suffix)]
    if suffix not in FACTORS or len(number) > 30:
        return None
    try:
        return float(Decimal(number) * FACTORS[suffix])
    except InvalidOperation:
        return None
