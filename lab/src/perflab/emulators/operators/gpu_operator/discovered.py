"""What Node Feature Discovery, and the lab, say of a node."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import own_annotations, own_labels
from perflab.emulators.operators.gpu_operator.hardware import Hardware, of_product
from perflab.emulators.operators.gpu_operator.resources import ANY_FEATURE, DISCOVERED, GPUS, PRODUCT


def has_features(node: Document) -> bool:
    """Whether Node Feature Discovery labelled the node at all."""
    return any(name.startswith(ANY_FEATURE) for name in node["metadata"].get("labels") or ())


def is_gpu_node(node: Document) -> bool:
    """Whether Node Feature Discovery found an NVIDIA device in it, and the lab says how many there are."""
    labels = own_labels(node)
    return bool(number_of_gpus(node)) and any(labels.get(name) == "true" for name in DISCOVERED)


def number_of_gpus(node: Document) -> int:
    """How many GPUs are in its machine."""
    return int(own_annotations(node).get(GPUS) or 0)


def hardware_of(node: Document) -> Hardware:
    """Which GPUs are in its machine."""
    return of_product(own_annotations(node).get(PRODUCT) or "NVIDIA-GPU")
