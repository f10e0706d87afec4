"""Kinds of GPUs: memory, family and compute capability of a product."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FAMILIES = {
    "B200": ("blackwell", "10.0", 180, True),
    "H200": ("hopper", "9.0", 141, True),
    "H100": ("hopper", "9.0", 80, True),
    "A100": ("ampere", "8.0", 40, True),
    "A30": ("ampere", "8.0", 24, True),
    "A10": ("ampere", "8.6", 24, False),
    "A10G": ("ampere", "8.6", 24, False),
    "L40": ("ada-lovelace", "8.9", 48, False),
    "L4": ("ada-lovelace", "8.9", 24, False),
    "T4": ("turing", "7.5", 16, False),
    "V100": ("volta", "7.0", 16, False),
}
_UNKNOWN = ("undefined", "8.0", 80, False)


@dataclass(frozen=True, slots=True)
class Hardware:
    """A kind of GPU; *memory_mib* of one."""

    product: str
    family: str
    compute_major: str
    compute_minor: str
    memory_mib: int
    mig_capable: bool

    @property
    def model(self) -> str:
        """Return the driver's name, with blanks."""
        return self.product.replace("-", " ")


def of_product(product: str) -> Hardware:
    """Return the properties of `NVIDIA-H100-80GB-HBM3`; 80 GiB of an unknown one."""
    words = re.split(r"[-\s]", product)
    family, compute, memory_gib, mig_capable = next((_FAMILIES[word] for word in words if word in _FAMILIES), _UNKNOWN)
    stated = re.search(r"(\d+)GB", product)
    major, _, minor = compute.partition(".")
    memory_mib = 1024 * (int(stated.group(1)) if stated else memory_gib)
    return Hardware(product, family, major, minor, memory_mib, mig_capable)
