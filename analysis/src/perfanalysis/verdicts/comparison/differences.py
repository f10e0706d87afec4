"""Settings, versions and other facts in which the compared sides differ: what may have caused a change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perfanalysis.verdicts.comparison.pairs import UNKNOWN
from perfanalysis.verdicts.comparison.sides import Side


@dataclass(frozen=True)
class FactDifference:
    """A setting or fact with its value of every side; `known` says which sides have it at all."""

    name: str
    values: tuple[Any, ...]
    known: tuple[bool, ...]


def fact_differences(sides: Sequence[Side]) -> tuple[FactDifference, ...]:
    """Every fact that is not the same everywhere; one that a side does not know is different there."""
    names = dict.fromkeys(name for side in sides for name in side.facts)
    found = []
    for name in names:
        values = [side.facts.get(name, UNKNOWN) for side in sides]
        if any(value != values[0] for value in values[1:]):
            known = tuple(value is not UNKNOWN for value in values)
            shown = tuple(None if value is UNKNOWN else value for value in values)
            found.append(FactDifference(name, shown, known))
    return tuple(found)
