"""What each tenant held while tenants competed, and how even that was.

Tenants are queues, else namespaces. What they hold are GPUs of bound pods; pods where no workload asks for GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.activity import Window, ended
from perfanalysis.workloads.step_series import StepSeries, combine, count_between

if TYPE_CHECKING:
    from numpy.typing import NDArray

ACTIVITY_BINS = 200
MOST_TENANTS = 24
FAIRNESS = TableSpec(
    "fairness",
    "What each tenant held while it and another one had work waiting; those that asked for most first",
    (
        Column("tenant", "text", "queue, else namespace"),
        Column("resource", "text", "what is counted: GPUs, or pods where nothing asks for GPUs"),
        Column("workloads", "integer", "its workloads", "workloads"),
        Column("asked", "number", "asked for by all its workloads together", "resource"),
        Column("demand_share", "number", "share of what all tenants asked for", "ratio"),
        Column("contended_s", "number", "time in which it and another tenant had work waiting", "s"),
        Column("held_s", "number", "held during that time", "resource times s"),
        Column("mean_held", "number", "held on average during that time", "resource"),
        Column("per_demand", "number", "mean held, divided by the share it asked for", "resource"),
    ),
)
TENANT_ACTIVITY = TableSpec(
    "tenant_activity",
    f"What tenants held and waited for: means over {ACTIVITY_BINS} intervals, of at most {MOST_TENANTS} tenants",
    (
        Column("time_s", "number", "begin of the interval, since the first submission", "s"),
        Column("tenant", "text", "queue, else namespace"),
        Column("held", "number", "GPUs (or pods) of pods bound to nodes", "GPUs or pods"),
        Column("waiting", "number", "GPUs (or pods) of workloads created and not bound", "GPUs or pods"),
    ),
)


@dataclass(frozen=True)
class Tenant:
    """One tenant's activity over absolute time."""

    name: str
    workloads: int
    asked: float
    held: StepSeries
    waiting: StepSeries


@dataclass(frozen=True)
class Tenants:
    """All tenants, those that asked for most first, and what is counted of them."""

    resource: str
    members: tuple[Tenant, ...]


def tenants_of(workloads: pd.DataFrame, pods: pd.DataFrame, end: float) -> Tenants:
    """The tenants of a recording that ends at a time.

    A workload waits from when it was seen until all its pods are bound, or until it ends.
    """
    with_gpus = bool(workloads["gpus"].sum() > 0)
    asked = workloads["gpus" if with_gpus else "pods"].fillna(0).to_numpy(dtype=float)
    share = pods["gpus"].fillna(0).to_numpy(dtype=float) if with_gpus else np.ones(len(pods))
    created = workloads["created_s"].fillna(workloads["first_pod_created_s"]).to_numpy(dtype=float)
    served = np.fmin(np.fmin(workloads["scheduled_s"].to_numpy(dtype=float), ended(workloads)), end)
    bound = pods["scheduled_s"].to_numpy(dtype=float)
    left = np.fmin(pods["ended_s"].to_numpy(dtype=float), end)
    found = []
    of_pods = pods["tenant"].astype("object")
    pod_rows: dict[Any, Any] = of_pods.groupby(of_pods, sort=False).indices
    of_workloads = workloads["tenant"].astype("object")
    for name, mine in of_workloads.groupby(of_workloads, sort=False).indices.items():
        own = pod_rows.get(name, np.empty(0, dtype=int))
        held = count_between(bound[own], left[own], share[own])
        waiting = count_between(created[mine], served[mine], asked[mine])
        found.append(Tenant(str(name), len(mine), float(asked[mine].sum()), held, waiting))
    ordered = sorted(found, key=lambda tenant: (-tenant.asked, tenant.name))
    return Tenants("GPUs" if with_gpus else "pods", tuple(ordered))


def fairness_table(tenants: Tenants) -> pd.DataFrame:
    """The table FAIRNESS."""
    competing = _contention(tenants)
    total = sum(tenant.asked for tenant in tenants.members)
    rows = []
    for tenant in tenants.members:
        waits = _waits(tenant)
        seconds = competing.weighted(waits)
        held = competing.weighted(combine(tenant.held, waits, lambda held, waits: held * waits))
        mean = held / seconds if seconds > 0 else None
        share = tenant.asked / total if total > 0 else None
        per_demand = mean / share if mean is not None and share else None
        numbers = (tenant.workloads, tenant.asked, share, seconds, held, mean, per_demand)
        rows.append((tenant.name, tenants.resource, *numbers))
    return FAIRNESS.conform(pd.DataFrame(rows, columns=[column.name for column in FAIRNESS.columns]))


@dataclass(frozen=True)
class _Contention:
    """Seconds of contention up to each time: with it an integral costs only the breakpoints of what is integrated."""

    times: NDArray[np.float64]
    seconds: NDArray[np.float64]

    def weighted(self, series: StepSeries) -> float:
        """The integral of a step function over the time in which tenants compete; it must end at 0."""
        if len(series.times) < 2 or not len(self.times):
            return 0.0
        elapsed = np.diff(np.interp(series.times, self.times, self.seconds))
        return float(np.sum(series.values[:-1] * elapsed))


def _waits(tenant: Tenant) -> StepSeries:
    """1 while the tenant has work waiting, else 0."""
    return StepSeries(tenant.waiting.times, (tenant.waiting.values > 1e-9).astype(float))


def _contention(tenants: Tenants) -> _Contention:
    """The time in which at least two tenants have work waiting."""
    waits = [_waits(tenant) for tenant in tenants.members]
    moments = np.concatenate([one.times for one in waits]) if waits else np.empty(0)
    changes = np.concatenate([np.diff(one.values, prepend=0.0) for one in waits]) if waits else np.empty(0)
    order = np.argsort(moments, kind="stable")
    times = moments[order]
    several = np.cumsum(changes[order])[:-1] > 1.5
    seconds = np.concatenate(([0.0], np.cumsum(several * np.diff(times)))) if len(times) else times
    return _Contention(times, seconds)


def jain(shares: NDArray[np.float64]) -> float | None:
    """Jain's index of what each of several has: 1 when all have the same, 1/n when one has all; None without any."""
    squares = float(np.sum(shares**2))
    return float(np.sum(shares)) ** 2 / (len(shares) * squares) if len(shares) and squares > 0 else None


def activity_table(tenants: Tenants, window: Window) -> pd.DataFrame:
    """The table TENANT_ACTIVITY."""
    edges = np.linspace(window.start, window.end, ACTIVITY_BINS + 1)
    frames = [
        pd.DataFrame(
            {
                "time_s": edges[:-1] - window.start,
                "tenant": tenant.name,
                "held": tenant.held.means(edges),
                "waiting": tenant.waiting.means(edges),
            }
        )
        for tenant in tenants.members[:MOST_TENANTS]
    ]
    return TENANT_ACTIVITY.conform(pd.concat(frames, ignore_index=True)) if frames else TENANT_ACTIVITY.empty()
