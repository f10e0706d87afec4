"""KPIs that query files declare: statistics of a query's values during a recording, or over the whole window.

They have no interval: the samples of a series are not independent, so that resampling would understate it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import yaml

from perfanalysis.files.documents import listing, mapping
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.units import unit_of
from perfanalysis.workloads.kpis import DIRECTIONS, Direction, KpiValue
from perfanalysis.workloads.percentiles import Method, Value, estimates
from perfanalysis.workloads.prometheus.kpis import labelled_series
from perfanalysis.workloads.prometheus_ranges import KIND, MARKER, Ranges, base_of

if TYPE_CHECKING:
    import pandas as pd

MOST_SERIES = 20
"""Queries with more series have no KPIs."""
WHOLE = "value"
"""The statistic of a query that was evaluated once, for the whole window."""
INTEGRAL = "integral"
WORDS = {"min": "Minimum", "mean": "Mean", "p95": "P95", "max": "Maximum", INTEGRAL: "Sum over time"}
INTEGRALS: Mapping[str, tuple[str, float]] = {
    "watts": ("Wh", 1 / 3600),
    "{core}": ("CPU-seconds", 1.0),
    "GPUs": ("GPU-seconds", 1.0),
}
"""The unit of a sum over time and its factor, for units that are no rate."""


@dataclass(frozen=True)
class MetricKpi:
    """A declared KPI of a query."""

    query: str
    statistic: str
    name: str
    help: str
    unit: str
    direction: Direction
    factor: float


def metric_kpis_of(query: str, statistics: Iterable[str], direction: Direction) -> tuple[MetricKpi, ...]:
    """Return the KPIs of a query. Raises ValueError with the reason if its name states no unit, or none for a sum."""
    return tuple(_metric_kpi(query, statistic, direction) for statistic in statistics)


def _metric_kpi(query: str, statistic: str, direction: Direction) -> MetricKpi:
    stem, unit, factor = base_of(query)
    if not unit:
        raise ValueError(f"the name of the query {query} states no unit")
    if statistic == WHOLE:
        return MetricKpi(query, statistic, stem, f"{query} over the whole window", unit, direction, factor)
    if statistic == INTEGRAL:
        unit, more = INTEGRALS.get(unit) or (unit.removesuffix("/s"), 1.0 if unit.endswith("/s") else 0.0)
        factor *= more
        if not more:
            raise ValueError(f"the sum of {unit} over time has no unit")
    words = f"{WORDS[statistic]} of {query} during the recording"
    return MetricKpi(query, statistic, f"{stem}_{statistic}", words, unit_of(unit).name, direction, factor)


@cache
def shipped_metric_kpis() -> tuple[MetricKpi, ...]:
    """Return the KPIs of the query files that psap.perf ships."""
    loaded = yaml.safe_load((Path(__file__).parent / "shipped_queries.yml").read_text(encoding="utf-8"))
    return tuple(
        kpi
        for query, declared in loaded.items()
        for direction, statistics in declared.items()
        for kpi in metric_kpis_of(query, statistics, direction)
    )


def recording_kpis(
    windows: Iterable[Ranges], period: tuple[float, float] | None, method: Method, *, whole: bool = True
) -> list[KpiValue]:
    """Return the declared KPIs of `windows`: of the samples within `period`, of all samples if it is None.

    With `whole`, also those of whole windows. If several windows have a KPI, the first one's is returned.
    """
    found: dict[tuple[str, str], list[KpiValue]] = {}
    for window in windows:
        for kpi in _declared(window):
            values = list(_values(window, kpi, period, method)) if whole or kpi.statistic != WHOLE else []
            if values:
                found.setdefault((kpi.query, kpi.statistic), values)
    return [value for values in found.values() for value in values]


def _declared(window: Ranges) -> Iterator[MetricKpi]:
    for entry in map(mapping, listing(RecordingFiles(window.place).document(MARKER, KIND).get("queries"))):
        direction, statistics = entry.get("direction"), entry.get("statistics")
        known = [one for one in listing(statistics) if one in (*WORDS, WHOLE)]
        if direction in DIRECTIONS:
            for statistic in known:
                try:
                    yield _metric_kpi(str(entry.get("name")), str(statistic), cast(Direction, direction))
                except ValueError:
                    # a query of the user whose name states no unit has figures only
                    continue


def _values(window: Ranges, kpi: MetricKpi, period: tuple[float, float] | None, method: Method) -> Iterator[KpiValue]:
    samples = window.samples[(window.samples["query"] == kpi.query) & window.samples["value"].notna()]
    series = list(labelled_series(samples)) if len(samples) else []
    if len(series) > MOST_SERIES:
        return
    for labels, own in series:
        within = own if period is None or kpi.statistic == WHOLE else own[own["at_s"].between(*period)]
        value = _value(kpi, within, method)
        yield KpiValue(
            None if value.number is None else kpi.factor * value.number,
            value.reason,
            count=len(within),
            name=kpi.name,
            help=kpi.help,
            unit=kpi.unit,
            direction=kpi.direction,
            labels=labels,
        )


def _value(kpi: MetricKpi, samples: pd.DataFrame, method: Method) -> Value:
    values = samples["value"].to_numpy(dtype=float)
    if not len(values):
        return Value(None, "no sample during the recording")
    single: Mapping[str, Any] = {"min": np.min, "mean": np.mean, "max": np.max, WHOLE: np.max}
    if kpi.statistic in single:
        return Value(float(single[kpi.statistic](values)))
    if kpi.statistic == INTEGRAL:
        if len(values) < 2:
            return Value(None, "a sum over time needs two samples, found one")
        times = samples["at_s"].to_numpy(dtype=float)
        return Value(float(np.sum(np.diff(times) * (values[1:] + values[:-1]) / 2)))
    found = estimates(values, method)[kpi.statistic]
    return Value(found.number, found.reason if found.number is None else None)
