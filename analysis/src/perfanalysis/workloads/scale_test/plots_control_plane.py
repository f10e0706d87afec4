"""Figures of the control plane's own metrics: its load over time, and the latency of requests and of scheduling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, span
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.time_axis import WHOLE

if TYPE_CHECKING:
    import pandas as pd

TITLE = "Control plane"
MIB = 2.0**20
COMPONENTS = {"kube-apiserver": 0, "etcd": 1, "kube-scheduler": 2, "kube-controller-manager": 3}
"""Each has the same colour in every chart; others take the following ones."""
TEST_COLOUR = 8
MOST_LINES, MOST_LATENCIES = 8, 24


def control_plane_figure(measures: Measures, window: Window) -> Figure:
    """CPU, memory, requests and queues over time, latencies below; nothing where nothing was scraped."""
    series = measures.control_plane_series
    charts = [
        _by_component(series, window, "cpu", "CPU", Axis("cores", low=0.0)),
        _by_component(series, window, "memory", "Memory", Axis("MiB", low=0.0), 1 / MIB),
        _by_component(series, window, "requests", "Requests to the API server", Axis("requests per second", low=0.0)),
        _by_detail(series, window, "inflight", "Requests in flight", Axis("requests", low=0.0)),
        _by_detail(series, window, "pending_pods", "Pods in the scheduler's queues", Axis("pods", low=0.0)),
        _by_component(series, window, "db_size", "Database of etcd", Axis("MiB", low=0.0), 1 / MIB),
    ]
    shown = [chart for chart in charts if chart is not None]
    rows: list[tuple[Chart, ...]] = [tuple(shown[first : first + 2]) for first in range(0, len(shown), 2)]
    latencies = _latencies(measures.control_plane_measures)
    rows += [(latencies,)] if latencies is not None else []
    caption = (
        "From the programs' own metrics; shaded: the test, from the first submission to the last end. Rates hold for "
        "the time since the scrape before. Latencies are estimated within the buckets of histograms, over all scrapes."
    )
    return Figure("control_plane", TITLE, caption, tuple(rows))


def _lines(rows: pd.DataFrame, window: Window, factor: float) -> tuple[Layer, ...]:
    """A line for each name in the column `line`, in the order of their largest values."""
    peaks: pd.Series[float] = rows.groupby("line")["value"].max().sort_values(ascending=False, kind="stable")
    others = iter(range(len(COMPONENTS), 12))
    layers = []
    for name in [str(name) for name in peaks.index[:MOST_LINES]]:
        of = rows[rows["line"] == name].sort_values("time_s", kind="stable")
        colour = COMPONENTS[name] if name in COMPONENTS else next(others)
        time, value = of["time_s"].to_numpy(dtype=float), factor * of["value"].to_numpy(dtype=float)
        layers.append(Layer("line", name, time, value, colour))
    return (span(0.0, window.length, "test", TEST_COLOUR), *layers)


def _by_component(
    series: pd.DataFrame, window: Window, measure: str, title: str, axis: Axis, factor: float = 1.0
) -> Chart | None:
    rows = series[(series["measure"] == measure) & series["detail"].isna()]
    rows = rows.assign(line=rows["component"].astype("str"))
    return Chart(title, WHOLE, axis, _lines(rows, window, factor), height=240) if len(rows) else None


def _by_detail(series: pd.DataFrame, window: Window, measure: str, title: str, axis: Axis) -> Chart | None:
    rows = series[(series["measure"] == measure) & series["detail"].notna()]
    rows = rows.assign(line=rows["detail"].astype("str"))
    return Chart(title, WHOLE, axis, _lines(rows, window, 1.0), height=240) if len(rows) else None


def _latencies(table: pd.DataFrame) -> Chart | None:
    """Median and P99 of each histogram, on one logarithmic axis."""
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
