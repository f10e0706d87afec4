"""Which runs of a history a recording may be judged by, and the series of each KPI."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from perfanalysis.history.entries import Entry, KpiPoint
from perfanalysis.versions import version_key

MISSING = object()


@dataclass(frozen=True)
class Selection:
    """How entries are chosen: keys that may differ, and what they are ordered by before their time."""

    compared: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    sorted_by: tuple[str, ...] = ()

    @property
    def free(self) -> frozenset[str]:
        """The keys whose values may differ."""
        return self.compared | self.ignored


@dataclass(frozen=True)
class Series:
    """A KPI of one kind of recording over the runs, oldest first; the last is the one that is judged."""

    kpi: KpiPoint
    entries: tuple[Entry, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers, in the same order."""
        return tuple(entry.kpis[self.kpi.name].number for entry in self.entries)


def alike(current: Entry, history: Sequence[Entry], selection: Selection) -> tuple[Entry, ...]:
    """The entries that *current* may be compared with, ordered, without those of its own run.

    Same flow, kind, marks (a simulated run says nothing of a real one) and equal keys; of runs that went well. Entries
    after *current* in the order are left out: what came later is no history.
    """
    candidates = [
        entry
        for entry in history
        if entry.run != current.run
        and entry.status == "ok"
        and (entry.flow, entry.kind, entry.marks) == (current.flow, current.kind, current.marks)
        and _same(current.keys, entry.keys, selection.free)
    ]
    placed = sorted((_place(entry, selection), number) for number, entry in enumerate(candidates))
    return tuple(candidates[number] for place, number in placed if place <= _place(current, selection))


def all_series(current: Entry, earlier: Sequence[Entry]) -> tuple[Series, ...]:
    """A series for each KPI that *current* has, of the entries that have it in the same unit."""
    return tuple(
        Series(kpi, (*(entry for entry in earlier if _has(entry, kpi)), current)) for kpi in current.kpis.values()
    )


def _has(entry: Entry, kpi: KpiPoint) -> bool:
    there = entry.kpis.get(kpi.name)
    return there is not None and there.unit == kpi.unit


def _same(first: Mapping[str, object], second: Mapping[str, object], free: frozenset[str]) -> bool:
    names = (first.keys() | second.keys()) - free
    return all(first.get(name, MISSING) == second.get(name, MISSING) for name in names)


Place = tuple[tuple[tuple[tuple[int, int, str], ...], ...], float, str]


def _place(entry: Entry, selection: Selection) -> Place:
    return (tuple(version_key(entry.value(name)) for name in selection.sorted_by), entry.started_s, entry.run)
