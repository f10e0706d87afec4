"""The verdict on a run: each KPI of each recording against the earlier runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.wording import counted, listed
from perfanalysis.errors import AnalysisError, DataQualityError, HistoryError, ThresholdError
from perfanalysis.results.history.documents import Entry
from perfanalysis.verdicts.regression.methods import (
    ALPHA,
    FEWEST,
    Effect,
    Level,
    Method,
    by_rank,
    by_score,
    change_points,
    corrected,
    effect,
    levels_of,
    percentile_rank,
    scaled,
    z_score,
)
from perfanalysis.verdicts.regression.series import Selection, Series, alike, all_series, check_names, left_out
from perfanalysis.verdicts.regression.watched import EVERYTHING, Acknowledged, Better, Watch, unseen, watch_of
from perfanalysis.workloads.kpis import KpiValue

Word = Literal["worse", "better", "different", "same", "acknowledged", "too little history"]
WORDS: tuple[Word, ...] = ("worse", "different", "better", "acknowledged", "same", "too little history")
CHANGED: tuple[Word, ...] = ("worse", "different", "better", "acknowledged")
MOST_LISTED = 8
"""Worse KPIs that the error lists; of further ones, it has the number."""
FALSE_DISCOVERIES = 0.05
"""The share of reported changes that may be false, over all KPIs of a run."""


@dataclass(frozen=True)
class Options:
    """How a run is judged."""

    method: Method = "change-point"
    margin: float = 0.05
    recent: int = 5
    """A change that began at most so many runs ago, including the judged one, is the run's; an older one is history."""
    selection: Selection = field(default_factory=Selection)
    watched: tuple[Watch, ...] = ()
    """Judge only these KPIs, with their rules; empty: all, as declared."""
    notes: tuple[str, ...] = ()
    """Notes on the request for readers of the verdict."""


@dataclass(frozen=True)
class Change:
    """The change that a KPI's last value belongs to: its first run, effect and p-values."""

    first: Entry
    runs: int
    """Runs at the new level, including the judged one."""
    effect: Effect
    p: float
    q: float = 1.0
    """The p-value corrected over all KPIs of the run."""
    statistic: tuple[str, float | None] | None = None
    """By a method that judges this run alone: `z` or `percentile`, and its value."""


@dataclass(frozen=True)
class KpiVerdict:
    """The verdict on one KPI; `change` is None without a change; `reason` states why the verdict is missing."""

    kpi: KpiValue
    count: int
    """Values before the judged one."""
    word: Word
    change: Change | None
    older: tuple[str, ...] = ()
    """The first runs of earlier changes."""
    reason: str = ""
    series: Series | None = None
    watch: Watch = EVERYTHING
    places: tuple[int, ...] = ()
    """The indices in the series where levels begin, except the first."""

    @property
    def direction(self) -> Better:
        """The direction by which it was judged."""
        return self.watch.direction or self.kpi.direction

    @cached_property
    def began(self) -> tuple[int, ...]:
        """Return where levels begin; by a method that judges this run alone, an outlier has its own level."""
        if self.change is None or self.word not in CHANGED or self.places or self.series is None:
            return self.places
        return (len(self.series.values) - 1,)

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """Return the levels of its series; empty if the history is too short."""
        known = self.series is not None and self.word != "too little history"
        return levels_of(self.series.values, self.began) if known and self.series is not None else ()

    @property
    def firsts(self) -> tuple[Entry, ...]:
        """Return the first run of the change, and those before and after it.

        More runs may show that the level began a run earlier or later.
        """
        if self.change is None or self.series is None:
            return ()
        entries = self.series.entries
        place = next(place for place, entry in enumerate(entries) if entry is self.change.first)
        return (self.change.first, *entries[max(place - 1, 0) : place], *entries[place + 1 : place + 2])

    @property
    def changed_with(self) -> tuple[str, ...]:
        """Return the runs with which this KPI's levels began, if that is significant."""
        sure = self.change is not None and self.change.q <= FALSE_DISCOVERIES
        return (*self.older, self.change.first.run) if sure and self.change is not None else self.older


@dataclass(frozen=True)
class RecordingVerdict:
    """One recording of the run."""

    entry: Entry
    earlier: tuple[Entry, ...]
    """The entries it was compared with, in order."""
    kpis: tuple[KpiVerdict, ...]

    def confirms(self, kpi: KpiVerdict) -> bool:
        """Return whether the confirming KPI, if one is declared, changed near the first run of the change."""
        if kpi.watch.confirmed_by is None or kpi.change is None:
            return True
        places = {entry.run: place for place, entry in enumerate((*self.earlier, self.entry))}
        other = next((each for each in self.kpis if each.kpi.series == kpi.watch.confirmed_by), None)
        changed = () if other is None else other.changed_with
        return any(abs(places[run] - places[kpi.change.first.run]) <= kpi.watch.within for run in changed)


@dataclass(frozen=True)
class Regression:
    """The verdict on a run."""

    run: str
    options: Options
    recordings: tuple[RecordingVerdict, ...]
    notes: tuple[str, ...]
    data_errors: tuple[str, ...] = ()
    """What makes the numbers of the run incomplete; only known for a run directory."""

    def kpis(self) -> tuple[KpiVerdict, ...]:
        """Return the verdict on every KPI of every recording."""
        return tuple(kpi for each in self.recordings for kpi in each.kpis)

    def of(self, word: Word) -> tuple[tuple[RecordingVerdict, KpiVerdict], ...]:
        """Return all KPIs with that verdict."""
        return tuple((each, kpi) for each in self.recordings for kpi in each.kpis if kpi.word == word)

    def counts(self) -> dict[Word, int]:
        """Return the number of KPIs with each verdict."""
        found = Counter(kpi.word for each in self.recordings for kpi in each.kpis)
        return {word: found[word] for word in WORDS}

    @cached_property
    def error(self) -> AnalysisError | None:
        """Return the error to exit with: incomplete data, else a regression, else too little history."""
        if self.data_errors:
            return DataQualityError(f"the data is incomplete: {'; '.join(self.data_errors)}")
        worse = self.of("worse")
        if worse:
            names = listed([f"{each.entry.recording}: {kpi.kpi.series}" for each, kpi in worse], MOST_LISTED)
            return ThresholdError(f"{counted(len(worse), 'KPI')} worse than before: {names}")
        judged = sum(number for word, number in self.counts().items() if word != "too little history")
        return None if judged else HistoryError(f"no KPI of {self.run} has enough history{self._still_needed()}")

    def _still_needed(self) -> str:
        needed, method = FEWEST[self.options.method], self.options.method
        counts = [kpi.count for kpi in self.kpis()]
        if not counts:
            return ""
        missing = counted(needed - max(counts), "more run")
        return f": {method} needs {needed} comparable earlier runs, found {max(counts)}; add {missing} to the history"


def regress(
    current: Sequence[Entry], history: Sequence[Entry], options: Options, acknowledged: Acknowledged
) -> Regression:
    """Judge the recordings of one run by a history, which may contain the run itself."""
    check_names(options.selection, (*current, *history))
    found = [_recording(entry, alike(entry, history, options.selection), options) for entry in current]
    judged = _with_words(_with_corrected(found), options, acknowledged)
    notes = tuple(
        f"the acknowledgement of {each.kpi} since {each.run} expired on {each.expires}: {each.reason}"
        for each in acknowledged.expired
    )
    keyless = {entry.recording for entry in current if not entry.keys}
    notes += tuple(
        f"{name} has no settings marked as keys: it is compared with recordings of its kind without keys"
        for name in sorted(keyless)
    )
    notes += tuple(
        left_out(each.entry, history, options.selection)
        for each in judged
        if each.kpis and all(kpi.word == "too little history" for kpi in each.kpis)
    )
    notes += (*options.notes, *unseen(options.watched, current))
    return Regression(current[0].run if current else "", options, judged, notes)


def _recording(entry: Entry, earlier: Sequence[Entry], options: Options) -> RecordingVerdict:
    watched = ((series, watch_of(options.watched, series.kpi.series, entry)) for series in all_series(entry, earlier))
    kpis = tuple(replace(_look(series, options), watch=watch) for series, watch in watched if watch is not None)
    return RecordingVerdict(entry, tuple(earlier), kpis)


def _look(series: Series, options: Options) -> KpiVerdict:
    values = np.asarray(series.values, dtype=float)
    before = len(values) - 1
    needed = FEWEST[options.method]
    if before < needed:
        reason = f"{options.method} needs {needed} earlier values, found {before}"
        return KpiVerdict(series.kpi, before, "too little history", None, (), reason, series)
    if options.method == "change-point":
        return _by_change_point(series, values, options.recent)
    return _by_outlier(series, values, options.method)


def _by_change_point(series: Series, values: NDArray[np.float64], recent: int) -> KpiVerdict:
    splits = change_points(scaled(values), ALPHA)
    places = tuple(split.at for split in splits)
    older = tuple(series.entries[place].run for place in places)
    count = len(values) - 1
    if not splits or len(values) - splits[-1].at > recent:
        return KpiVerdict(series.kpi, count, "same", None, older, "", series, places=places)
    last = splits[-1]
    start = splits[-2].at if len(splits) > 1 else 0
    change = Change(
        series.entries[last.at],
        len(values) - last.at,
        effect(values[start : last.at], values[last.at :]),
        last.p,
    )
    return KpiVerdict(series.kpi, count, "same", change, older[:-1], "", series, places=places)


def _by_outlier(series: Series, values: NDArray[np.float64], method: Method) -> KpiVerdict:
    before, value = values[:-1], values[-1:]
    scale = scaled(values)
    statistic: tuple[str, float | None]
    if method == "z-score":
        p, statistic = by_score(scale[:-1], float(scale[-1])), ("z", z_score(scale[:-1], float(scale[-1])))
    else:
        p, statistic = by_rank(before, float(value[0])), ("percentile", percentile_rank(before, float(value[0])))
    # the number of values was checked before
    assert p is not None  # noqa: S101
    change = Change(series.entries[-1], 1, effect(before, value), p, statistic=statistic)
    return KpiVerdict(series.kpi, len(before), "same", change, (), "", series)


def _with_corrected(recordings: Sequence[RecordingVerdict]) -> tuple[RecordingVerdict, ...]:
    """Return the verdicts with p-values corrected over all judged KPIs; one without a change counts as p = 1."""
    judged = [kpi for each in recordings for kpi in each.kpis if kpi.word != "too little history"]
    values = iter(corrected([1.0 if kpi.change is None else kpi.change.p for kpi in judged]))

    def with_q(kpi: KpiVerdict) -> KpiVerdict:
        if kpi.word == "too little history":
            return kpi
        q = next(values)
        return kpi if kpi.change is None else replace(kpi, change=replace(kpi.change, q=q))

    return tuple(replace(each, kpis=tuple(map(with_q, each.kpis))) for each in recordings)


def _with_words(
    recordings: Sequence[RecordingVerdict], options: Options, acknowledged: Acknowledged
) -> tuple[RecordingVerdict, ...]:
    return tuple(
        replace(each, kpis=tuple(_with_word(kpi, each, options, acknowledged) for kpi in each.kpis))
        for each in recordings
    )


def _with_word(
    kpi: KpiVerdict, recording: RecordingVerdict, options: Options, acknowledged: Acknowledged
) -> KpiVerdict:
    if kpi.change is None or kpi.word == "too little history":
        return kpi
    word = word_of(kpi.kpi, kpi.change, options.margin, kpi.watch)
    if word == "same":
        return kpi
    if not recording.confirms(kpi):
        return replace(
            kpi, reason=f"{kpi.watch.confirmed_by} did not change within {counted(kpi.watch.within, 'run')} of it"
        )
    accepted = acknowledged.find(kpi.kpi.series, kpi.firsts)
    return replace(kpi, word=word) if accepted is None else replace(kpi, word="acknowledged", reason=accepted.sentence)


def word_of(kpi: KpiValue, change: Change, margin: float, watch: Watch = EVERYTHING) -> Word:
    """Return the verdict on a change: significant over all KPIs, at least as large as the margin, and its direction."""
    moved = change.effect.after - change.effect.before
    least = margin if watch.margin is None else watch.margin
    # a change from 0 has no relative size: any counts
    small = change.effect.change is not None and abs(change.effect.change) < least
    if change.q > FALSE_DISCOVERIES or small or moved == 0:
        return "same"
    direction: Better = watch.direction or kpi.direction
    if direction == "neither":
        return "different"
    if direction == "either":
        return "worse"
    return "better" if (moved > 0) == (direction == "higher") else "worse"
