"""The model's data of GPUs: arithmetic, memory, and links between them."""

from __future__ import annotations

import re
from dataclasses import dataclass

GIB = 2**30
_SIZE = re.compile(r"(\d+)GB")


@dataclass(frozen=True, slots=True)
class Gpu:
    """One GPU. `flops`: dense 16-bit operations per second, as stated; `link`: bytes per second to a neighbour."""

    flops: float
    memory_bytes: float
    link: float


# by a part of the label nvidia.com/gpu.product, the more specific first
_KNOWN = {
    "H200": Gpu(989e12, 141 * GIB, 450e9),
    "H100-PCIe": Gpu(756e12, 80 * GIB, 50e9),
    "H100": Gpu(989e12, 80 * GIB, 450e9),
    "A100": Gpu(312e12, 80 * GIB, 300e9),
    "L40S": Gpu(362e12, 48 * GIB, 25e9),
    "L4": Gpu(121e12, 24 * GIB, 12e9),
    "A10": Gpu(70e12, 24 * GIB, 12e9),
    "V100": Gpu(125e12, 16 * GIB, 130e9),
    "T4": Gpu(65e12, 16 * GIB, 8e9),
}
_OTHER = Gpu(312e12, 80 * GIB, 50e9)


def gpu_of(product: str) -> tuple[Gpu, str]:
    """Return the GPU of a product's label, and assumptions about it (empty if it is known)."""
    found = next((gpu for part, gpu in _KNOWN.items() if part.lower() in product.lower()), None)
    size = _SIZE.search(product)
    gpu = found or _OTHER
    if size:
        gpu = Gpu(gpu.flops, int(size[1]) * GIB, gpu.link)
    return gpu, "" if found else f"the GPU {product or 'without a label'} is unknown: the speed of an A100 is assumed"
