"""Which KPIs are judged, and how, where not all of them are judged alike."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from perfanalysis.history.entries import Entry
from perfanalysis.kpis import Direction

Better = Direction | Literal["either"]
"""Which way is better; `either`: a change is worse whichever way it goes."""


@dataclass(frozen=True, slots=True)
class Watch:
    """KPIs to judge, and how; None: as the KPI declares, or as the options say."""

    kpi: str
    """A name as in the history; `*` stands for any letters."""
    direction: Better | None = None
    margin: float | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    """Only in recordings whose keys or facts have these values; empty: in all."""
    confirmed_by: str | None = None
    """A change counts only when this KPI of the same recording changed too …"""
    within: int = 5
    """… at most so many runs away."""

    def fits(self, kpi: str, entry: Entry) -> bool:
        """Whether it says how that KPI of that recording is judged."""
        return fnmatch.fnmatchcase(kpi, self.kpi) and all(
            entry.value(name) == value for name, value in self.keys.items()
        )


EVERYTHING = Watch("*")


def watch_of(watched: Sequence[Watch], kpi: str, entry: Entry) -> Watch | None:
    """The first that fits; None for a KPI that is not to be judged. With none at all, each KPI is, as it declares."""
    return next((watch for watch in watched or (EVERYTHING,) if watch.fits(kpi, entry)), None)


def unseen(watched: Sequence[Watch], current: Sequence[Entry]) -> tuple[str, ...]:
    """A sentence for each that fits no KPI of any recording."""
    return tuple(
        f"watched, but in no recording: {watch.kpi}{told(watch.keys)}"
        for watch in watched
        if not any(watch.fits(kpi, entry) for entry in current for kpi in entry.kpis)
    )


def told(keys: Mapping[str, Any]) -> str:
    """` (key value, …)`, or nothing."""
    return f" ({', '.join(f'{name} {value}' for name, value in keys.items())})" if keys else ""
