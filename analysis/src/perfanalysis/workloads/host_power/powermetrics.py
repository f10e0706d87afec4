"""The text format of powermetrics of macOS."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

_HEADER = re.compile(r"\*\*\* Sampled system activity \((.+)\) \(([0-9.]+)ms elapsed\) \*\*\*")
# a longer gap is a pause, such as sleep of the host
_PAUSE_S = 2.0
_POWER = re.compile(r"(CPU|GPU|ANE|Combined) Power(?: \([^)]*\))?: ([0-9.]+) mW")


def samples_of(lines: Iterable[str]) -> Iterator[dict[str, float]]:
    """Yield each sample with its power: the combined value, else the sum of the stated parts.

    Times have whole seconds: those after the first one are computed from the durations of the samples.
    """
    at_s = elapsed_s = None
    parts: dict[str, float] = {}
    for line in (*lines, "*** Sampled system activity () (0ms elapsed) ***"):
        header, power = _HEADER.search(line), _POWER.search(line)
        if power:
            parts[power[1]] = float(power[2]) / 1000
        elif "*** Sampled system activity" in line:
            if at_s is not None and elapsed_s and parts:
                yield {"at_s": at_s, "elapsed_s": elapsed_s, "watts": parts.get("Combined", sum(parts.values()))}
            parts = {}
            elapsed_s = float(header[2]) / 1000 if header else None
            at_s = _next(at_s, _seconds(header[1]), elapsed_s or 0.0) if header and header[1] else None


def _next(before_s: float | None, told_s: float, elapsed_s: float) -> float:
    counted_s = told_s if before_s is None else before_s + elapsed_s
    return counted_s if abs(counted_s - told_s) < _PAUSE_S else told_s


def _seconds(written: str) -> float:
    """Parse times such as ``Thu Nov 26 11:40:29 2026 +0000``: whole seconds."""
    return datetime.strptime(written, "%a %b %d %H:%M:%S %Y %z").timestamp()
