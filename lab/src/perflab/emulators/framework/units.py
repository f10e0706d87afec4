"""Quantities in Kubernetes' format (`8`, `500m`, `1.5Gi`, `2e3`), and durations (`500ms`, `2s`, `1m30s`)."""

from __future__ import annotations

import re
from decimal import Decimal

_QUANTITY = re.compile(r"([+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?)([numkMGTPE]?i?)")
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4, "Pi": 5, "Ei": 6}
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DURATION = r"(\d+(?:\.\d+)?)(ms|s|m|h)"


def parse_quantity(text: str | int | float) -> Decimal:
    """Return the amount in whole units (cores, bytes, devices). Raises ValueError if *text* is not a quantity."""
    # the K of Ki is upper case, the k of 1000 is not
    found = _QUANTITY.fullmatch(str(text).replace("Ki", "ki"))
    if found is None:
        raise ValueError(f"{text!r} is not a quantity")
    number, suffix = Decimal(found[1]), found[2].replace("ki", "Ki")
    if suffix in _BINARY:
        return number * Decimal(1024 ** _BINARY[suffix])
    return number.scaleb(_DECIMAL[suffix])


def parse_duration(text: str | None) -> float | None:
    """Return seconds; None if *text* is None or not a duration, which counts as absent."""
    if not text or not re.fullmatch(f"(?:{_DURATION})+", text):
        return None
    return sum(float(number) * _SECONDS[unit] for number, unit in re.findall(_DURATION, text))
