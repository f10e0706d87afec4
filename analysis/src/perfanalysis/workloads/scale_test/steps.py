"""Steps between milestones: latencies with their resolution, and reasons of missing and negative ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.percentiles import Method, Value, estimates
from perfanalysis.workloads.scale_test.milestones import (
    BY_NAME,
    ELSEWHERE,
    SEEN_RESOLUTION_S,
    STAMPED_CAUSES,
    Milestone,
)

Clock = Literal["seen", "server"]
Group = Literal["chain", "queueing", "objects", "pods"]
CLOCKS: tuple[Clock, ...] = ("seen", "server")
Estimates = dict[tuple[str, Clock], dict[str, Value]]


@dataclass(frozen=True)
class LatencyStep:
    """The time from one milestone to another. Totals begin when the request was sent."""

    name: str
    label: str
    start: str
    end: str
    total: bool = False
    several: bool = False
    """Only of workloads with several pods."""
    held: bool = False
    """Only of workloads that a queue held back."""
    group: Group = "chain"

    @property
    def formula(self) -> str:
        """Return the step as a difference of milestones."""
        return f"{BY_NAME[self.end].label} \u2212 {BY_NAME[self.start].label}"

    @property
    def optional(self) -> tuple[Milestone, ...]:
        """Return its ends that may be missing in a recording."""
        return tuple(BY_NAME[name] for name in (self.start, self.end) if BY_NAME[name].absent)


STEPS = (
    LatencyStep("answer", "API answer", "sent", "answered"),
    LatencyStep("creation", "Workload creation", "sent", "created"),
    LatencyStep("queue_wait", "Queue wait", "created", "released", held=True, group="queueing"),
    LatencyStep("quota_wait", "Wait for quota", "queued", "quota_reserved", held=True, group="queueing"),
    LatencyStep("dispatch", "Dispatch", "quota_reserved", "dispatched", held=True, group="queueing"),
    LatencyStep("admission", "Admission", "quota_reserved", "admitted", held=True, group="queueing"),
    LatencyStep("release", "Release", "admitted", "released", held=True, group="queueing"),
    LatencyStep("intermediate", "Intermediate object", "created", "intermediate_created", group="objects"),
    LatencyStep("podgroup_creation", "Pod group creation", "created", "podgroup_created", group="objects"),
    LatencyStep("first_pod", "First pod creation", "created", "first_pod_created"),
    LatencyStep("all_pods", "First to last pod creation", "first_pod_created", "last_pod_created", several=True),
    LatencyStep("podgroup_scheduling", "Pod group to scheduled", "podgroup_created", "scheduled", group="objects"),
    LatencyStep("scheduling", "Scheduling", "last_pod_created", "scheduled"),
    LatencyStep("claim_creation", "Device claim creation", "last_pod_created", "claims_created", group="objects"),
    LatencyStep("allocation", "Device allocation", "claims_created", "claims_allocated", group="objects"),
    LatencyStep("reservation", "Device reservation", "claims_allocated", "claims_reserved", group="objects"),
    LatencyStep("claim_binding", "Devices reserved to pods bound", "claims_reserved", "scheduled", group="objects"),
    LatencyStep("decision", "Scheduler's decision", "last_pod_created", "decided", group="queueing"),
    LatencyStep("bind", "Binding seen", "decided", "scheduled", group="queueing"),
    LatencyStep("gang_scheduling", "First to last pod scheduled", "first_pod_scheduled", "scheduled", several=True),
    LatencyStep("pvc_bind", "Volume binding", "pvc_created", "pvc_bound", group="objects"),
    LatencyStep("initialization", "Initialization", "scheduled", "initialized"),
    LatencyStep("sandbox", "Sandbox", "scheduled", "ready_to_start", group="pods"),
    LatencyStep("start", "Container start", "initialized", "running"),
    LatencyStep("gang_completeness", "First to last pod running", "first_pod_running", "running", several=True),
    LatencyStep("container_readiness", "Containers ready", "running", "containers_ready", group="pods"),
    LatencyStep("readiness", "Readiness", "running", "ready"),
    LatencyStep("execution", "Execution", "running", "completed"),
    LatencyStep("pod_ready", "First pod to all ready", "first_pod_created", "ready"),
    LatencyStep("time_to_scheduled", "Sent to scheduled", "sent", "scheduled", total=True),
    LatencyStep("time_to_running", "Sent to running", "sent", "running", total=True),
    LatencyStep("time_to_ready", "Sent to ready", "sent", "ready", total=True),
    LatencyStep("time_to_completed", "Sent to completed", "sent", "completed", total=True),
)
PARTS = ("s", "server_s", "resolution_s")
_OF_PODS = frozenset({"first pod", "all pods", "scheduler"})
ONE_POD = "no workload has several pods in this recording"

LATENCIES = TableSpec(
    "latencies",
    "One row per workload, in the order of submission, with the latency of each step; negative values are kept",
    (
        Column("workload", "text", "as in the table workloads"),
        *(
            column
            for step in STEPS
            for column in (
                Column(f"{step.name}_s", "number", f"{step.formula}, on the client's clock", "s"),
                Column(f"{step.name}_server_s", "number", f"{step.formula}, by the server's timestamps", "s"),
                Column(f"{step.name}_resolution_s", "number", "sum of the resolutions of both server timestamps", "s"),
            )
        ),
    ),
)
PERCENTILES = TableSpec(
    "percentiles",
    "Statistics of each step, on both clocks",
    (
        Column("step", "text", "name of the step"),
        Column("clock", "text", "seen: the client's clock; server: the server's timestamps"),
        Column("statistic", "text", "p50, p90, p95, p99 or max"),
        Column("value", "number", "the statistic", "s"),
        Column("low", "number", "lower end of the 95 % bootstrap interval", "s"),
        Column("high", "number", "upper end of the 95 % bootstrap interval", "s"),
        Column("count", "integer", "number of values it was computed from"),
        Column("resolution_s", "number", "median resolution of the values", "s"),
        Column("reason", "text", "why the value or the interval is missing"),
    ),
)
ANOMALIES_TITLE = "Missing and negative latencies"
"""The heading of the table in a report."""
ANOMALIES = TableSpec(
    "anomalies",
    "Latencies that are missing, or negative beyond their resolution, counted by cause",
    (
        Column("step", "text", "name of the step"),
        Column("clock", "text", "seen or server"),
        Column("problem", "text", "missing or negative"),
        Column("cause", "text", "why"),
        Column("count", "integer", "workloads"),
    ),
)


def latencies_table(workloads: pd.DataFrame) -> pd.DataFrame:
    """Return the table LATENCIES: differences of milestones, neither clipped nor sorted."""
    columns: dict[str, Any] = {"workload": workloads["workload"]}
    missing = pd.Series(np.full(len(workloads), np.nan), index=workloads.index)
    for step in STEPS:
        found = (missing,) * 3 if absence(workloads, step) else _latencies_of(workloads, step, missing)
        columns |= {f"{step.name}_{part}": values for part, values in zip(PARTS, found, strict=True)}
    return LATENCIES.conform(pd.DataFrame(columns, copy=False))


def _latencies_of(workloads: pd.DataFrame, step: LatencyStep, missing: pd.Series[Any]) -> tuple[pd.Series[Any], ...]:
    """Return latencies on the client's clock and by the server's timestamps, and the latter's resolution."""
    applies = _applies(workloads, step)
    seen = (workloads[f"{step.end}_s"] - workloads[f"{step.start}_s"]).where(applies)
    server_start, start_resolution = _server_end(workloads, step.start)
    server_end, end_resolution = _server_end(workloads, step.end)
    both_client = BY_NAME[step.start].origin == "client" and BY_NAME[step.end].origin == "client"
    server = missing if both_client else (server_end - server_start).where(applies)
    return seen, server, start_resolution + end_resolution


def _applies(workloads: pd.DataFrame, step: LatencyStep) -> pd.Series[Any]:
    """Return which workloads have such a step.

    An optional step applies to kinds of workload of which some reached its ends.
    """
    applies = pd.Series(True, index=workloads.index)
    if step.several:
        applies &= workloads["pods"] > 1
    for milestone in step.optional:
        reached = workloads[f"{milestone.name}_s"].notna()
        applies &= workloads["kind"].isin(workloads["kind"][reached])
    return applies & held(workloads) if step.held else applies


def held(workloads: pd.DataFrame) -> pd.Series[Any]:
    """Return which workloads a queue held back: seen suspended before their start, or queued by Kueue."""
    suspended = workloads["suspended_s"].notna() & ~(workloads["started_s"] < workloads["suspended_s"])
    return suspended | workloads["queued_s"].notna()


def present_steps(workloads: pd.DataFrame) -> tuple[LatencyStep, ...]:
    """Return the steps that occur in a recording."""
    return tuple(step for step in STEPS if absence(workloads, step) is None)


def absence(workloads: pd.DataFrame, step: LatencyStep) -> str | None:
    """Return why a step does not occur in a recording; None if it does."""
    if pods_elsewhere(workloads) and not _OF_PODS.isdisjoint(BY_NAME[name].origin for name in (step.start, step.end)):
        return ELSEWHERE
    if step.several and not (workloads["pods"] > 1).any():
        return ONE_POD
    missing = (one.absent for one in step.optional if not workloads[f"{one.name}_s"].notna().any())
    return next(missing, None)


def pods_elsewhere(workloads: pd.DataFrame) -> bool:
    """Return whether workloads were dispatched to other clusters, and no pod was seen."""
    dispatched, pods = (workloads[f"{name}_s"].notna().any() for name in ("dispatched", "first_pod_created"))
    return bool(dispatched and not pods)


def _server_end(workloads: pd.DataFrame, name: str) -> tuple[pd.Series[Any], pd.Series[Any]]:
    """Return timestamp and resolution of a milestone for server-clock steps; for requests, the client's own."""
    if BY_NAME[name].origin == "client":
        stamps = workloads[f"{name}_s"]
        return stamps, stamps.notna().map({True: SEEN_RESOLUTION_S, False: np.nan}).astype(float)
    return workloads[f"{name}_server_s"], workloads[f"{name}_resolution_s"]


def values_of(latencies: pd.DataFrame, step: LatencyStep, clock: Clock = "seen") -> NDArray[np.float64]:
    """Return the latencies of a step in seconds, NaN if missing."""
    return latencies[f"{step.name}_s" if clock == "seen" else f"{step.name}_server_s"].to_numpy(dtype=float)


def _resolution(latencies: pd.DataFrame, step: LatencyStep, clock: Clock, arrival: float) -> NDArray[np.float64]:
    """Return the sum of the resolutions of both ends; `arrival` is the resolution of arrival times."""
    if clock == "seen":
        return np.full(len(latencies), seen_resolution(step, arrival))
    return latencies[f"{step.name}_resolution_s"].to_numpy(dtype=float)


def seen_resolution(step: LatencyStep, arrival: float) -> float:
    """Return the sum of the resolutions of both ends on the client's clock; `arrival` as in `_resolution`."""
    return sum(SEEN_RESOLUTION_S if BY_NAME[name].origin == "client" else arrival for name in (step.start, step.end))


def step_estimates(latencies: pd.DataFrame, method: Method) -> Estimates:
    """Return statistics of every step on both clocks."""
    return {
        (step.name, clock): estimates(values_of(latencies, step, clock), method) for step in STEPS for clock in CLOCKS
    }


def percentiles_table(
    latencies: pd.DataFrame,
    found: Estimates,
    arrival: float = SEEN_RESOLUTION_S,
    present: tuple[LatencyStep, ...] = STEPS,
) -> pd.DataFrame:
    """Return the table PERCENTILES; `arrival` is the resolution of the times at which objects were seen."""
    rows: list[tuple[Any, ...]] = []
    for step in present:
        for clock in CLOCKS:
            known = np.isfinite(values_of(latencies, step, clock))
            resolution = _resolution(latencies, step, clock, arrival)[known]
            middle = float(np.nanmedian(resolution)) if np.isfinite(resolution).any() else None
            for statistic, of in found[step.name, clock].items():
                numbers = (of.number, of.low, of.high, of.count, middle)
                rows.append((step.name, clock, statistic, *numbers, of.reason))
    return PERCENTILES.of_rows(rows)


def anomalies_table(
    workloads: pd.DataFrame, latencies: pd.DataFrame, arrival: float = SEEN_RESOLUTION_S
) -> pd.DataFrame:
    """Return the table ANOMALIES: per step and clock, the workloads without a value and with an impossible one."""
    rows: list[tuple[str, str, str, str, int]] = []
    for step in present_steps(workloads):
        for cause, count in _missing(workloads, step):
            rows.append((step.name, "seen", "missing", cause, count))
        for clock in CLOCKS:
            values = values_of(latencies, step, clock)
            resolution = np.nan_to_num(_resolution(latencies, step, clock, arrival), nan=0.0)
            count = int(np.sum(values < -resolution))
            if count:
                # times of observation as coarse as the server's timestamps are those timestamps: there was no watch
                cause = stamped_cause(step) if arrival > SEEN_RESOLUTION_S else negative_cause(step, clock)
                rows.append((step.name, clock, "negative", cause, count))
    return ANOMALIES.of_rows(rows)


def _missing(workloads: pd.DataFrame, step: LatencyStep) -> list[tuple[str, int]]:
    # arrays: so many small operations cost a hundred times as much on Series
    start, end, failed = (workloads[f"{name}_s"].notna().to_numpy() for name in (step.start, step.end, "failed"))
    refused = (workloads["outcome"] == "failed").to_numpy(dtype=bool)
    failed = failed & ~refused
    causes = (
        ("refused by the API server", refused & ~(start & end)),
        ("the workload failed before", failed & ~(start & end)),
        (f"not seen: {BY_NAME[step.start].label}", ~start & ~refused & ~failed),
        (f"not seen: {BY_NAME[step.end].label}", start & ~end & ~refused & ~failed),
    )
    applies = _applies(workloads, step).to_numpy(dtype=bool, na_value=False)
    counts = ((cause, int((chosen & applies).sum())) for cause, chosen in causes)
    return [(cause, count) for cause, count in counts if count]


def stamped_cause(step: LatencyStep) -> str:
    """Return why it is negative in a run that another tool recorded, with only timestamps of the server."""
    origin = BY_NAME[step.start].origin
    return STAMPED_CAUSES[
        "client" if origin == "client" else "pod" if origin in ("first pod", "all pods") else "object"
    ]


def negative_cause(step: LatencyStep, clock: Clock) -> str:
    """Return why a difference of these two milestones can be negative beyond its resolution."""
    origins = {BY_NAME[name].origin for name in (step.start, step.end)}
    if BY_NAME[step.end].origin == "scheduler":
        return "clocks differ, or the watch reported the pod after the scheduler had bound it"
    if "scheduler" in origins:
        return "clocks differ, or the watch reported it before the scheduler did"
    if step.name == "podgroup_creation":
        return "the pod group was created before the workload"
    if step.name == "claim_creation":
        return "claims that pods share are created before the pods"
    if clock == "server":
        return "clocks of client and server differ" if "client" in origins else "server timestamps out of order"
    if "client" in origins and len(origins) > 1:
        return "seen before the client sent it"
    watches = {"pods" if origin in ("first pod", "all pods") else origin for origin in origins}
    return "two watches deliver in no common order" if len(watches) > 1 else "one watch out of order"
