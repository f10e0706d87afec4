"""KPIs of imported responses of a Prometheus: of each series mean, P50, P95 and maximum over the window.

They have no interval: the samples of a series are not independent, so that resampling would understate it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.wording import counted
from perfanalysis.files.discovery import Lab
from perfanalysis.files.documents import listing, mapping, number_or, text_or_none
from perfanalysis.files.findings import Finding
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.units import unit_of
from perfanalysis.workloads.kpis import Direction, KpiValue, StatisticOf
from perfanalysis.workloads.percentiles import Method, estimates
from perfanalysis.workloads.prometheus_ranges import KIND, MARKER, Ranges, base_of, labels_of
from perfanalysis.workloads.workload_type import Analysis

if TYPE_CHECKING:
    import pandas as pd

MOST_SERIES = 50
"""Single series of a query with more are not KPIs: there would be too many."""
COUNTER = re.compile(r"_(total|bucket|count|sum)$")
STATISTICS = {"mean": "mean", "p50": "P50", "p95": "P95", "max": "maximum"}


@dataclass(frozen=True)
class Query:
    """A query: its KPIs' names without their statistic, their unit, and the factor of its samples."""

    query: str
    stem: str
    unit: str
    factor: float
    direction: Direction


def metric_analyses(windows: tuple[Ranges, ...], method: Method) -> tuple[Analysis, ...]:
    """Return an analysis of KPIs alone for each window; findings name every query without KPIs, and why."""
    return tuple(_analysis(window, method) for window in windows)


def _analysis(window: Ranges, method: Method) -> Analysis:
    kpis: list[KpiValue] = []
    findings: list[Finding] = []
    queries = listing(RecordingFiles(window.place).document(MARKER, KIND).get("queries"))
    declared = {str(one.get("name")): one for one in map(mapping, queries)}
    samples = window.samples.dropna(subset=["value"])
    names = list(dict.fromkeys(str(name) for name in samples["query"]))
    stems = [base_of(name)[0] for name in names]
    for name, stem in zip(names, stems, strict=True):
        of_query = samples[samples["query"] == name]
        query = _query(name, stem if stems.count(stem) == 1 else name, declared.get(name, {}))
        problem = _problem(name, query, of_query)
        if query is None or problem:
            findings.append(Finding("note", window.place.relative, f"no KPIs of {name}: {problem}"))
        else:
            kpis += _kpis(query, of_query, method)
    return Analysis(
        place=window.place,
        title="Metrics",
        lab=Lab(),
        frames={},
        specs={},
        kpis=tuple(kpis),
        samples=(),
        make_sections=tuple,
        findings=tuple(findings),
        method=method,
    )


def _query(name: str, stem: str, declared: Mapping[str, Any]) -> Query | None:
    """Return the unit: as declared in the import, else by the name; None if neither states it."""
    _, unit, factor = base_of(name)
    unit, factor = text_or_none(declared.get("unit")) or unit, number_or(declared.get("factor"), factor)
    try:
        unit_of(unit)
    except ValueError:
        return None
    direction = declared.get("direction")
    better = cast(Direction, direction) if direction in get_args(Direction) else "neither"
    return Query(name, _identifier(stem), unit, factor, better)


def _identifier(name: str) -> str:
    """Return a name in the form of KPIs' names."""
    found = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return found if found[:1].isalpha() else f"query_{found}"


def _problem(name: str, query: Query | None, samples: pd.DataFrame) -> str:
    metrics = {name, *(str(metric) for metric in samples["metric"].dropna().unique())}
    counters = sorted(metric for metric in metrics if COUNTER.search(metric))
    if counters:
        return f"{counters[0]} only grows, or is part of a histogram; query its rate"
    if query is None:
        return f"its unit is unknown; name the file after its unit, or import it with --unit '{name}=UNIT'"
    series = len(samples.groupby(["metric", "labels"], observed=True, dropna=False))
    return f"it has {counted(series, 'series', 'series')}; query a sum or an average" if series > MOST_SERIES else ""


def _kpis(query: Query, samples: pd.DataFrame, method: Method) -> Iterator[KpiValue]:
    for own, group in labelled_series(samples):
        values = query.factor * group["value"].to_numpy(dtype=float)
        for statistic, (number, reason) in _statistics(values, method).items():
            words = f"{STATISTICS[statistic]} of {query.query} over the window"
            yield KpiValue(
                name=f"{query.stem}_{statistic}",
                help=words,
                unit=query.unit,
                direction=query.direction,
                number=number,
                reason=reason,
                count=len(values),
                labels=own,
                of=StatisticOf(query.stem, statistic, f"{query.query} over the window"),
            )


def labelled_series(samples: pd.DataFrame) -> Iterator[tuple[dict[str, str], pd.DataFrame]]:
    """Yield the samples of each series of a query with the labels that distinguish it from the others."""
    groups = list(samples.groupby(["metric", "labels"], observed=True, dropna=False, sort=True))
    labels = [_labels(*key) for key, _ in groups]
    # labels that all series share distinguish nothing
    varying = sorted({name for one in labels for name in one if len({other.get(name) for other in labels}) > 1})
    for one, (_, group) in zip(labels, groups, strict=True):
        yield {name: one[name] for name in varying if name in one}, group


def _labels(metric: Any, labels: Any) -> dict[str, str]:
    named = {"metric": metric} if isinstance(metric, str) else {}
    return {**named, **{str(name): str(text) for name, text in labels_of(str(labels)).items()}}


def _statistics(values: NDArray[np.float64], method: Method) -> dict[str, tuple[float | None, str | None]]:
    found = {
        name: (value.number, value.reason if value.number is None else None)
        for name, value in estimates(values, method).items()
    }
    found["mean"] = (float(values.mean()), None)
    return {statistic: found[statistic] for statistic in STATISTICS}
