"""Percentiles of durations in the progress of a step, in lines of at most 80 columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perfanalysis.files.documents import finite_number

_COLUMNS = (("p50", "p50_s"), ("p90", "p90_s"), ("p99", "p99_s"))


def percentile_lines(progress: Mapping[str, Any]) -> list[str]:
    """Return a heading and a line for each kind of duration, or nothing if the progress has none."""
    durations = progress.get("durations")
    if not isinstance(durations, Mapping):
        return []
    rows = [
        (name.replace("_", " "), str(took["count"]), *(_seconds(took.get(key)) for _heading, key in _COLUMNS))
        for name, took in durations.items()
        if isinstance(took, Mapping) and took.get("count")
    ]
    if not rows:
        return []
    headings = ("", "count", *(heading for heading, _key in _COLUMNS))
    return [_line(row) for row in (headings, *rows)]


def _line(cells: tuple[str, ...]) -> str:
    name, *numbers = cells
    return f"  {name:<20}" + "".join(f"{cell:>12}" for cell in numbers)


def _seconds(value: Any) -> str:
    """Return seconds with three significant digits; a dash if there are too few values for the percentile."""
    seconds = finite_number(value)
    if seconds is None:
        return "-"
    return f"{seconds * 1000:.0f} ms" if abs(seconds) < 1 else f"{seconds:.{2 if abs(seconds) < 10 else 1}f} s"
