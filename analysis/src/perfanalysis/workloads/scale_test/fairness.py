"""Resources that tenants held while they competed, and the fairness.

Tenants are queues, else namespaces. Resources are GPUs of bound pods, or pods if no workload requests GPUs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.activity import Window, ended
from perfanalysis.workloads.step_series import StepSeries, combine, count_between

ACTIVITY_BINS = 200
MOST_TENANTS = 24
FAIRNESS = TableSpec(
    "fairness",
    "What each tenant held while it and another one had work waiting; the largest requests first",
    (
        Column("tenant", "text", "queue, else namespace", label="queue"),
        Column("resource", "text", "the counted resource: GPUs, or pods if no workload requests GPUs"),
        Column("workloads", "integer", "its workloads", "workloads"),
        Column("asked", "number", "requested by all its workloads together", "resource"),
        Column("demand_share", "number", "share of the requests of all tenants", "ratio", label="weight"),
        Column("contended_s", "number", "time in which it and another tenant had work waiting", "s"),
        Column("held_s", "number", "held during that time", "resource times s"),
        Column("mean_held", "number", "held on average during that time", "resource"),
        Column("per_demand", "number", "mean held, divided by its share of the requests", "resource"),
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
    requested: float
    held: StepSeries
    waiting: StepSeries


@dataclass(frozen=True)
class Tenants:
    """All tenants, the largest requests first, and the counted resource."""

    resource: str
    members: tuple[Tenant, ...]


def tenants_of(workloads: pd.DataFrame, pods: pd.DataFrame, end: float) -> Tenants:
    """Return the tenants of a recording that ends at a time.

    A workload waits from its first observation until all its pods are bound, or until it ends.
    """
    with_gpus = bool(workloads["gpus"].sum() > 0)
    requested = workloads["gpus" if with_gpus else "pods"].fillna(0).to_numpy(dtype=float)
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
        waiting = count_between(created[mine], served[mine], requested[mine])
        found.append(Tenant(str(name), len(mine), float(requested[mine].sum()), held, waiting))
    ordered = sorted(found, key=lambda tenant: (-tenant.requested, tenant.name))
    return Tenants("GPUs" if with_gpus else "pods", tuple(ordered))


def fairness_table(tenants: Tenants) -> pd.DataFrame:
    """Return the table FAIRNESS."""
    competing = _contention(tenants)
    total = sum(tenant.requested for tenant in tenants.members)
    rows = []
    for tenant in tenants.members:
        waits = _waits(tenant)
        seconds = competing.weighted(waits)
        held = competing.weighted(combine(tenant.held, waits, lambda held, waits: held * waits))
        mean = held / seconds if seconds > 0 else None
        share = tenant.requested / total if total > 0 else None
        per_demand = mean / share if mean is not None and share else None
        numbers = (tenant.workloads, tenant.requested, share, seconds, held, mean, per_demand)
        rows.append((tenant.name, tenants.resource, *numbers))
    return FAIRNESS.of_rows(rows)


@dataclass(frozen=True)
class _Contention:
    """Seconds of contention up to each time: with it, an integral only costs the breakpoints of the integrand."""

    times: NDArray[np.float64]
    seconds: NDArray[np.float64]

    def weighted(self, series: StepSeries) -> float:
        """Return the integral of a step function over the time in which tenants compete; it must end at 0."""
        if len(series.times) < 2 or not len(self.times):
            return 0.0
        elapsed = np.diff(np.interp(series.times, self.times, self.seconds))
        return float(np.sum(series.values[:-1] * elapsed))


def _waits(tenant: Tenant) -> StepSeries:
    """Return 1 while the tenant has work waiting, else 0."""
    return StepSeries(tenant.waiting.times, (tenant.waiting.values > 1e-9).astype(float))


def _contention(tenants: Tenants) -> _Contention:
    """Return the time in which at least two tenants have work waiting."""
    waits = [_waits(tenant) for tenant in tenants.members]
    moments = np.concatenate([one.times for one in waits]) if waits else np.empty(0)
    changes = np.concatenate([np.diff(one.values, prepend=0.0) for one in waits]) if waits else np.empty(0)
    order = np.argsort(moments, kind="stable")
    times = moments[order]
    several = np.cumsum(changes[order])[:-1] > 1.5
    seconds = np.concatenate(([0.0], np.cumsum(several * np.diff(times)))) if len(times) else times
    return _Contention(times, seconds)


def jain(shares: NDArray[np.float64]) -> float | None:
    """Return Jain's index of several amounts: 1 if all are equal, 1/n if one has all; None without any."""
    squares = float(np.sum(shares**2))
    return float(np.sum(shares)) ** 2 / (len(shares) * squares) if len(shares) and squares > 0 else None


def activity_table(tenants: Tenants, window: Window) -> pd.DataFrame:
    """Return the table TENANT_ACTIVITY."""
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


ALIKE = ("tenant", "priority", "gpus", "pods")
INVERSIONS = TableSpec(
    "inversions",
    "Starts out of the order of submission, among similar workloads",
    (
        Column("tenant", "text", "queue, else namespace", label="queue"),
        Column("priority", "integer", "priority, if any"),
        Column("gpus", "number", "GPUs requested by all its pods", "GPUs"),
        Column("pods", "number", "number of its pods", "pods"),
        Column("workloads", "integer", "similar workloads that started", "workloads"),
        Column("pairs", "integer", "pairs of which the one submitted later started first", "pairs", label="inversions"),
        Column("overtaking", "integer", "workloads that started before one submitted earlier", "workloads"),
        Column("overtaken", "integer", "workloads before which one submitted later started", "workloads"),
    ),
)


def inversions_table(workloads: pd.DataFrame) -> pd.DataFrame:
    """Return the table INVERSIONS.

    A workload was submitted before another if its response came before the other was sent: the order of concurrent
    requests is unknown. It starts when all its pods are bound to nodes.
    """
    sent = workloads["sent_s"].fillna(workloads["created_s"]).to_numpy(dtype=float)
    answered = workloads["answered_s"].to_numpy(dtype=float)
    answered = np.where(np.isfinite(answered), answered, sent)
    started = workloads["scheduled_s"].to_numpy(dtype=float)
    known = np.isfinite(sent) & np.isfinite(started)
    if not known.any():
        return INVERSIONS.empty()
    rows = workloads.loc[known, list(ALIKE)]
    groups: NDArray[Any] = rows.groupby(list(ALIKE), observed=True, dropna=False, sort=False).ngroup().to_numpy()
    overtakes, overtaken = counts_of_pairs(answered[known], sent[known], started[known], groups)
    numbers: dict[str, NDArray[Any]] = {"workloads": np.ones(len(rows)), "pairs": overtakes}
    numbers |= {"overtaking": overtakes > 0, "overtaken": overtaken > 0}
    summed = pd.DataFrame(numbers).astype("int64").groupby(groups).sum()
    first = rows[~pd.Series(groups, index=rows.index).duplicated()].reset_index(drop=True)
    return INVERSIONS.conform(pd.concat([first, summed.reset_index(drop=True)], axis=1))


SAME_SIZE = ("priority", "gpus", "pods")


def longest_wait_ratio(workloads: pd.DataFrame, end: float) -> tuple[float, int] | None:
    """Return the longest wait, divided by the median of workloads of the same size; and the number of workloads.

    The largest ratio of all sizes. A workload waits from its submission until all its pods are bound, or until it or
    the recording ends. None if no two workloads have the same size, or all medians are 0.
    """
    waits, sizes = _waits_by_size(workloads, end)
    grouped = waits.groupby(sizes)
    several = grouped.transform("size") > 1
    median, longest = grouped.median(), grouped.max()
    compared = (grouped.size() > 1) & (median > 0)
    if not compared.any():
        return None
    return float((longest[compared] / median[compared]).max()), int(several.sum())


def _waits_by_size(workloads: pd.DataFrame, end: float) -> tuple[pd.Series, NDArray[Any]]:
    """Return the wait of each submitted workload, and the number of its size."""
    sent = workloads["sent_s"].fillna(workloads["created_s"])
    rows = workloads[sent.notna() & workloads["created_s"].notna()]
    until = np.fmin(np.fmin(rows["scheduled_s"].to_numpy(dtype=float), ended(rows)), end)
    waits = pd.Series(until, index=rows.index) - sent[rows.index]
    sizes = rows.groupby(list(SAME_SIZE), observed=True, dropna=False, sort=False).ngroup().to_numpy()
    return waits, sizes


def starved(workloads: pd.DataFrame) -> int:
    """Return how many workloads wait at the end of the recording, and a smaller one, submitted later, started.

    Only workloads of the same priority are compared. A workload is smaller if it requests fewer GPUs, or fewer pods if
    no workload requests GPUs. Costs n log n.
    """
    size = workloads["gpus" if workloads["gpus"].sum() > 0 else "pods"].fillna(0).to_numpy(dtype=float)
    sent = workloads["sent_s"].fillna(workloads["created_s"]).to_numpy(dtype=float)
    started = np.isfinite(workloads["scheduled_s"].to_numpy(dtype=float))
    waiting = ~started & np.isfinite(workloads["created_s"].to_numpy(dtype=float)) & ~np.isfinite(ended(workloads))
    # Kubernetes' priority of pods without one is 0
    priority = workloads["priority"].astype("Float64").fillna(0.0).to_numpy(dtype=float)
    frame = pd.DataFrame({"priority": priority, "size": size, "last": np.where(started, sent, -np.inf)})
    last = frame.groupby(["priority", "size"])["last"].max().groupby(level=0).cummax()
    # the latest submission of all smaller sizes is at the next smaller one, as it is cumulative
    smaller = last.groupby(level=0).shift().reindex(pd.MultiIndex.from_frame(frame[["priority", "size"]]))
    return int((waiting & (sent < smaller.to_numpy(dtype=float))).sum())


def counts_of_pairs(
    answered: NDArray[np.float64], sent: NDArray[np.float64], started: NDArray[np.float64], groups: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return for each workload: before how many submitted earlier it started, and how many submitted later started
    before it.

    Both in n log² n: responses and requests form one sequence, by group and time, and halves of it are merged as in a
    merge sort; binary search counts the entries of an earlier half for the later one.
    """
    count = len(sent)
    moments = np.concatenate([answered, sent])
    is_query = np.repeat([False, True], count)
    # at equal times, the request comes first: a response at that time is not earlier
    order = np.lexsort((~is_query, moments, np.concatenate([groups, groups])))
    # starts rank within groups, later groups above: so no pair of two groups is counted
    rank = np.unique(np.stack([groups.astype(float), started]), axis=1, return_inverse=True)[1].reshape(-1)
    ranks, query = np.concatenate([rank, rank])[order], is_query[order]
    totals = np.zeros(2 * count, dtype="int64")
    scale = int(rank.max()) + 2
    width = 1
    places = np.arange(2 * count)
    while width < 2 * count:
        half, block = (places // width) % 2, places // (2 * width)
        earlier, later = ~query & (half == 0), query & (half == 1)
        keys = block * scale + ranks
        # pairs (earlier response, later request) of one block with the response's start above the request's
        answers, queries = np.sort(keys[earlier]), np.sort(keys[later])
        ends = np.searchsorted(answers, (block[later] + 1) * scale)
        totals[later] += ends - np.searchsorted(answers, keys[later], side="right")
        begins = np.searchsorted(queries, block[earlier] * scale)
        totals[earlier] += np.searchsorted(queries, keys[earlier], side="left") - begins
        width *= 2
    back = np.empty(2 * count, dtype="int64")
    back[order] = totals
    return back[count:], back[:count]
