"""The two plots of the scale-test-tool from its own files: sorted once, so that every point is one workload."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.blocks import DASH, duration
from perfanalysis.drawing.charts import Axis, Chart, Figure
from perfanalysis.drawing.over_time import row_of
from perfanalysis.imports.scale_test_tool.records import DELTAS, STAMPS, SUBMITTED, Columns, Delta, resolution
from perfanalysis.workloads.percentiles import STATED, STATISTICS, Method, Value, estimates
from perfanalysis.workloads.workload_type import Selection

HEADINGS = {**{stamp.name: stamp.heading for stamp in STAMPS}, SUBMITTED: "Workload Submitted"}
NUMBER = Axis("number of the workload in the order of submission", low=0.0, whole=True)
SINCE = Axis("time of submission, since the first submission", "s", low=0.0)
TOTALS = tuple(delta for delta in DELTAS if delta.start == SUBMITTED and delta.heading.startswith("Total"))
IN_TITLE = {"p50": "median", "p99": "P99"}


def in_order(workloads: Columns, selection: Selection | None = None) -> Columns:
    """Return the workloads that were submitted and sampled, by time of submission; equal times keep their order."""
    known = np.flatnonzero(np.isfinite(workloads.time(SUBMITTED)) & np.isfinite(workloads.time("scheduled")))
    ordered = known[np.argsort(workloads.time(SUBMITTED)[known], kind="stable")]
    return workloads.take(ordered if selection is None else selection.of(ordered.tolist()))


def general_figure(workloads: Columns, marks: tuple[str, ...] = (), method: Method = "linear") -> Figure:
    """Return the time to the scheduling decision, by number; and to the backend's job if that was sampled."""
    numbers = np.arange(len(workloads), dtype=float)
    rows = tuple(_row(workloads, delta, NUMBER, numbers, method, height=260) for delta in _known(workloads, TOTALS))
    caption = f"Each point is one workload; on the right, the distribution of the same values. {STATED[method]}"
    return Figure("general", f"Time to the scheduling decision of {len(workloads)} workloads", caption, rows, marks)


def detailed_figure(workloads: Columns, marks: tuple[str, ...] = (), method: Method = "linear") -> Figure:
    """Return one row for each difference with values in the files."""
    sent = workloads.time(SUBMITTED)
    since = sent - sent.min() if len(sent) else sent
    parts = _known(workloads, (delta for delta in DELTAS if delta not in TOTALS))
    rows = tuple(_row(workloads, delta, SINCE, since, method, height=170) for delta in parts)
    caption = f"One row for each difference; each row shows a workload at its time of submission. {STATED[method]}"
    return Figure("detailed", f"Steps of {len(workloads)} workloads over time", caption, rows, marks)


def _known(workloads: Columns, deltas: Iterable[Delta]) -> tuple[Delta, ...]:
    return tuple(delta for delta in deltas if np.isfinite(workloads.delta(delta)).any())


def _row(
    workloads: Columns, delta: Delta, x_axis: Axis, x: NDArray[np.float64], method: Method, *, height: int
) -> tuple[Chart, ...]:
    values = workloads.delta(delta)
    title = f"{formula(delta)} \u00b7 {_statistics(values, method)}"
    colour = DELTAS.index(delta)
    exact = resolution(delta)
    return row_of(delta.heading, title, x_axis, x, values, colour=colour, height=height, resolution=exact)


def formula(delta: Delta) -> str:
    """Return a difference as its two times."""
    return f"{HEADINGS[delta.end]} \u2212 {HEADINGS[delta.start]}"


def _statistics(values: NDArray[np.float64], method: Method) -> str:
    """Return the average, and the percentiles that the sample is large enough for."""
    found = estimates(values, method)
    numbers = {word: found[statistic].number for statistic, word in IN_TITLE.items()}
    shown = {"average": float(np.nanmean(values)), **numbers}
    return ", ".join(f"{word} {duration(value)}" for word, value in shown.items() if value is not None)


def statistics_lines(workloads: Columns, method: Method = "linear") -> list[str]:
    """Return a table for the terminal: accuracy of each difference, average, percentiles with 95 % intervals, the
    largest.

    A percentile that the sample is too small for is a dash, and a line below states the required size.
    """
    deltas = _known(workloads, DELTAS)
    if not deltas:
        return []
    found = {delta: estimates(workloads.delta(delta), method) for delta in deltas}
    rows = [("", "exact to", "average", *(statistic.upper() for statistic in STATISTICS))]
    for delta, all_of in found.items():
        average = duration(float(np.nanmean(workloads.delta(delta))))
        exact = f"\u00b1{resolution(delta):g}\u202fs"
        rows.append((delta.heading, exact, average, *map(_with_interval, all_of.values())))
    widths = [max(len(row[place]) for row in rows) for place in range(len(rows[0]))]
    lines = ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    refused = {
        statistic: of.reason for all_of in found.values() for statistic, of in all_of.items() if of.number is None
    }
    return [*lines, *(f"{statistic.upper()}: {reason}" for statistic, reason in refused.items()), STATED[method]]


def _with_interval(of: Value) -> str:
    if of.number is None:
        return DASH
    between = "" if of.low is None or of.high is None else f" ({duration(of.low)} to {duration(of.high)})"
    return f"{duration(of.number)}{between}"
