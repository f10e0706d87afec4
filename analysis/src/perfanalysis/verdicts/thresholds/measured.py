"""Everything a threshold can be set on, with its unit and the way that is better: the declared KPIs of every kind.

A KPI can be named as it is. What a KPI is a statistic of can also be named with every other one: p50, p90, p95, p99,
max, mean. Beside them stand the counts of the recorder's accounts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.files.documents import Document, read_document
from perfanalysis.workloads.kinds import Kinds
from perfanalysis.workloads.kpis import Direction, KpiValue, StatisticOf
from perfanalysis.workloads.percentiles import STATISTICS, Method, Value, estimates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfanalysis.workloads.workload_type import Analysis

LATENCIES = "latencies"
ACCOUNTED = "recording.json"
"""The kind of recording that has a recorder's accounts."""
MEAN = "mean"
COUNTS: Mapping[str, tuple[str, Direction]] = {
    "submitted": ("workloads whose submission was tried", "higher"),
    "completed": ("workloads that completed", "higher"),
    "failed": ("workloads that failed, or that the API server refused", "lower"),
    "lost": ("workloads that were lost", "lower"),
    "running": ("workloads that had not ended when the recording did", "lower"),
    "churned": ("workloads that the test deleted to put others in their place", "neither"),
}
"""Numbers of the recorder's accounting.json that can be judged."""


@dataclass(frozen=True)
class Measure:
    """A measure's name, help, unit and direction; `of` where it is a statistic of kept values.

    `markers` are the kinds of recordings that have it.
    """

    name: str
    help: str
    unit: str
    direction: Direction
    markers: frozenset[str]
    of: StatisticOf | None = None


def declared_measures(kinds: Kinds) -> dict[str, Measure]:
    """Every measure by name."""
    found = _of_kpis(kinds)
    counted = frozenset({ACCOUNTED})
    found |= {
        name: Measure(name, words, "workloads", direction, counted) for name, (words, direction) in COUNTS.items()
    }
    return found | {one.name: one for one in _statistics_of(found.values())}


def _of_kpis(kinds: Kinds) -> dict[str, Measure]:
    """The KPIs of every kind; two kinds that share a name must mean the same by it."""
    found: dict[str, Measure] = {}
    for marker, kind in kinds.all.items():
        for kpi in kind.kpis:
            made = Measure(kpi.name, kpi.help, kpi.unit, kpi.direction, frozenset({marker}), kpi.of)
            before = found.get(kpi.name, made)
            if (before.unit, before.direction) != (made.unit, made.direction):
                raise ValueError(f"KPI {kpi.name} is declared twice, with other units or directions")
            found[kpi.name] = replace(before, markers=before.markers | made.markers)
    return found


def _statistics_of(declared: Iterable[Measure]) -> Iterator[Measure]:
    """Every statistic of what KPIs are statistics of."""
    for measure, one in {one.of.measure: one for one in declared if one.of is not None}.items():
        words = "" if one.of is None else one.of.help
        for statistic in (*STATISTICS, MEAN):
            of = StatisticOf(measure, statistic, words)
            yield replace(one, name=f"{measure}_{statistic}", help=f"{statistic} of {words}", of=of)


def measure_of(analysis: Analysis, accounting: Document) -> Callable[[Measure], Value]:
    """A function that gives the value of each declared measure for one recording."""
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
    """The recorder's accounts beside a recording; empty while it has not ended."""
    path = analysis.place.directory / "accounting.json"
    return read_document(path, "accounting", path.name)[0] or {}


def values_of_step(analysis: Analysis, step: str) -> NDArray[np.float64]:
    """The finite times of a step, in seconds: of a scale test on the client's clock, in the order of submission."""
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
    """That a measure does not occur in a recording is what its KPIs say."""
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
    return Value(None, "the recorder has not stated it: it has not ended, or was killed")
