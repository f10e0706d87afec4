"""What the nodes of a recording offer together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from perfanalysis.files.tables import Kind
from perfanalysis.workloads.kubernetes_objects.model import Item, Labels, Status
from perfanalysis.workloads.kubernetes_objects.pods import GPU_RESOURCES

COLUMNS: Mapping[str, Kind] = {
    "nodes": "integer",
    **dict.fromkeys(("instance_types", "gpu_products"), "text"),
    **dict.fromkeys(("cpus", "memory_bytes", "gpus"), "number"),
}
FACTORS = {
    "m": Decimal("0.001"),
    **{suffix: Decimal(1000**power) for power, suffix in enumerate(("", "k", "M", "G", "T"))},
    **{suffix: Decimal(1024**power) for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti"), start=1)},
}


def offered_by(nodes: Iterable[Item]) -> dict[str, Any]:
    """How many nodes there are, of which instance types and GPU products, and what they offer; None where not told."""
    given = list(nodes)
    labels = [node.metadata.labels or Labels() for node in given]
    offers = [(node.status or Status()).allocatable or {} for node in given]
    return {
        "nodes": len(given) or None,
        "instance_types": _named(label.instance_type for label in labels),
        "gpu_products": _named(label.gpu_product for label in labels),
        "cpus": _sum(quantity(offer.get("cpu")) for offer in offers),
        "memory_bytes": _sum(quantity(offer.get("memory")) for offer in offers),
        "gpus": _sum(quantity(offer.get(name)) for offer in offers for name in GPU_RESOURCES),
    }


def _named(names: Iterable[str | None]) -> str | None:
    return ", ".join(sorted({name for name in names if name})) or None


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def quantity(given: object) -> float | None:
    """A Kubernetes quantity as a number in its base unit; None when it is none."""
    text = str(given)
    suffix = text.lstrip("0123456789.")
    number = text[: len(text) - len(suffix)]
    if suffix not in FACTORS or len(number) > 30:
        return None
    try:
        return float(Decimal(number) * FACTORS[suffix])
    except InvalidOperation:
        return None
