"""Ramp, steady part and drain of a test, by how many workloads ran at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.step_series import StepSeries

PLATEAU_SHARE = 0.9
"""The plateau is the number running that this share of the busy time does not exceed."""
REACHED = 0.9
"""The ramp ends when this part of the plateau is first reached, the drain begins when it is last left."""
COUNTED = ("sent", "scheduled", "running", "completed")
PHASES = TableSpec(
    "phases",
    "Ramp, steady part and drain of the test, with what was reached in each",
    (
        Column("phase", "text", "ramp, steady or drain"),
        Column("time_s", "number", "its begin, since the first submission", "s"),
        Column("length_s", "number", "its length", "s"),
        *(Column(name, "integer", f"workloads {name} in it", "workloads") for name in COUNTED),
        Column("scheduling_rate", "number", "workloads fully scheduled per second", "workloads/s"),
        Column("completion_rate", "number", "workloads completed per second", "workloads/s"),
        Column("mean_running", "number", "workloads running on average", "workloads"),
    ),
)


@dataclass(frozen=True)
class Ramp:
    """Where the steady part of a test begins and ends, in seconds since the epoch, and how many ran in it."""

    plateau: float
    steady_from: float
    steady_to: float


def ramp_of(running: StepSeries, window: Window) -> Ramp | None:
    """The ramp of a step function of workloads running; None when none ran."""
    edges = np.append(running.times, max(window.end, running.times[-1])) if len(running.times) else np.empty(0)
    lengths = np.diff(edges)
    busy = (running.values > 0) & (lengths > 0) if len(edges) else np.empty(0, dtype=bool)
    if not busy.any():
        return None
    values, weights = running.values[busy], lengths[busy]
    order = np.argsort(values, kind="stable")
    shares = np.cumsum(weights[order]) / weights.sum()
    # a rounding error of the sum must not take the next value
    plateau = float(values[order][np.searchsorted(shares, PLATEAU_SHARE - 1e-9)])
    high = np.flatnonzero((running.values >= REACHED * plateau) & (lengths > 0))
    return Ramp(plateau, float(edges[high[0]]), float(edges[high[-1] + 1]))


def phases_table(workloads: pd.DataFrame, running: StepSeries, ramp: Ramp | None, window: Window) -> pd.DataFrame:
    """The table PHASES; empty when nothing ran."""
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
    for name in COUNTED:
        times = workloads[f"{name}_s"].to_numpy(dtype=float)
        # the last phase holds the last moment too
        row[name] = int(np.sum((times >= start) & ((times <= end) if phase == "drain" else (times < end))))
    rates = {"scheduling_rate": row["scheduled"], "completion_rate": row["completed"]}
    row |= {name: count / length if length > 0 else None for name, count in rates.items()}
    row["mean_running"] = running.integral(start, end) / length if length > 0 else None
    return row
