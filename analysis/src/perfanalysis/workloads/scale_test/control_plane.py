"""Measures of the control plane from scraped metrics: increases of counters over a test, percentiles of histograms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.percentiles import SHARES, Value, smallest_sample
from perfanalysis.workloads.scale_test.activity import Window

LABELS = (
    *("component", "metric", "verb", "code", "resource", "subresource", "operation"),
    *("queue", "name", "result", "extension_point", "request_kind", "le"),
)


def with_increases(samples: pd.DataFrame) -> pd.DataFrame:
    """Return the samples in the order of time, with the `increase` since the previous sample of the same series.

    A counter that decreased was reset by a restart: its value was counted since. A series that is missing in its
    component's first scrape began at 0. No increase is known at the first scrape.
    """
    frame = samples.sort_values("at_s", kind="stable", ignore_index=True)
    series = _series(frame)
    before = frame["value"].groupby(series).shift()
    first = frame["at_s"] <= frame.groupby("component", observed=True)["at_s"].transform("min")
    fell = before.isna() | (frame["value"] < before)
    increase = frame["value"].where(fell, frame["value"] - before).where(~(first & before.isna()), 0.0)
    return frame.assign(increase=increase, series=series)


def _series(frame: pd.DataFrame) -> NDArray[np.int64]:
    """Return one number for each combination of labels."""
    number = np.zeros(len(frame), dtype="int64")
    for label in LABELS:
        column = frame[label].cat
        number = number * (len(column.categories) + 1) + column.codes.to_numpy() + 1
    return np.asarray(pd.factorize(number)[0])


def quantile(bounds: NDArray[np.float64], counts: NDArray[np.float64], share: float) -> Value:
    """Return a percentile by linear interpolation within its bucket, assuming evenly spread values.

    `bounds` are the buckets' upper bounds, ascending; `counts` are the numbers of values below each bound. Refused
    below the smallest sample of the percentile, and above the largest finite bound.
    """
    cumulative = np.maximum.accumulate(counts)
    total = float(cumulative[-1]) if len(cumulative) else 0.0
    number = round(total)
    needed = smallest_sample(share)
    if number < needed:
        return Value(None, f"needs {needed} values, found {number}", count=number)
    place = int(np.searchsorted(cumulative, share * total, side="left"))
    if not np.isfinite(bounds[place]):
        finite = bounds[np.isfinite(bounds)]
        reason = f"above the largest bucket, {finite[-1] if len(finite) else 0:g} s"
        return Value(None, reason, count=number)
    below = float(cumulative[place - 1]) if place else 0.0
    lower = float(bounds[place - 1]) if place else 0.0
    inside = (share * total - below) / (float(cumulative[place]) - below)
    return Value(lower + (float(bounds[place]) - lower) * inside, count=number)


def buckets(rows: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return bounds and increases of a histogram's rows, summed over all labels except `le`."""
    summed = rows.groupby("le", observed=True)["increase"].sum()
    texts: list[Any] = list(summed.index)
    bounds = np.array([np.inf if str(text) == "+Inf" else float(text) for text in texts])
    order = np.argsort(bounds)
    return bounds[order], summed.to_numpy(dtype=float)[order]


MEASURES = TableSpec(
    "control_plane_measures",
    "The control plane's metrics between the first and the last scrape",
    (
        Column("component", "text", "program of the control plane"),
        Column("measure", "text", "the measure"),
        Column("detail", "text", "which part: verb, status, queue, result, …; null for all together"),
        Column("statistic", "text", "p50, p99, total, ratio, peak or growth"),
        Column("value", "number", "the statistic, in `unit`"),
        Column("unit", "text", "unit of the value"),
        Column("count", "integer", "number of values it was computed from"),
        Column("reason", "text", "why the value is missing"),
    ),
)
SERIES = TableSpec(
    "control_plane_series",
    "Load of the control plane over time, one row per scrape",
    (
        Column("time_s", "number", "when it was scraped, since the first submission", "s"),
        Column("component", "text", "program of the control plane"),
        Column("measure", "text", "cpu, memory, requests, errors, inflight, pending_pods, queue_depth or db_size"),
        Column("detail", "text", "verb, queue, …; null for all together"),
        Column("value", "number", "rates: since the scrape before; others: at the scrape"),
        Column("unit", "text", "unit of the value"),
    ),
)
GIVEN = ("p50", "p99")


@dataclass(frozen=True)
class Histogram:
    """A latency in a histogram, separate for each value of a label (together without one)."""

    measure: str
    metric: str
    label: str | None = None
    together: bool = True
    """Whether the sum over all values of the label has a meaning: the sum of parts of one cycle has none."""


@dataclass(frozen=True)
class Counter:
    """A growing number: its increase over the test, and over time its rate."""

    measure: str
    metric: str
    unit: str
    label: str | None = None
    course: str | None = None
    rate: str = ""


@dataclass(frozen=True)
class Gauge:
    """A varying number: its peak, and its growth from first to last if that has a meaning."""

    measure: str
    metric: str
    unit: str
    label: str | None = None
    course: str | None = None
    grows: bool = False


HISTOGRAMS = (
    Histogram("request_latency", "apiserver_request_duration_seconds", "verb"),
    Histogram("etcd_request_latency", "etcd_request_duration_seconds", "operation"),
    Histogram("attempt_latency", "scheduler_scheduling_attempt_duration_seconds", "result"),
    Histogram("algorithm_latency", "scheduler_scheduling_algorithm_duration_seconds"),
    Histogram(
        "extension_point_latency",
        "scheduler_framework_extension_point_duration_seconds",
        "extension_point",
        together=False,
    ),
    Histogram("scheduling_latency", "scheduler_pod_scheduling_sli_duration_seconds"),
    Histogram("fsync_latency", "etcd_disk_wal_fsync_duration_seconds"),
    Histogram("commit_latency", "etcd_disk_backend_commit_duration_seconds"),
    Histogram("admission_attempt_latency", "kueue_admission_attempt_duration_seconds", "result"),
    Histogram("admission_wait", "kueue_admission_wait_time_seconds"),
)
COUNTERS = (
    Counter("cpu", "process_cpu_seconds_total", "CPU-seconds", course="cpu", rate="cores"),
    Counter("requests", "apiserver_request_total", "requests", "verb", course="requests", rate="requests/s"),
    Counter("answers", "apiserver_request_total", "requests", "code"),
    Counter("attempts", "scheduler_scheduling_attempt_duration_seconds_count", "attempts", "result"),
    Counter("admissions", "kueue_admitted_workloads_total", "workloads"),
    Counter("evictions", "kueue_evicted_workloads_total", "workloads"),
    Counter("preemption_attempts", "scheduler_preemption_attempts_total", "attempts"),
    Counter("preemption_victims", "scheduler_preemption_victims_sum", "pods"),
)
GAUGES = (
    Gauge("memory", "process_resident_memory_bytes", "bytes", course="memory"),
    Gauge("inflight", "apiserver_current_inflight_requests", "requests", "request_kind", course="inflight"),
    Gauge("pending_pods", "scheduler_pending_pods", "pods", "queue", course="pending_pods"),
    Gauge("queue_depth", "workqueue_depth", "objects", "name", course="queue_depth"),
    Gauge("db_size", "etcd_mvcc_db_total_size_in_bytes", "bytes", course="db_size", grows=True),
)


def control_plane_tables(samples: pd.DataFrame, window: Window | None) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the tables MEASURES and SERIES; empty if nothing was scraped."""
    if not len(samples):
        return MEASURES.empty(), SERIES.empty()
    scraped = with_increases(samples)
    by_metric = dict(iter(scraped.groupby(scraped["metric"].astype("object"), sort=False)))
    scrapes = {str(name): of["at_s"].nunique() for name, of in scraped.groupby("component", observed=True)}
    rows = [*_histograms(by_metric), *_counters(by_metric, scrapes), *_ratios(by_metric), *_gauges(by_metric)]
    measures = MEASURES.of_rows(rows)
    begin = window.start if window else float(scraped["at_s"].iloc[0])
    course = [*_rates(by_metric), *_levels(by_metric)]
    if not course:
        return measures, SERIES.empty()
    series = pd.concat(course, ignore_index=True)
    return measures, SERIES.conform(series.assign(time_s=series["at_s"] - begin))


def _parts(rows: pd.DataFrame, label: str | None) -> Iterator[tuple[str, str | None, pd.DataFrame]]:
    """Return the rows of each component by a label's values, and all of them together."""
    for component, of_component in rows.groupby(rows["component"].astype("object"), sort=True):
        if label is not None:
            for detail, part in of_component.groupby(of_component[label].astype("object"), sort=True):
                yield str(component), str(detail), part
        yield str(component), None, of_component


def _histograms(by_metric: dict[Any, pd.DataFrame]) -> Iterator[tuple[Any, ...]]:
    for one in HISTOGRAMS:
        rows = by_metric.get(f"{one.metric}_bucket")
        if rows is None:
            continue
        found = _percentiles(one.measure, rows, one.label)
        yield from (row for row in found if one.together or row[2] is not None)
        if one.measure == "request_latency":
            bindings = rows[(rows["verb"] == "POST") & (rows["subresource"] == "binding")]
            yield from _percentiles("bind_request_latency", bindings, None)


def _percentiles(measure: str, rows: pd.DataFrame, label: str | None) -> Iterator[tuple[Any, ...]]:
    for component, detail, part in _parts(rows, label):
        bounds, counts = buckets(part)
        for statistic in GIVEN:
            found = quantile(bounds, counts, SHARES[statistic])
            if found.count:
                yield component, measure, detail, statistic, found.number, "seconds", found.count, found.reason


def _counters(by_metric: dict[Any, pd.DataFrame], scrapes: dict[str, int]) -> Iterator[tuple[Any, ...]]:
    for one in COUNTERS:
        rows = by_metric.get(one.metric)
        if rows is None:
            continue
        for component, detail, part in _parts(rows, one.label):
            number = scrapes[component]
            value, reason = (float(part["increase"].sum()), None) if number > 1 else (None, "scraped only once")
            yield component, one.measure, detail, "total", value, one.unit, number, reason


def _ratios(by_metric: dict[Any, pd.DataFrame]) -> Iterator[tuple[Any, ...]]:
    """Return requests that the server failed (5xx) or rejected (429), of all."""
    rows = by_metric.get("apiserver_request_total")
    if rows is None:
        return
    code = rows["code"].astype("object").fillna("").astype("str")
    for component, _, part in _parts(rows, None):
        total = float(part["increase"].sum())
        for measure, chosen in (("errors", code.str.startswith("5")), ("throttled", code == "429")):
            count = float(part["increase"][chosen.reindex(part.index)].sum())
            value, reason = (count / total, None) if total > 0 else (None, "no requests between the scrapes")
            yield component, measure, None, "ratio", value, "ratio", round(total), reason


def _at_each_scrape(rows: pd.DataFrame, column: str) -> pd.Series[Any]:
    """Return the sum over all series at each scrape, by its time."""
    return rows.groupby("at_s")[column].sum()


def _gauges(by_metric: dict[Any, pd.DataFrame]) -> Iterator[tuple[Any, ...]]:
    for one in GAUGES:
        rows = by_metric.get(one.metric)
        if rows is None:
            continue
        for component, detail, part in _parts(rows, one.label):
            level = _at_each_scrape(part, "value")
            yield component, one.measure, detail, "peak", float(level.max()), one.unit, len(level), None
            if one.grows:
                growth = float(level.iloc[-1] - level.iloc[0]) if len(level) > 1 else None
                reason = None if growth is not None else "scraped only once"
                yield component, one.measure, detail, "growth", growth, one.unit, len(level), reason


def _rates(by_metric: dict[Any, pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Return the increase per second since the previous scrape, of each counter with a chart over time."""
    for one in COUNTERS:
        rows = by_metric.get(one.metric)
        if rows is None or one.course is None:
            continue
        for component, _, part in _parts(rows, None):
            yield _rate(component, one.course, one.rate, _at_each_scrape(part, "increase"))
            if one.metric == "apiserver_request_total":
                failed = part["code"].astype("object").fillna("").astype("str").str.startswith("5")
                errors = _at_each_scrape(part.assign(increase=part["increase"].where(failed, 0.0)), "increase")
                yield _rate(component, "errors", one.rate, errors)


def _rate(component: str, measure: str, unit: str, increase: pd.Series[Any]) -> pd.DataFrame:
    moments = increase.index.to_numpy(dtype=float)
    values = increase.to_numpy(dtype=float)[1:] / np.diff(moments)
    return _course(component, measure, None, unit, moments[1:], values)


def _levels(by_metric: dict[Any, pd.DataFrame]) -> Iterator[pd.DataFrame]:
    for one in GAUGES:
        rows = by_metric.get(one.metric)
        if rows is None or one.course is None:
            continue
        for component, detail, part in _parts(rows, one.label):
            level = _at_each_scrape(part, "value")
            moments = level.index.to_numpy(dtype=float)
            yield _course(component, one.course, detail, one.unit, moments, level.to_numpy(dtype=float))


def _course(component: str, measure: str, detail: str | None, unit: str, moments: Any, values: Any) -> pd.DataFrame:
    named = {"component": component, "measure": measure, "detail": detail, "unit": unit}
    return pd.DataFrame({"at_s": moments, "value": values}).assign(**named)
