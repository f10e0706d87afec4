"""Durations as the lab's annotations have them: `500ms`, `2s`, `1m30s`."""

from __future__ import annotations

import re

_UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"(\d+(?:\.\d+)?)(ms|s|m|h)"


def parse(text: str | None) -> float | None:
    """Seconds; None when *text* is None or no duration, which counts as absent."""
    if not text or not re.fullmatch(f"(?:{_PART})+", text):
        return None
    return sum(float(number) * _UNITS_S[unit] for number, unit in re.findall(_PART, text))
