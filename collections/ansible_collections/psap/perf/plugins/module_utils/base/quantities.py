"""Kubernetes quantities: parsed exactly, and formatted in the smallest unit that schedulers use."""

from __future__ import annotations

import re
from fractions import Fraction

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

_QUANTITY = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d+))?")
_DECIMAL = {
    suffix: Fraction(1000) ** power
    for power, suffix in enumerate(("n", "u", "m", "", "k", "M", "G", "T", "P", "E"), -3)
}
_BINARY = {suffix: Fraction(1024) ** power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_UNITS = _DECIMAL | _BINARY
_MEBI = _BINARY["Mi"]


def parse_quantity(text: object) -> Fraction:
    """Return the value of a quantity: ``"4"`` is 4, ``"250m"`` 1/4, ``"1Ki"`` 1024, ``"1e3"`` 1000.

    Raises:
        UsageError: If it is not a quantity.
    """
    match = _QUANTITY.fullmatch(str(text).strip())
    if match is None:
        raise UsageError(f"{text!r} is not a quantity: write a number with a unit such as 500m, 2, 64Mi, 1.5Gi, 3G")
    number, unit, exponent = match.groups()
    return Fraction(number) * (Fraction(10) ** int(exponent) if exponent else _UNITS[unit or ""])


def format_quantity(resource: str, amount: Fraction) -> str:
    """Return *amount* of *resource*, rounded down: CPU to millicores, bytes to Mi, others to whole numbers."""
    if resource == "cpu":
        return f"{amount * 1000 // 1}m"
    if resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-"):
        return f"{amount // _MEBI}Mi"
    return str(amount // 1)
