"""Activity over time: throughput, states, GPUs occupied against capacity; ramp, steady part and drain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.steps import held
from perfanalysis.workloads.step_series import StepSeries, combine, count_between, nice_width

THROUGHPUT_BINS = 80
CONCURRENCY_BINS = 600
COUNTED = ("sent", "scheduled", "running", "completed", "failed")
THROUGHPUT = TableSpec(
    "throughput",
    "Milestones reached per interval of time",
    (
        Column("time_s", "number", "start of the interval, since the first submission", "s"),
        Column("width_s", "number", "length of the interval", "s"),
        *(Column(name, "integer", f"workloads {name} in it", "workloads") for name in COUNTED),
    ),
)
STATES = ("in_system", "pending", "running")
CONCURRENCY = TableSpec(
    "concurrency",
    "Concurrent workloads and GPUs in each state: largest value within each interval of time",
    (
        Column("time_s", "number", "start of the interval, since the first submission", "s"),
        Column("in_system", "number", "workloads sent and not ended", "workloads"),
        Column("pending", "number", "workloads with a pod, not all of them scheduled", "workloads"),
        Column("running", "number", "workloads with all pods running, not ended", "workloads"),
        Column("gpus_allocated", "number", "GPUs of pods bound to a node and not ended", "GPUs"),
        Column("gpus_running", "number", "GPUs of pods running", "GPUs"),
        Column("gpus_waiting", "number", "GPUs of pods not yet bound, and of workloads held back in a queue", "GPUs"),
    ),
)


@dataclass(frozen=True)
class Window:
    """From the first submission (or creation) to the last observation, in seconds since the epoch."""

    start: float
    end: float

    @property
    def length(self) -> float:
        """Seconds."""
        return self.end - self.start


@dataclass(frozen=True)
class Activity:
    """Exact step functions of one recording; the tables have a coarser grain."""

    in_system: StepSeries
    pending: StepSeries
    running: StepSeries
    gpus_allocated: StepSeries
    gpus_running: StepSeries
    gpus_waiting: StepSeries
    gpu_capacity: float | None

    def gpus_idle_while_waiting(self) -> StepSeries | None:
        """Return the time of GPUs that were free while waiting pods needed at least as many; None without a known
        capacity.
        """
        capacity = self.gpu_capacity
        if capacity is None:
            return None
        return combine(self.gpus_allocated, self.gpus_waiting, lambda used, wanted: np.clip(capacity - used, 0, wanted))


def window_of(workloads: pd.DataFrame, last_seen: float) -> Window | None:
    """Return the duration of the test: to the end of the last workload, or to `last_seen` while one has not ended."""
    starts = first_times(workloads)
    if not np.isfinite(starts).any():
        return None
    ends = ended(workloads)
    seen = np.isfinite(starts)
    end = float(np.nanmax(ends)) if np.isfinite(ends[seen]).all() else last_seen
    return Window(float(np.nanmin(starts)), max(end, float(np.nanmax(starts))))


def first_times(workloads: pd.DataFrame) -> NDArray[np.float64]:
    """Return when each workload was sent, or first seen if its submission was not recorded."""
    return workloads["sent_s"].fillna(workloads["created_s"]).to_numpy(dtype=float)


def ended(workloads: pd.DataFrame) -> NDArray[np.float64]:
    """Return when each workload was first seen completed, failed or deleted; for one never created, when it was
    refused.
    """
    refused = workloads["answered_s"].where(workloads["outcome"] == "failed")
    columns = [workloads["completed_s"], workloads["failed_s"], workloads["deleted_s"], refused]
    stacked = np.stack([column.to_numpy(dtype=float) for column in columns])
    return np.asarray(np.fmin.reduce(stacked, axis=0))


def activity_of(workloads: pd.DataFrame, pods: pd.DataFrame, nodes: pd.DataFrame) -> Activity:
    """Return step functions over absolute time."""
    ends = ended(workloads)
    column = {
        name: workloads[f"{name}_s"].to_numpy(dtype=float) for name in ("first_pod_created", "scheduled", "running")
    }
    pod = {name: pods[f"{name}_s"].to_numpy(dtype=float) for name in ("created", "scheduled", "running", "ended")}
    gpus = np.nan_to_num(pods["gpus"].to_numpy(dtype=float))
    return Activity(
        in_system=count_between(first_times(workloads), ends),
        pending=count_between(column["first_pod_created"], np.fmin(column["scheduled"], ends)),
        running=count_between(column["running"], ends),
        gpus_allocated=count_between(pod["scheduled"], pod["ended"], gpus),
        gpus_running=count_between(pod["running"], pod["ended"], gpus),
        gpus_waiting=_waiting(workloads, pod, gpus, ends),
        gpu_capacity=float(nodes["gpus"].sum()) if len(nodes) and nodes["gpus"].sum() > 0 else None,
    )


def _waiting(
    workloads: pd.DataFrame,
    pod: dict[str, NDArray[np.float64]],
    gpus: NDArray[np.float64],
    ends: NDArray[np.float64],
) -> StepSeries:
    """Return GPUs of pods not bound yet, and of workloads that a queue holds back before they have pods."""
    created = workloads["created_s"].where(held(workloads)).to_numpy(dtype=float)
    first_pod = np.fmin(workloads["first_pod_created_s"].to_numpy(dtype=float), ends)
    starts = np.concatenate((pod["created"], created))
    stops = np.concatenate((np.fmin(pod["scheduled"], pod["ended"]), first_pod))
    wanted = np.nan_to_num(workloads["gpus"].to_numpy(dtype=float))
    return count_between(starts, stops, np.concatenate((gpus, wanted)))


def throughput_table(workloads: pd.DataFrame, window: Window) -> pd.DataFrame:
    """Return the table THROUGHPUT, in about THROUGHPUT_BINS intervals of a round length."""
    width = nice_width(window.length, THROUGHPUT_BINS)
    # a window without a length, with a single observation, still has one interval
    edges = np.arange(max(1, int(np.ceil(window.length / width))) + 1) * width
    columns: dict[str, Any] = {"time_s": edges[:-1], "width_s": np.full(len(edges) - 1, width)}
    for name in COUNTED:
        times = workloads[f"{name}_s"].to_numpy(dtype=float) - window.start
        columns[name] = np.histogram(times[np.isfinite(times)], bins=edges)[0]
    return THROUGHPUT.conform(pd.DataFrame(columns))


def concurrency_table(activity: Activity, window: Window) -> pd.DataFrame:
    """Return the table CONCURRENCY: the peak within each of CONCURRENCY_BINS intervals, so that no peak is lost."""
    edges = np.linspace(window.start, window.end, CONCURRENCY_BINS + 1)
    columns: dict[str, Any] = {"time_s": edges[:-1] - window.start}
    for name in (*STATES, "gpus_allocated", "gpus_running", "gpus_waiting"):
        series: StepSeries = getattr(activity, name)
        columns[name] = series.extremes(edges)[1]
    return CONCURRENCY.conform(pd.DataFrame(columns))


def sustained_rate(times: NDArray[np.float64]) -> tuple[float | None, str | None]:
    """Return events per second between the 10th and the 90th percent of them, without ramp and tail; or why not."""
    ordered = np.sort(times[np.isfinite(times)])
    count = len(ordered)
    if count < 10:
        return None, f"needs 10 events, found {count}"
    first, last = int(np.ceil(0.1 * count)) - 1, int(np.ceil(0.9 * count)) - 1
    elapsed = float(ordered[last] - ordered[first])
    return (None, "all events at the same time") if elapsed <= 0 else ((last - first) / elapsed, None)


PLATEAU_SHARE = 0.9
"""The plateau is the number of running workloads that this share of the busy time does not exceed."""
REACHED = 0.9
"""The ramp ends when this part of the plateau is first reached, the drain begins when it is last left."""
IN_PHASES = ("sent", "scheduled", "running", "completed")
PHASES = TableSpec(
    "phases",
    "Ramp, steady part and drain of the test, with what was reached in each",
    (
        Column("phase", "text", "ramp, steady or drain"),
        Column("time_s", "number", "its begin, since the first submission", "s", label="begins at"),
        Column("length_s", "number", "its length", "s", label="lasts"),
        *(Column(name, "integer", f"workloads {name} in it", "workloads") for name in IN_PHASES),
        Column("scheduling_rate", "number", "workloads fully scheduled per second", "workloads/s"),
        Column("completion_rate", "number", "workloads completed per second", "workloads/s"),
        Column("mean_running", "number", "workloads running on average", "workloads"),
    ),
)


@dataclass(frozen=True)
class Ramp:
    """Start and end of the steady part of a test, in seconds since the epoch, and how many ran in it."""

    plateau: float
    steady_from: float
    steady_to: float


def ramp_of(running: StepSeries, window: Window) -> Ramp | None:
    """Return the phases of a step function of running workloads; None if none ran."""
    edges = np.append(running.times, max(window.end, running.times[-1])) if len(running.times) else np.empty(0)
    lengths = np.diff(edges)
    busy = (running.values > 0) & (lengths > 0) if len(edges) else np.empty(0, dtype=bool)
    if not busy.any():
        return None
    values, weights = running.values[busy], lengths[busy]
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order]) / weights.sum()
    # a rounding error of the sum must not select the next value
    plateau = float(values[order][np.searchsorted(shares, PLATEAU_SHARE - 1e-9)])
    high = np.flatnonzero((running.values >= REACHED * plateau) & (lengths > 0))
    return Ramp(plateau, float(edges[high[0]]), float(edges[high[-1] + 1]))


def phases_table(workloads: pd.DataFrame, running: StepSeries, ramp: Ramp | None, window: Window) -> pd.DataFrame:
    """Return the table PHASES; empty if nothing ran."""
    if ramp is None:
        return PHASES.empty()
    steady_to = min(ramp.steady_to, window.end)
    edges = (window.start, ramp.steady_from, steady_to, window.end)
    rows = [
        _row(workloads, running, word, edges[place], edges[place + 1], window)
        for place, word in enumerate(("ramp", "steady", "drain"))
    ]
    return PHASES.conform(pd.DataFrame(rows))


def _row(
    workloads: pd.DataFrame, running: StepSeries, phase: str, start: float, end: float, window: Window
) -> dict[str, Any]:
    length = end - start
    row: dict[str, Any] = {"phase": phase, "time_s": start - window.start, "length_s": length}
    for name in IN_PHASES:
        times = workloads[f"{name}_s"].to_numpy(dtype=float)
        # the last phase includes the last moment
        row[name] = int(np.sum((times >= start) & ((times <= end) if phase == "drain" else (times < end))))
    rates = {"scheduling_rate": row["scheduled"], "completion_rate": row["completed"]}
    row |= {name: count / length if length > 0 else None for name, count in rates.items()}
    row["mean_running"] = running.integral(start, end) / length if length > 0 else None
    return row
