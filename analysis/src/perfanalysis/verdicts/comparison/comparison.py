"""Compare several sides with the first: each measure's distribution and each KPI, of comparable recordings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from perfanalysis.errors import AnalysisError, DataQualityError, ThresholdError, UsageError
from perfanalysis.files.discovery import Lab, labs_together
from perfanalysis.verdicts.comparison.pairs import Differing, FactDifference, Row, fact_differences, match
from perfanalysis.verdicts.comparison.sides import Recording, Sampled, Side, headings
from perfanalysis.verdicts.comparison.statistics import (
    Difference,
    Word,
    cliffs_delta,
    difference_of,
    difference_of_intervals,
)
from perfanalysis.workloads.kpis import Direction, KpiValue
from perfanalysis.workloads.percentiles import Method, Value

STATISTICS = ("p50", "p99")
MARGIN = 0.05
MOST_SIDES = 12
FORCED = "Settings that must be equal differ; the comparison was forced and does not show the cause of a change"


@dataclass(frozen=True)
class StepComparison:
    """One measure's values in A and B, such as a step's latencies of a scale test."""

    name: str
    help: str
    unit: str
    direction: Direction
    counts: tuple[int, int]
    delta: float | None
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class KpiComparison:
    """A KPI of both; `kpi` is the baseline's."""

    kpi: KpiValue
    difference: Difference


@dataclass(frozen=True)
class PairComparison:
    """The comparison of one recording of the baseline and one of another side, whose index is `run`."""

    run: int
    label: str
    labels: tuple[Mapping[str, str], Mapping[str, str]]
    settings: Mapping[str, Any]
    differing: Differing
    steps: tuple[StepComparison, ...]
    kpis: tuple[KpiComparison, ...]

    def verdicts(self) -> Iterator[tuple[str, Word | None]]:
        """Return every verdict, by name: `scheduling p99`, `makespan`."""
        for step in self.steps:
            yield from ((f"{step.name} {difference.statistic}", difference.word) for difference in step.differences)
        yield from ((each.kpi.series, each.difference.word) for each in self.kpis)


@dataclass(frozen=True)
class Group:
    """One recording of the baseline with its counterparts; `recordings` are by the indices of sides."""

    label: str
    recordings: Mapping[int, Recording]
    pairs: tuple[PairComparison, ...]


@dataclass(frozen=True)
class Comparison:
    """Sides compared with the first of them. `only` are the labels of each side's recordings without a counterpart."""

    sides: tuple[Side, ...]
    headings: tuple[str, ...]
    margin: float
    groups: tuple[Group, ...]
    only: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]
    differences: tuple[FactDifference, ...]

    @property
    def pairs(self) -> tuple[PairComparison, ...]:
        """Return all pairs of recordings."""
        return tuple(pair for group in self.groups for pair in group.pairs)

    @property
    def method(self) -> Method:
        """Return the method of the percentiles of all sides."""
        return self.sides[0].method

    @property
    def lab(self) -> Lab:
        """Return what any of them states about its lab."""
        return labs_together(side.lab for side in self.sides)

    def of(self, word: Word) -> tuple[str, ...]:
        """Return what has a verdict, as `cell 0: scheduling p99`, with the run's heading if there are several."""
        several = len(self.sides) > 2
        return tuple(
            f"{pair.label}: {name}{f' ({self.headings[pair.run]})' if several else ''}"
            for pair in self.pairs
            for name, found in pair.verdicts()
            if found == word
        )

    @property
    def data_errors(self) -> tuple[str, ...]:
        """Return what makes the numbers of any side incomplete."""
        return tuple(dict.fromkeys(error for side in self.sides for error in side.data_errors))

    def error(self, *, fail_on_worse: bool = False) -> AnalysisError | None:
        """Return the error to exit with: incomplete data first, then, if requested, KPIs that are worse."""
        if self.data_errors:
            sentences = "; ".join(self.data_errors)
            return DataQualityError(f"the data is incomplete: {sentences}. The comparison was written nevertheless")
        worse = self.of("worse") if fail_on_worse else ()
        return ThresholdError(f"{len(worse)} worse than in {self.sides[0].name}: {', '.join(worse)}") if worse else None


def compare(
    sides: Sequence[Side], *, force: bool = False, margin: float = MARGIN, ignored: frozenset[str] = frozenset()
) -> Comparison:
    """Compare every side with the first; keys in *ignored* may differ.

    Raises UsageError if there are too few or too many sides, or if their settings differ.
    """
    if not 2 <= len(sides) <= MOST_SIDES:
        raise UsageError(f"cannot compare {len(sides)} at a time: between 2 and {MOST_SIDES} are possible")
    matched = match(sides, force=force, ignored=ignored)
    sentences = dict.fromkeys(note for side in sides for note in side.notes)
    forced = any(differing for row in matched.rows for differing in row.differing.values())
    return Comparison(
        sides=tuple(sides),
        headings=headings(sides),
        margin=margin,
        groups=tuple(_group(row, margin) for row in matched.rows),
        only=tuple(tuple(recording.label for recording in recordings) for recordings in matched.only),
        notes=(*matched.notes, *sentences, *((FORCED,) if forced else ())),
        differences=fact_differences(sides),
    )


def _group(row: Row, margin: float) -> Group:
    pairs = tuple(_compare_pair(place, row, margin) for place in row.others)
    return Group(row.baseline.label, {0: row.baseline, **row.others}, pairs)


def _compare_pair(place: int, row: Row, margin: float) -> PairComparison:
    first, second = row.baseline, row.others[place]
    names = [name for name, sampled in first.samples.items() if name in second.samples and len(sampled.values)]
    names = [name for name in names if len(second.samples[name].values)]
    others = {value.series: value for value in second.kpis}
    kpis = [
        _compare_kpi(value, others.get(value.series), margin)
        for value in first.kpis
        if not (value.of and value.of.measure in names and value.of.statistic in STATISTICS)
    ]
    return PairComparison(
        run=place,
        label=first.label,
        labels=(first.labels, second.labels),
        settings=first.keys,
        differing=row.differing[place],
        steps=tuple(_compare_step(first.samples[name], second.samples[name], margin) for name in names),
        kpis=tuple(each for each in kpis if (each.difference.first, each.difference.second) != (None, None)),
    )


def _compare_step(first: Sampled, second: Sampled, margin: float) -> StepComparison:
    return StepComparison(
        name=first.name,
        help=first.help,
        unit=first.unit,
        direction=first.direction,
        counts=(len(first.values), len(second.values)),
        delta=cliffs_delta(first.values, second.values),
        differences=tuple(
            difference_of(first.values, second.values, statistic, first.direction, margin, first.unit, first.method)
            for statistic in STATISTICS
        ),
    )


def _compare_kpi(first: KpiValue, other: KpiValue | None, margin: float) -> KpiComparison:
    second: Value = Value(None, "missing in the other, or in another unit")
    if other is not None and other.unit == first.unit:
        second = other
    intervals = _interval(first), _interval(second)
    if intervals[0] is not None and intervals[1] is not None:
        judged = difference_of_intervals(intervals[0], intervals[1], first.direction, margin, first.unit)
        return KpiComparison(first, judged)
    missing = next((value.reason for value in (first, second) if value.number is None), None)
    return KpiComparison(first, Difference("value", first.number, second.number, reason=missing))


def _interval(value: Value) -> tuple[float, float, float] | None:
    if value.number is None or value.low is None or value.high is None:
        return None
    return value.number, value.low, value.high
