"""Figures of evictions: when, for whom, and how long until a replacement had a node."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, histogram, seconds_scale
from perfanalysis.workloads.scale_test.activity import Window, first_times
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.plots_nodes import node_moments
from perfanalysis.workloads.scale_test.time_axis import EVICTED, SINCE

if TYPE_CHECKING:
    from numpy.typing import NDArray

TITLE = "Evictions and preemption"
PREEMPTED, OTHERS, AGAIN = 3, 5, 2
MOST_PAIRS = 12


def evictions_figure(measures: Measures, window: Window) -> Figure:
    """How many over time, by priorities, and the time to a new node; nothing without evictions."""
    table = measures.evictions
    if not len(table):
        return Figure("evictions", TITLE, "", ())
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
    return Figure("evictions", TITLE, _caption(table, preempted), tuple(rows))


def _caption(table: pd.DataFrame, preempted: NDArray[np.bool_]) -> str:
    text = f"{len(table)} evictions, {int(preempted.sum())} of them to make place for work of higher priority."
    again = int(table["rescheduled_s"].notna().sum())
    return f"{text} Replacements of {again} of them were bound to a node: below, how long after the eviction."


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
    known = np.isfinite(times) & np.isfinite(values)
    if not known.any():
        return []
    factor, unit = seconds_scale(values)
    values = values * factor
    axis = Axis("", unit, low=min(0.0, float(np.nanmin(values))), high=1.04 * float(np.nanmax(values)) or 1.0)
    points = Layer("points", "rescheduling", times[known], values[known], AGAIN)
    beside = Axis("", unit, low=axis.low, high=axis.high, labelled=False)
    bars = histogram(values, "rescheduling", AGAIN)
    return [
        (
            Chart("From the eviction to a node for the replacement", EVICTED, axis, (points,), share=3.4, height=200),
            Chart("", Axis("evictions", low=0.0, whole=True), beside, (bars,), height=200),
        )
    ]


def rescheduling_by_submission(
    measures: Measures, window: Window
) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
    """When the workload of each eviction was sent, and the time to a new node; None when no replacement had one."""
    table = measures.evictions[measures.evictions["rescheduling_s"].notna()]
    if not len(table):
        return None
    names = pd.Index(measures.workloads["workload"].astype("str"))
    sent: NDArray[np.float64] = first_times(measures.workloads) - window.start
    return sent[names.get_indexer(pd.Index(table["workload"].astype("str")))], table["rescheduling_s"].to_numpy(
        dtype=float
    )
