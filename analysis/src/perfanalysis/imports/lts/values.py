"""The value of a KPI of a payload: one number in a unit of ours, or the reason why there is none."""

from __future__ import annotations

import math
import re
import statistics
from dataclasses import dataclass
from typing import Any

from perfanalysis.files.documents import any_number
from perfanalysis.imports.options import SCALED, Scale
from perfanalysis.units import unit_of

SENTINEL = -1
"""What stands for a metric that was absent."""
SAME = {"s": "seconds", "sec": "seconds", "secs": "seconds", "second": "seconds", "x": "count", "": "count"}
"""Units by other names."""
NO_VALUE = "the payload has none: its function failed"
NOT_FINITE = "it is not finite"
ABSENT = "-1 stands for a metric that was absent"


@dataclass(frozen=True)
class Measured:
    """A number, or None with the reason; `count` is of how many values of a list it is the median."""

    number: float | None
    reason: str | None = None
    count: int | None = None
    was_text: bool = False
    """Whether the number stood there as a text, as numbers of numpy do."""


def measured(value: object) -> Measured:
    """What the value of a KPI says."""
    if isinstance(value, list):
        return _median([measured(each) for each in value])
    if value is None:
        return Measured(None, NO_VALUE)
    number = any_number(value)
    if number is None:
        return Measured(None, f"{str(value)[:40]!r} is no number")
    if not math.isfinite(number):
        return Measured(None, NOT_FINITE)
    if number == SENTINEL:
        return Measured(None, ABSENT)
    return Measured(number, was_text=isinstance(value, str))


def _median(found: list[Measured]) -> Measured:
    known = [each.number for each in found if each.number is not None]
    if not known:
        return Measured(None, found[0].reason if found else "its list is empty")
    return Measured(statistics.median(known), count=len(known), was_text=any(each.was_text for each in found))


def scale_of(unit: object) -> Scale:
    """The unit of ours that a unit of a payload is, and the factor to it; an unknown one is kept as an annotation."""
    text = str(unit or "").strip()
    whole, slash, per = text.partition("/")
    if slash and per in ("s", "sec", "second") and whole:
        return Scale(f"{scale_of(whole).unit}/s", scale_of(whole).factor)
    text = SAME.get(text, text)
    if text in SCALED:
        return Scale(*SCALED[text])
    try:
        return Scale(unit_of(text).name)
    except ValueError:
        words = re.sub(r"[^A-Za-z0-9 _-]+", " ", text.replace("/", " per ")).strip()
        return Scale(f"{{{words}}}" if words[:1].isalpha() else "{unknown}")


def name_of(name: Any) -> str:
    """The name of a KPI as ours are: lower_case."""
    lowered = re.sub(r"[^a-z0-9_]+", "_", str(name).lower()).strip("_")
    return lowered if lowered[:1].isalpha() else f"kpi_{lowered}"
