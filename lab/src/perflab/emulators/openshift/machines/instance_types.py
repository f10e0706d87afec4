"""The hardware of a cloud's instance types: the types of AWS and the profiles of IBM Cloud."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class InstanceType:
    """A machine's hardware; the product has the GPU operator's spelling."""

    cpus: int
    memory_gib: int
    gpus: int = 0
    gpu_product: str = ""


Sizes = Mapping[str, tuple[int, int, int]]
# by size: CPUs, memory in GiB, GPUs
_ONE_OR_EIGHT: Sizes = {
    "xlarge": (4, 16, 1),
    "2xlarge": (8, 32, 1),
    "4xlarge": (16, 64, 1),
    "8xlarge": (32, 128, 1),
    "12xlarge": (48, 192, 4),
    "16xlarge": (64, 256, 1),
    "24xlarge": (96, 384, 4),
    "48xlarge": (192, 768, 8),
}
_L40S: Sizes = {size: (cpus, 2 * memory, gpus) for size, (cpus, memory, gpus) in _ONE_OR_EIGHT.items()}
_T4: Sizes = {
    **{size: _ONE_OR_EIGHT[size] for size in ("xlarge", "2xlarge", "4xlarge", "8xlarge", "12xlarge", "16xlarge")},
    "metal": (96, 384, 8),
}
_AWS: Mapping[str, tuple[str, Sizes]] = {
    "p3": ("Tesla-V100-SXM2-16GB", {"2xlarge": (8, 61, 1), "8xlarge": (32, 244, 4), "16xlarge": (64, 488, 8)}),
    "p4d": ("NVIDIA-A100-SXM4-40GB", {"24xlarge": (96, 1152, 8)}),
    "p4de": ("NVIDIA-A100-SXM4-80GB", {"24xlarge": (96, 1152, 8)}),
    "p5": ("NVIDIA-H100-80GB-HBM3", {"4xlarge": (16, 256, 1), "48xlarge": (192, 2048, 8)}),
    "p5e": ("NVIDIA-H200", {"48xlarge": (192, 2048, 8)}),
    "p5en": ("NVIDIA-H200", {"48xlarge": (192, 2048, 8)}),
    "g4dn": ("Tesla-T4", _T4),
    "g5": ("NVIDIA-A10G", _ONE_OR_EIGHT),
    "g6": ("NVIDIA-L4", _ONE_OR_EIGHT),
    "g6e": ("NVIDIA-L40S", _L40S),
}
# general types without GPUs: GiB of memory per CPU, by the first letter of the family
_AWS_GENERAL = {"c": 2, "m": 4, "r": 8, "t": 4}
# bx2-8x32, gx3-16x80x1l4: CPUs, memory, GPUs and their product
_IBM = re.compile(r"[a-z]+\d[a-z]*-(\d+)x(\d+)(?:x(\d+)([a-z]\w*))?")
_IBM_PRODUCTS = {
    "v100": "Tesla-V100-PCIE-16GB",
    "a100": "NVIDIA-A100-SXM4-80GB",
    "h100": "NVIDIA-H100-80GB-HBM3",
    "h200": "NVIDIA-H200",
    "l4": "NVIDIA-L4",
    "l40s": "NVIDIA-L40S",
}


def find(name: str) -> InstanceType | None:
    """Return the type called *name*, or None if no cloud has it."""
    family, _, size = name.partition(".")
    if family in _AWS:
        product, sizes = _AWS[family]
        return InstanceType(*sizes[size], gpu_product=product) if size in sizes else None
    return _aws_general(family, size) or _ibm(name)


def _aws_general(family: str, size: str) -> InstanceType | None:
    factor = _AWS_GENERAL.get(family[:1]) if re.fullmatch(r"[a-z]\d[a-z]*", family) else None
    sized = re.fullmatch(r"(\d*)xlarge|(large)|(metal)", size)
    if factor is None or sized is None:
        return None
    cpus = {"large": 2, "metal": 96}.get(size) or 4 * int(sized[1] or 1)
    return InstanceType(cpus, factor * cpus)


def _ibm(name: str) -> InstanceType | None:
    found = _IBM.fullmatch(name)
    if found is None:
        return None
    cpus, memory, gpus, product = found.groups()
    if gpus is None:
        return InstanceType(int(cpus), int(memory))
    known = _IBM_PRODUCTS.get(product)
    return InstanceType(int(cpus), int(memory), int(gpus), known) if known else None
