"""The KPIs of a scale test. To add one: a function from Measures to Value, and a line in KPIS."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from msgspec import structs

from perfanalysis.workloads.kpis import Direction, Kpi, KpiValue, statistic_kpis
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.scale_test.activity import sustained_rate
from perfanalysis.workloads.scale_test.kpis_control_plane import CONTROL_PLANE_KPIS
from perfanalysis.workloads.scale_test.kpis_scheduling import SCHEDULING_KPIS
from perfanalysis.workloads.scale_test.measures import Measures
from perfanalysis.workloads.scale_test.milestones import ELSEWHERE
from perfanalysis.workloads.scale_test.steps import STEPS, LatencyStep, absence, pods_elsewhere
from perfanalysis.workloads.step_series import StepSeries

NOTHING = Value(None, "nothing was submitted or seen")


def _submitted(measures: Measures) -> Value:
    return Value(float(measures.accounting.submitted))


def _share(part: Callable[[Measures], int | None], missing: str) -> Callable[[Measures], Value]:
    def function(measures: Measures) -> Value:
        number, whole = part(measures), measures.accounting.submitted
        if number is None:
            return Value(None, missing)
        return Value(number / whole, count=whole) if whole else NOTHING

    return function


def _rate(milestone: str) -> Callable[[Measures], Value]:
    def function(measures: Measures) -> Value:
        times = measures.workloads[f"{milestone}_s"].to_numpy(dtype=float)
        rate, reason = sustained_rate(times)
        return Value(rate, reason, count=int(np.isfinite(times).sum()))

    return function


def _makespan(measures: Measures) -> Value:
    if measures.window is None:
        return NOTHING
    left = measures.accounting.unfinished + measures.accounting.unseen
    if left:
        return Value(None, f"{left} workloads had not ended")
    return Value(measures.window.length)


def _peak_running(measures: Measures) -> Value:
    if pods_elsewhere(measures.workloads):
        return Value(None, ELSEWHERE)
    return Value(measures.activity.running.maximum()) if measures.window else NOTHING


def _gpu_share(series: Callable[[Measures], StepSeries]) -> Callable[[Measures], Value]:
    def function(measures: Measures) -> Value:
        capacity, window = measures.activity.gpu_capacity, measures.window
        if capacity is None:
            return Value(None, "the GPUs of the nodes are unknown")
        if window is None or window.length <= 0:
            return NOTHING
        return Value(series(measures).integral(window.start, window.end) / (capacity * window.length))

    return function


def _gpu_idle(measures: Measures) -> Value:
    idle, window = measures.activity.gpus_idle_while_waiting(), measures.window
    if idle is None:
        return Value(None, "the GPUs of the nodes are unknown")
    return Value(idle.integral(window.start, window.end)) if window else NOTHING


def _percentile(step: LatencyStep, statistic: str) -> Callable[[Measures], Value]:
    def function(measures: Measures) -> Value:
        absent = absence(measures.workloads, step)
        if absent and measures.window:
            return Value(None, absent)
        return measures.estimates(step.name)[statistic]

    return function


HEADLINES = {
    "time_to_running": {"p50": "Sent to running, median", "p99": "Sent to running, P99"},
    "scheduling": {"p99": "Scheduling, P99"},
}
NO_DIRECTION = ("execution", "time_to_completed")
"""Steps that last as long as the work does."""


def _latency_kpis(step: LatencyStep) -> tuple[Kpi[Measures], ...]:
    better: Direction = "neither" if step.name in NO_DIRECTION else "lower"
    words = f"{step.formula}, by the client's clock"
    return statistic_kpis(step.name, words, better, partial(_percentile, step), HEADLINES.get(step.name), once=True)


KPIS: tuple[Kpi[Measures], ...] = (
    Kpi("workloads_submitted", "Workloads sent or seen", "workloads", "neither", _submitted, "Workloads"),
    Kpi(
        "completed_ratio",
        "Workloads completed, of those submitted",
        "ratio",
        "higher",
        _share(lambda measures: measures.accounting.completed, ""),
        "Completed",
    ),
    Kpi(
        "failed_ratio",
        "Workloads failed or refused, of those submitted",
        "ratio",
        "lower",
        _share(lambda measures: measures.accounting.failed, ""),
    ),
    Kpi(
        "lost_ratio",
        "Workloads lost by the recorder's accounting, of those submitted",
        "ratio",
        "lower",
        _share(lambda measures: measures.accounting.lost, "the recorder did not state it"),
        "Lost",
    ),
    Kpi("makespan", "From the first submission to the last workload's end", "seconds", "lower", _makespan, "Makespan"),
    Kpi(
        "gpu_allocation_ratio",
        "GPU time of pods bound to nodes, of the capacity from first submission to last end",
        "ratio",
        "higher",
        _gpu_share(lambda measures: measures.activity.gpus_allocated),
        "GPUs allocated, mean",
    ),
    *(kpi for step in STEPS for kpi in _latency_kpis(step)),
    Kpi(
        "submission_rate",
        "Workloads sent per second between the 10th and the 90th percent of them",
        "workloads/s",
        "neither",
        _rate("sent"),
        "Submission rate",
    ),
    Kpi(
        "scheduling_rate",
        "Workloads fully scheduled per second between the 10th and the 90th percent of them",
        "workloads/s",
        "higher",
        _rate("scheduled"),
    ),
    Kpi(
        "completion_rate",
        "Workloads completed per second between the 10th and the 90th percent of them",
        "workloads/s",
        "higher",
        _rate("completed"),
        "Completion rate",
    ),
    Kpi("peak_running", "Most workloads running concurrently", "workloads", "neither", _peak_running),
    Kpi(
        "gpu_running_ratio",
        "GPU time of running pods, of the capacity from first submission to last end",
        "ratio",
        "higher",
        _gpu_share(lambda measures: measures.activity.gpus_running),
    ),
    Kpi(
        "gpu_idle_while_waiting",
        "GPU time that was free while waiting work could have used it",
        "GPU-seconds",
        "lower",
        _gpu_idle,
    ),
    *SCHEDULING_KPIS,
    *CONTROL_PLANE_KPIS,
)


def on_top(values: tuple[KpiValue, ...], *, gangs: bool) -> tuple[KpiValue, ...]:
    """Return the KPIs; those of scheduling have a headline only with gangs in a topology, and with a number."""
    names = {kpi.name for kpi in SCHEDULING_KPIS}
    return tuple(
        value
        if value.name not in names or (gangs and value.number is not None)
        else structs.replace(value, headline=None)
        for value in values
    )
