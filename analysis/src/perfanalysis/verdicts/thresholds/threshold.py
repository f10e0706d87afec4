"""Thresholds: `{time_to_ready_p99: 5s, lost: 0, submission_rate: ">= 20/s"}`, checked before a test starts.

They limit measures, each with a unit and a better direction: the declared KPIs of every kind by their names. If a KPI
is a statistic of values, other statistics of the same values are measures too: p50, p90, p95, p99, max, mean. So are
the counts of the recorder's accounting, and the KPIs that the shipped query files of Prometheus declare.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from perfanalysis.errors import UsageError, did_you_mean
from perfanalysis.files.documents import Document, read_document
from perfanalysis.units import DURATION, SECONDS, read_duration
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.kpis import Direction, KpiValue, StatisticOf
from perfanalysis.workloads.percentiles import SHARES, STATISTICS, Method, Value, estimates, smallest_sample
from perfanalysis.workloads.prometheus.declared_kpis import shipped_metric_kpis
from perfanalysis.workloads.workload_type import Analysis

LATENCIES = "latencies"
ANY_KIND: frozenset[str] = frozenset()
"""Kinds of recordings of a measure that is not of a kind, such as a KPI of Prometheus' data."""
ACCOUNTED = "recording.json"
"""The kind of recording with a recorder's accounting."""
MEAN = "mean"
COUNTS: Mapping[str, tuple[str, Direction]] = {
    "submitted": ("workloads that the test tried to submit", "higher"),
    "completed": ("workloads that completed", "higher"),
    "failed": ("workloads that failed or that the API server refused", "lower"),
    "lost": ("workloads that were lost", "lower"),
    "running": ("workloads that had not ended at the end of the recording", "lower"),
    "churned": ("workloads that the test deleted to replace them", "neither"),
}
"""Numbers of the recorder's accounting.json that can be judged."""


@dataclass(frozen=True)
class Measure:
    """A measure's name, help, unit and direction; `of` if it is a statistic of stored values.

    `markers` are the kinds of recordings that have it.
    """

    name: str
    help: str
    unit: str
    direction: Direction
    markers: frozenset[str]
    of: StatisticOf | None = None


def declared_measures(kinds: Kinds) -> dict[str, Measure]:
    """Return every measure by name."""
    found = _of_kpis(kinds)
    counted = frozenset({ACCOUNTED})
    found |= {
        name: Measure(name, words, "workloads", direction, counted) for name, (words, direction) in COUNTS.items()
    }
    found |= {one.name: one for one in _statistics_of(found.values())}
    return {
        one.name: Measure(one.name, one.help, one.unit, one.direction, ANY_KIND) for one in shipped_metric_kpis()
    } | found


def _of_kpis(kinds: Kinds) -> dict[str, Measure]:
    """Return the KPIs of every kind; kinds that share a name must give it the same meaning."""
    found: dict[str, Measure] = {}
    for marker, kind in kinds.all.items():
        for kpi in kind.kpis:
            made = Measure(kpi.name, kpi.help, kpi.unit, kpi.direction, frozenset({marker}), kpi.of)
            before = found.get(kpi.name, made)
            if (before.unit, before.direction) != (made.unit, made.direction):
                raise ValueError(f"KPI {kpi.name} is declared twice, with different units or directions")
            found[kpi.name] = replace(before, markers=before.markers | made.markers)
    return found


def _statistics_of(declared: Iterable[Measure]) -> Iterator[Measure]:
    """Return every statistic of the values whose statistics are KPIs."""
    for of, one in {one.of.measure: (one.of, one) for one in declared if one.of is not None}.values():
        for statistic in (*STATISTICS, MEAN):
            name, words = f"{of.measure}_{statistic}", f"{statistic} of {of.help}"
            yield replace(one, name=name, help=words, of=replace(of, statistic=statistic))


def measure_of(analysis: Analysis, accounting: Document) -> Callable[[Measure], Value]:
    """Return a function that returns the value of each declared measure for one recording."""
    kpis = {value.name: value for value in analysis.kpis}

    def value_of(declared: Measure) -> Value:
        if declared.of is not None:
            values = values_of_step(analysis, declared.of.measure)
            return (
                _statistic(values, declared.of.statistic, analysis.method)
                if len(values)
                else _absent(declared.of, analysis.kpis)
            )
        if declared.name in COUNTS and analysis.place.marker == ACCOUNTED:
            return _count(accounting, declared.name)
        return kpis.get(declared.name) or Value(None, "not measured in this recording")

    return value_of


def accounting_of(analysis: Analysis) -> Document:
    """Return the recorder's accounting of a recording; empty until it has ended."""
    path = analysis.place.directory / "accounting.json"
    return read_document(path, "accounting", path.name)[0] or {}


def values_of_step(analysis: Analysis, step: str) -> NDArray[np.float64]:
    """Return the finite times of a step in seconds; of a scale test, on the client's clock, by submission."""
    for sample in analysis.samples:
        if sample.name == step:
            return sample.values[np.isfinite(sample.values)]
    frame = analysis.frames.get(LATENCIES)
    column = f"{step}_s"
    if frame is None or column not in frame.columns:
        return np.empty(0)
    values: NDArray[np.float64] = frame[column].to_numpy(dtype=float)
    return values[np.isfinite(values)]


def _absent(of: StatisticOf, kpis: Iterable[KpiValue]) -> Value:
    """Return why a measure is missing in a recording, as its KPIs state."""
    same = (kpi.reason for kpi in kpis if kpi.of is not None and kpi.of.measure == of.measure and kpi.number is None)
    return Value(None, next((reason for reason in same if reason), f"this recording has no values of {of.measure}"))


def _statistic(values: NDArray[np.float64], statistic: str, method: Method) -> Value:
    if statistic == MEAN:
        return Value(float(values.mean()), None, count=len(values)) if len(values) else Value(None, "no values")
    return estimates(values, method)[statistic]


def _count(accounting: Document, name: str) -> Value:
    value = accounting.get(name)
    if isinstance(value, int) and not isinstance(value, bool):
        return Value(float(value), None)
    return Value(None, "no accounting: the recorder has not ended, or was killed")


OPERATORS: Mapping[str, Callable[[float, float], bool]] = {
    "<=": operator.le,
    ">=": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "==": operator.eq,
}
BY_DIRECTION = {"lower": "<=", "higher": ">="}
LIMIT = re.compile(r"(?P<operator><=|>=|==|<|>)?\s*(?P<number>-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*(?P<unit>\S*)")
TIME_LIMIT = re.compile(rf"(?P<operator><=|>=|==|<|>)?\s*(?P<duration>{DURATION})")
UNITS: Mapping[str, Mapping[str, float]] = {
    "seconds": {"": 1.0, **SECONDS},
    "ratio": {"": 1.0, "%": 0.01},
    "bytes": {"": 1.0, "kB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30},
}
RATE = {"/s": 1.0, "/min": 1 / 60, "/h": 1 / 3600}
"""Suffixes of a number, by the measure's unit. For any other unit: none, or the name of the unit."""


@dataclass(frozen=True)
class Threshold:
    """A limit of a measure, in the measure's unit; `text` is the limit as the user wrote it."""

    measure: Measure
    operator: str
    limit: float
    text: str

    def holds(self, value: float) -> bool:
        """Return whether a value is within the limit."""
        return OPERATORS[self.operator](value, self.limit)

    @property
    def name(self) -> str:
        """Return the threshold in words: `time_to_ready_p99 <= 5s`."""
        bare = self.text.lstrip("<>= ")
        return f"{self.measure.name} {self.operator} {bare}"


def parse_thresholds(given: Mapping[str, object], known: Mapping[str, Measure]) -> tuple[Threshold, ...]:
    """Return the thresholds of a mapping from names to limits.

    Raises UsageError with every invalid threshold: an unknown name, an invalid limit, or a measure without a better
    direction and without an operator.
    """
    found: list[Threshold] = []
    wrong: list[str] = []
    for name, limit in given.items():
        try:
            found.append(parse_threshold(str(name), limit, known))
        except UsageError as error:
            wrong.append(str(error))
    if wrong:
        raise UsageError("; ".join(wrong))
    return tuple(found)


def check_samples(thresholds: Iterable[Threshold], kinds: Kinds, workloads: int) -> None:
    """Reject percentiles that need more values than a recording of so many workloads has.

    Raises UsageError with all of them.
    """
    once = {kpi.of.measure for kpi in kinds.all[ACCOUNTED].kpis if kpi.of is not None and kpi.of.once}
    wrong = [
        f"threshold {one.measure.name} needs {needed} workloads; a test has {workloads}"
        for one in thresholds
        if one.measure.of is not None and one.measure.of.measure in once
        for needed in (smallest_sample(SHARES.get(one.measure.of.statistic, 0.0)),)
        if needed > workloads
    ]
    if wrong:
        raise UsageError("; ".join(wrong))


def parse_threshold(name: str, limit: object, known: Mapping[str, Measure]) -> Threshold:
    """Return one threshold. Raises UsageError with the reason if it is invalid."""
    if name not in known:
        raise UsageError(f"unknown measure {name}; {_suggest(name, known)}")
    measure = known[name]
    text = str(limit).strip()
    if isinstance(limit, bool) or not isinstance(limit, int | float | str):
        raise UsageError(f"threshold {name}: invalid limit {limit!r}; {_example(measure)}")
    sign, number = _limit(text, measure)
    if sign is None:
        sign = BY_DIRECTION.get(measure.direction)
    if sign is None:
        raise UsageError(f"threshold {name}: no direction is better, so write '<= {text}' or '>= {text}'")
    return Threshold(measure, sign, number, text)


def parse_words(words: Iterable[str]) -> dict[str, str]:
    """Parse NAME=LIMIT of a command line to a mapping; in NAME>=LIMIT and similar, the operator is part of the limit.

    Raises UsageError for anything else, and for a name that is given twice.
    """
    found: dict[str, str] = {}
    for word in words:
        match = re.fullmatch(r"\s*([A-Za-z][A-Za-z0-9_]*)\s*(<=|>=|==|<|>|=)\s*(.+?)\s*", word)
        if match is None:
            raise UsageError(f"invalid threshold {word!r}; write NAME=LIMIT, such as time_to_ready_p99=5s")
        name, sign, limit = match.groups()
        if name in found:
            raise UsageError(f"threshold {name} is given twice")
        found[name] = limit if sign == "=" else f"{sign} {limit}"
    return found


def _limit(text: str, measure: Measure) -> tuple[str | None, float]:
    if measure.unit == "seconds":
        spelled = TIME_LIMIT.fullmatch(text)
        if spelled is not None:
            return spelled["operator"], read_duration(spelled["duration"])
    match = LIMIT.fullmatch(text)
    units = UNITS.get(measure.unit, {"": 1.0, measure.unit: 1.0, **(RATE if _is_rate(measure) else {})})
    if match is None or match["unit"] not in units:
        raise UsageError(f"threshold {measure.name}: {text!r} is not a limit in {measure.unit}; {_example(measure)}")
    number = float(match["number"]) * units[match["unit"]]
    if not math.isfinite(number):
        raise UsageError(f"threshold {measure.name}: {text!r} is too large")
    return match["operator"], number


def _example(measure: Measure) -> str:
    examples = {"seconds": "500ms or 5s", "ratio": "0.99 or 99%"}
    return f"write it like {examples.get(measure.unit, '20/s' if _is_rate(measure) else '10')}"


def _is_rate(measure: Measure) -> bool:
    return measure.unit.endswith("/s")


def _suggest(name: str, known: Iterable[str]) -> str:
    # the name of a step without a statistic is the likeliest mistake
    names = sorted(known)
    longer = [f"did you mean {one}?" for one in names if one.startswith(f"{name}_")]
    return did_you_mean(name, names) or next(iter(longer), "list them by `perfanalysis measures`")
