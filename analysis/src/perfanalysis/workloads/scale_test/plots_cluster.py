"""Figures of the cluster: evictions and preemption, placement in the topology, the control plane."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, in_rows, span
from perfanalysis.drawing.over_time import row_of
from perfanalysis.workloads.scale_test.activity import Window, first_times
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.placements import at_smallest_level, smallest_level
from perfanalysis.workloads.scale_test.plots_over_time import EVICTED, SINCE, WHOLE, node_moments, occupation_chart

EVICTIONS = "Evictions and preemption"
PREEMPTED, OTHERS, AGAIN = 3, 5, 2
MOST_PAIRS = 12


def evictions_figure(measures: Measures, window: Window) -> Figure:
    """Return evictions over time, by priorities, and the time to a new node; empty without evictions."""
    table = measures.evictions
    if not len(table):
        return Figure("evictions", EVICTIONS, "", ())
    preempted = table["preempted"].fillna(False).to_numpy(dtype=bool)
    times = table["evicted_s"].to_numpy(dtype=float) - window.start
    layers = (
        _so_far(times[preempted], window, "preempted", PREEMPTED),
        _so_far(times[~preempted], window, "evicted otherwise", OTHERS),
    )
    marked = (*node_moments(measures), *(layer for layer in layers if layer.y.any()))
    counts = Chart("Evicted so far", SINCE, Axis("objects", low=0.0, whole=True), marked, share=1.4, height=260)
    pairs = _by_priority(measures.preemptions_by_priority)
    rows: list[tuple[Chart, ...]] = [(counts, pairs) if pairs else (counts,)]
    rows += _rescheduling(times, table["rescheduling_s"].to_numpy(dtype=float))
    return Figure("evictions", EVICTIONS, _caption(table, preempted), tuple(rows))


def _caption(table: pd.DataFrame, preempted: NDArray[np.bool_]) -> str:
    text = f"{len(table)} evictions, {int(preempted.sum())} of them to make room for other workloads."
    again = int(table["rescheduled_s"].notna().sum())
    return f"{text} {again} of them had a replacement bound to a node: below, the time since the eviction."


def _so_far(times: NDArray[np.float64], window: Window, label: str, colour: int) -> Layer:
    ordered = np.sort(times[np.isfinite(times)])
    x = np.concatenate(([0.0], ordered, [window.length]))
    y = np.concatenate((np.arange(len(ordered) + 1), [len(ordered)])).astype(float)
    return Layer("steps", label, x, y, colour)


def _by_priority(table: pd.DataFrame) -> Chart | None:
    rows = table.head(MOST_PAIRS).to_dict("records")
    if not rows:
        return None
    names = tuple(f"{_priority(row['victim_priority'])} for {_priority(row['preemptor_priority'])}" for row in rows)
    pods = np.array([float(row["pods"]) for row in rows])
    layer = Layer("sidebars", "pods", pods, np.arange(len(rows), dtype=float), PREEMPTED, width=0.6)
    axis = Axis("pods", low=0.0, whole=True)
    return Chart("Priority of victim and preemptor", axis, Axis("", categories=names), (layer,), height=260)


def _priority(value: Any) -> str:
    return "unknown" if pd.isna(value) else str(value)


def _rescheduling(times: NDArray[np.float64], values: NDArray[np.float64]) -> list[tuple[Chart, ...]]:
    if not (np.isfinite(times) & np.isfinite(values)).any():
        return []
    title = "From the eviction to a node for the replacement"
    counted = Axis("evictions", low=0.0, whole=True)
    return [row_of("rescheduling", title, EVICTED, times, values, colour=AGAIN, height=200, counted=counted)]


def rescheduling_by_submission(
    measures: Measures, window: Window
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """Return when the workload of each eviction was sent, and the time to a new node; None without a replacement."""
    table = measures.evictions[measures.evictions["rescheduling_s"].notna()]
    if not len(table):
        return None
    names = pd.Index(measures.workloads["workload"].astype("str"))
    sent: NDArray[np.float64] = first_times(measures.workloads) - window.start
    return sent[names.get_indexer(pd.Index(table["workload"].astype("str")))], table["rescheduling_s"].to_numpy(
        dtype=float
    )


PLACEMENT = "Placement"
BOUND, FEWEST = 0, 3
BESIDE = 0.2
"""Half the distance between two bars of one number of domains."""


def placement_figure(measures: Measures, window: Window) -> Figure:
    """Return the occupation of the smallest domains over time, and how many of them gangs span; empty without any."""
    table = at_smallest_level(measures.placements)
    level = smallest_level(measures.placements)
    if level is None or not len(table):
        return Figure("placement", PLACEMENT, "", ())
    each = level.rpartition("/")[2]
    found = measures.domain_occupation
    rows: list[tuple[Chart, ...]] = [(occupation_chart(found, measures, window, each),)] if found else []
    caption = (
        f"Above: each row is a {each} or a group of them, by name. Below: gangs by the number of these domains in "
        "which their pods were bound, beside the fewest that could have held each gang at its admission."
    )
    charts = (_by_domains(table, each), _by_size(table, each))
    rows.append(tuple(chart for chart in charts if chart is not None))
    return Figure("placement", PLACEMENT, caption, tuple(rows))


def _by_domains(table: pd.DataFrame, each: str) -> Chart:
    layers = []
    for name, label, colour, shift in (("domains", "bound", BOUND, -BESIDE), ("fewest", "fewest", FEWEST, BESIDE)):
        numbers, counts = np.unique(table[name].dropna().to_numpy(dtype=float), return_counts=True)
        if len(numbers):
            layers.append(Layer("bars", label, numbers + shift, counts.astype(float), colour, width=2 * BESIDE))
    most = float(table[["domains", "fewest"]].to_numpy(dtype=float, na_value=0.0).max())
    x = Axis(f"domains ({each})", low=0.0, high=most + 2 * BESIDE, whole=True)
    y = Axis("gangs", low=0.0, whole=True)
    return Chart("Gangs by domains spanned", x, y, tuple(layers))


def _by_size(table: pd.DataFrame, each: str) -> Chart | None:
    """Return the mean number of domains by the number of pods; None if all gangs have one size."""
    means = table.groupby("pods")[["domains", "fewest"]].mean()
    if len(means) < 2:
        return None
    sizes = means.index.to_numpy(dtype=float)
    layers = tuple(
        Layer("line", label, sizes, means[name].to_numpy(dtype=float), colour, dots=True)
        for name, label, colour in (("domains", "bound", BOUND), ("fewest", "fewest", FEWEST))
    )
    x, y = Axis("pods of a gang", low=0.0, whole=True), Axis(f"domains ({each}), mean", low=0.0)
    return Chart("Domains spanned by size", x, y, layers)


CONTROL_PLANE = "Control plane"
MIB = 2.0**20
COMPONENTS = {"kube-apiserver": 0, "etcd": 1, "kube-scheduler": 2, "kube-controller-manager": 3}
"""Each has the same colour in every chart; others have the following colours."""
TEST_COLOUR = 8
MOST_LINES, MOST_LATENCIES = 8, 24


def control_plane_figure(measures: Measures, window: Window) -> Figure:
    """Return CPU, memory, requests and queues over time, latencies below; empty if nothing was scraped."""
    series = measures.control_plane_series
    cores, mib = Axis("cores", low=0.0), Axis("MiB", low=0.0)
    per_second, requests = Axis("requests per second", low=0.0), Axis("requests", low=0.0)
    charts = [
        _over_time(series, window, "component", "cpu", "CPU", cores),
        _over_time(series, window, "component", "memory", "Memory", mib, 1 / MIB),
        _over_time(series, window, "component", "requests", "Requests to the API server", per_second),
        _over_time(series, window, "detail", "inflight", "Requests in flight", requests),
        _over_time(series, window, "detail", "pending_pods", "Pods in the scheduler's queues", Axis("pods", low=0.0)),
        _over_time(series, window, "component", "db_size", "Database of etcd", mib, 1 / MIB),
    ]
    shown = [chart for chart in charts if chart is not None]
    latencies = _latencies(measures.control_plane_measures)
    rows = (*in_rows(shown), *(((latencies,),) if latencies is not None else ()))
    caption = (
        "From the programs' own metrics; shaded: the test, from the first submission to the last end. Rates "
        "are means since the previous scrape. Latencies are estimated within the buckets of histograms, over "
        "all scrapes."
    )
    return Figure("control_plane", CONTROL_PLANE, caption, rows)


def _lines(rows: pd.DataFrame, window: Window, factor: float) -> tuple[Layer, ...]:
    """Return a line for each name in the column `line`, in the order of their largest values."""
    peaks: pd.Series[float] = rows.groupby("line")["value"].max().sort_values(ascending=False, kind="stable")
    others = iter(range(len(COMPONENTS), 12))
    layers = []
    for name in [str(name) for name in peaks.index[:MOST_LINES]]:
        of = rows[rows["line"] == name].sort_values("time_s", kind="stable")
        colour = COMPONENTS[name] if name in COMPONENTS else next(others)
        time, value = of["time_s"].to_numpy(dtype=float), factor * of["value"].to_numpy(dtype=float)
        layers.append(Layer("line", name, time, value, colour))
    return (span(0.0, window.length, "test", TEST_COLOUR), *layers)


def _over_time(
    series: pd.DataFrame, window: Window, by: str, measure: str, title: str, axis: Axis, factor: float = 1.0
) -> Chart | None:
    """Return a measure with a line for each component or for each detail; None if it was not scraped."""
    rows = series[(series["measure"] == measure) & (series["detail"].notna() == (by == "detail"))]
    rows = rows.assign(line=rows[by].astype("str"))
    return Chart(title, WHOLE, axis, _lines(rows, window, factor), height=240) if len(rows) else None


def _latencies(table: pd.DataFrame) -> Chart | None:
    """Return median and P99 of each histogram, on one logarithmic axis."""
    rows = table[(table["unit"] == "seconds") & (table["value"] > 0)]
    of_rows = zip(rows["component"], rows["measure"], rows["detail"], strict=True)
    rows = rows.assign(name=[_latency_name(*of) for of in of_rows])
    names = list(dict.fromkeys(rows["name"]))[:MOST_LATENCIES]
    if not names:
        return None
    layers = []
    for colour, statistic in enumerate(("p50", "p99")):
        of = rows[rows["statistic"] == statistic].drop_duplicates("name").set_index("name")["value"]
        values = of.reindex(names).to_numpy(dtype=float)
        layers.append(Layer("ranges", statistic.upper(), values, np.arange(len(names), dtype=float), colour))
    values = rows["value"].to_numpy(dtype=float)
    ends = 10 ** np.floor(np.log10(values.min())), float(values.max()) * 1.3
    axis = Axis("latency", "s", "log", float(ends[0]), ends[1])
    return Chart("Latencies", axis, Axis("", categories=tuple(names)), tuple(layers), height=60 + 24 * len(names))


def _latency_name(component: object, measure: object, detail: object) -> str:
    words = str(measure).removesuffix("_latency").replace("_", " ")
    return f"{component}: {words}{f' {detail}' if isinstance(detail, str) else ''}"
