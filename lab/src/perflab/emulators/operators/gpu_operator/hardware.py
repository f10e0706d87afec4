"""The GPUs of a node: number and product, by Node Feature Discovery and the lab."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.cluster.hardware import Hardware, of_product
from perflab.cluster.nodes import GPU_PRODUCT, GPUS
from perflab.emulators.framework.documents import own_annotations


def number_of_gpus(node: Document) -> int:
    """Return how many GPUs are in its machine."""
    return int(own_annotations(node).get(GPUS) or 0)


def hardware_of(node: Document) -> Hardware:
    """Return the product of the GPUs in its machine."""
    return of_product(own_annotations(node).get(GPU_PRODUCT) or "NVIDIA-GPU")
