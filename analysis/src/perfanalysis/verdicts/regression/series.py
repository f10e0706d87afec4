"""Select the runs of a history by which a recording is judged, and the series of each KPI."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from perfanalysis.drawing.wording import counted, listed, value_text
from perfanalysis.errors import UsageError, did_you_mean
from perfanalysis.results.history.documents import Entry
from perfanalysis.results.history.folder import version_key
from perfanalysis.verdicts.comparison.pairs import Rule, differing
from perfanalysis.workloads.kpis import KpiValue

MOST_TOLD = 4
"""Names of differing keys to list; of further ones, only the number is stated."""


@dataclass(frozen=True)
class Selection:
    """How entries are selected, and how they are ordered before their time."""

    compared: frozenset[str] = frozenset()
    """Keys whose values may differ, and are reported."""
    ignored: frozenset[str] = frozenset()
    """Keys whose values may differ, and are not reported."""
    sorted_by: tuple[str, ...] = ()
    """Keys or facts to order by, the most significant first; each is read as a version."""
    same: frozenset[str] = frozenset()
    """Facts that must be equal although they are not keys."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Entries with this value, as text, of a key or fact are left out."""

    @property
    def free(self) -> frozenset[str]:
        """Return the keys whose values may differ."""
        return self.compared | self.ignored

    @property
    def names(self) -> tuple[str, ...]:
        """Return every key and fact that it names."""
        skipped = (name for name, _ in self.skipped)
        return tuple(dict.fromkeys((*sorted(self.free), *self.sorted_by, *sorted(self.same), *skipped)))

    def skips(self, entry: Entry) -> bool:
        """Return whether an entry is left out by `skipped`."""
        return any(
            entry.value(name) is not None and value in (str(entry.value(name)), value_text(entry.value(name)))
            for name, value in self.skipped
        )


@dataclass(frozen=True)
class Series:
    """A KPI of one kind of recording over the runs, oldest first; the last one is judged."""

    kpi: KpiValue
    entries: tuple[Entry, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """Return the numbers, in the same order."""
        name = self.kpi.series
        return tuple(entry.kpis[name].known for entry in self.entries)


def check_names(selection: Selection, entries: Sequence[Entry]) -> None:
    """Raise UsageError for a key or fact that no entry has, with the most similar name."""
    known = {name for entry in entries for name in (*entry.keys, *entry.facts)}
    for name in selection.names if known else ():
        if name not in known:
            meant = did_you_mean(name, known, 0.5)
            raise UsageError(f"no run of the history has the key or fact {name}{f'; {meant}' if meant else ''}")


def alike(current: Entry, history: Sequence[Entry], selection: Selection) -> tuple[Entry, ...]:
    """Return the entries that are comparable with *current*, in order, without those of the same run.

    Comparable entries have the same flow, kind, lab (a simulated run is not comparable with a real one) and equal keys,
    and their runs succeeded. Entries after *current* in the order are left out: they are not its history.
    """
    candidates = [entry for entry in history if entry.run != current.run and not why_not(entry, current, selection)]
    placed = sorted((place_of(entry, selection.sorted_by), number) for number, entry in enumerate(candidates))
    return tuple(candidates[number] for _, number in placed)


def why_not(entry: Entry, current: Entry, selection: Selection) -> str:
    """Return the first reason why another run.s entry is not comparable with *current*; empty if it is comparable."""
    if entry.status != "ok":
        return f"{entry.status}, not ok"
    for word in ("flow", "kind", "lab"):
        if getattr(entry, word) != getattr(current, word):
            return f"of another {word}"
    names = sorted(differing(current.keys, entry.keys, Rule(selection.free)))
    names += [name for name in sorted(selection.same) if entry.value(name) != current.value(name)]
    if names:
        return f"other {listed(names, MOST_TOLD)}"
    if selection.skips(entry):
        return "left out by --skip"
    return "later" if place_of(entry, selection.sorted_by) > place_of(current, selection.sorted_by) else ""


def left_out(current: Entry, history: Sequence[Entry], selection: Selection) -> str:
    """Return a sentence on how many entries of a history are comparable with *current*, and why others are not."""
    others = [entry for entry in history if entry.run != current.run]
    if not others:
        return f"{current.recording}: the history has no other run"
    reasons = Counter(why_not(entry, current, selection) for entry in others)
    counts = "; ".join(f"{number} {reason}" for reason, number in reasons.most_common() if reason)
    known = counted(len(others), "other recording")
    may = f"{current.recording}: {reasons['']} of {known} in the history are comparable"
    return f"{may}: {counts}" if counts else may


def all_series(current: Entry, earlier: Sequence[Entry]) -> tuple[Series, ...]:
    """Return a series for each KPI of *current*, of the entries that have it in the same unit."""
    found = []
    for name, kpi in current.kpis.items():
        compared = (entry for entry in earlier if name in entry.kpis and entry.kpis[name].unit == kpi.unit)
        found.append(Series(kpi, (*compared, current)))
    return tuple(found)


Place = tuple[tuple[tuple[tuple[int, int, str], ...], ...], float, str]


def place_of(entry: Entry, sorted_by: Sequence[str]) -> Place:
    """Return the position of an entry in the order: by each key as a version, then by time, then by its run's id."""
    return (tuple(version_key(entry.value(name)) for name in sorted_by), entry.started_s, entry.run)
