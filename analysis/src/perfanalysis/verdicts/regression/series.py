"""Which runs of a history a recording may be judged by, and the series of each KPI."""

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
"""Names of keys that differ; of further ones the number is said."""


@dataclass(frozen=True)
class Selection:
    """How entries are chosen, and what they are ordered by before their time."""

    compared: frozenset[str] = frozenset()
    """Keys whose values may differ, and are told."""
    ignored: frozenset[str] = frozenset()
    """Keys whose values may differ and are of no interest."""
    sorted_by: tuple[str, ...] = ()
    """Keys or facts, the first before the second; each is read as a version."""
    same: frozenset[str] = frozenset()
    """Facts that must be equal although they are no keys."""
    skipped: tuple[tuple[str, str], ...] = ()
    """Entries with such a value, as text, of a key or fact are left out."""

    @property
    def free(self) -> frozenset[str]:
        """The keys whose values may differ."""
        return self.compared | self.ignored

    @property
    def names(self) -> tuple[str, ...]:
        """Every key and fact that it names."""
        skipped = (name for name, _ in self.skipped)
        return tuple(dict.fromkeys((*sorted(self.free), *self.sorted_by, *sorted(self.same), *skipped)))

    def skips(self, entry: Entry) -> bool:
        """Whether an entry is left out whatever else is true of it."""
        return any(
            entry.value(name) is not None and value in (str(entry.value(name)), value_text(entry.value(name)))
            for name, value in self.skipped
        )


@dataclass(frozen=True)
class Series:
    """A KPI of one kind of recording over the runs, oldest first; the last is the one that is judged."""

    kpi: KpiValue
    entries: tuple[Entry, ...]

    @property
    def values(self) -> tuple[float, ...]:
        """The numbers, in the same order."""
        name = self.kpi.series
        return tuple(entry.kpis[name].known for entry in self.entries)


def check_names(selection: Selection, entries: Sequence[Entry]) -> None:
    """Raise UsageError for a key or fact that no entry has, with the name that was probably meant."""
    known = {name for entry in entries for name in (*entry.keys, *entry.facts)}
    for name in selection.names if known else ():
        if name not in known:
            meant = did_you_mean(name, known, 0.5)
            raise UsageError(f"no run of the history has the key or fact {name}{f'; {meant}' if meant else ''}")


def alike(current: Entry, history: Sequence[Entry], selection: Selection) -> tuple[Entry, ...]:
    """The entries that *current* may be compared with, ordered, without those of its own run.

    Same flow, kind, lab (a simulated run says nothing of a real one) and equal keys; of runs that went well. Entries
    after *current* in the order are left out: what came later is no history.
    """
    candidates = [entry for entry in history if entry.run != current.run and not why_not(entry, current, selection)]
    placed = sorted((place_of(entry, selection.sorted_by), number) for number, entry in enumerate(candidates))
    return tuple(candidates[number] for _, number in placed)


def why_not(entry: Entry, current: Entry, selection: Selection) -> str:
    """Why *current* may not be compared with an entry of another run, by the first reason; empty when it may."""
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
    """A sentence on how much of a history *current* may be compared with, and why not with the rest of it."""
    others = [entry for entry in history if entry.run != current.run]
    if not others:
        return f"{current.recording}: the history holds no other run"
    reasons = Counter(why_not(entry, current, selection) for entry in others)
    counts = "; ".join(f"{number} {reason}" for reason, number in reasons.most_common() if reason)
    known = counted(len(others), "other recording")
    may = f"{current.recording}: {reasons['']} of {known} in the history may be compared with it"
    return f"{may}: {counts}" if counts else may


def all_series(current: Entry, earlier: Sequence[Entry]) -> tuple[Series, ...]:
    """A series for each KPI that *current* has, of the entries that have it in the same unit."""
    found = []
    for name, kpi in current.kpis.items():
        compared = (entry for entry in earlier if name in entry.kpis and entry.kpis[name].unit == kpi.unit)
        found.append(Series(kpi, (*compared, current)))
    return tuple(found)


Place = tuple[tuple[tuple[tuple[int, int, str], ...], ...], float, str]


def place_of(entry: Entry, sorted_by: Sequence[str]) -> Place:
    """Where an entry stands in the order: by each key as a version, then by time, then by its run's id."""
    return (tuple(version_key(entry.value(name)) for name in sorted_by), entry.started_s, entry.run)
