"""Devices of claims: the devices held over time, the claims that leaked, and the fragmentation of free GPUs."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.activity import Window, ended
from perfanalysis.workloads.scale_test.tables import ScaleTestTables, several_namespaces, workload_keys
from perfanalysis.workloads.step_series import StepSeries, count_between

LEAK_AFTER_S = 5.0
"""Controllers may take this long to release the claims of a workload that ended."""
_KIND = "ResourceClaim"
_HELD = ("node", "devices", "gpus")
_TIMES = ("created_s", "allocated_s", "reserved_s", "released_s", "deleted_s")
DEVICE_CLAIMS = TableSpec(
    "device_claims",
    "One row per allocation of a claim of devices, and per claim that was never allocated",
    (
        Column("claim", "text", "name of the ResourceClaim"),
        Column("workload", "text", "workload it belongs to"),
        Column("node", "text", "node of the devices"),
        Column("devices", "integer", "devices that it held", "devices"),
        Column("gpus", "integer", "GPUs among them; all devices in old recordings", "GPUs"),
        Column("created_s", "time", "when it was created", "s since the epoch, UTC"),
        Column("allocated_s", "time", "when the devices were allocated", "s since the epoch, UTC"),
        Column("reserved_s", "time", "when it was reserved for a pod", "s since the epoch, UTC"),
        Column("released_s", "time", "when it held no devices any more", "s since the epoch, UTC"),
        Column("deleted_s", "time", "when it was deleted", "s since the epoch, UTC"),
        Column("leaked", "flag", "whether it remained long after its workload; null if that cannot be known"),
    ),
)


@dataclass(frozen=True)
class FreeGpus:
    """GPUs that no pod or claim held: `largest` is the most that one node had, `fitting` the most it could have."""

    free: StepSeries
    largest: StepSeries
    fitting: StepSeries

    def fragmentation(self, window: Window) -> tuple[float, float] | None:
        """Return mean and maximum of 1 - largest / fitting while GPUs were free; None if none ever were."""
        inside = (self.free.times > window.start) & (self.free.times < window.end)
        edges = np.concatenate(([window.start], self.free.times[inside], [window.end]))
        lengths = np.diff(edges)
        fitting = self.fitting.at(edges[:-1])
        some = (fitting > 0) & (lengths > 0)
        if not some.any():
            return None
        values = 1 - self.largest.at(edges[:-1])[some] / fitting[some]
        return float(np.average(values, weights=lengths[some])), float(values.max())


def unused_claims(transitions: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows are of claims that were deleted without an allocation.

    Kubernetes creates such claims for pods that have ended and whose first claim was deleted, at each later change of
    the pod (seen in 1.36).
    """
    uids = transitions["uid"].cat.codes.to_numpy()
    words = transitions["transition"]
    claims = (transitions["kind"] == _KIND).to_numpy()
    deleted, allocated = (uids[claims & (words == word).to_numpy()] for word in ("deleted", "allocated"))
    return np.isin(uids, np.setdiff1d(deleted, allocated)) & claims


def device_claims_table(tables: ScaleTestTables, workloads: pd.DataFrame, until_s: float) -> pd.DataFrame:
    """Return the table DEVICE_CLAIMS; `until_s` is the end of the recording."""
    rows = tables.transitions[tables.transitions["kind"] == _KIND]
    if not len(rows):
        return DEVICE_CLAIMS.empty()
    keys = workload_keys(rows, "workload", several=several_namespaces(tables))
    rows = rows.assign(workload=keys).sort_values("seen_s", kind="stable")
    frame = pd.DataFrame([row for claim in _by_claim(rows).values() for row in claim])
    frame["leaked"] = _leaked(frame, workloads, until_s)
    return DEVICE_CLAIMS.conform(frame)


def _by_claim(transitions: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return the rows of each claim: one for each allocation, or one without."""
    found: dict[str, list[dict[str, Any]]] = {}
    columns = [transitions[name].tolist() for name in ("uid", "name", "workload", "transition", "seen_s", *_HELD)]
    for uid, name, workload, word, seen, node, devices, gpus in zip(*columns, strict=True):
        rows = found.setdefault(uid, [{"claim": name, "workload": workload, **dict.fromkeys((*_HELD, *_TIMES))}])
        if word == "allocated":
            if rows[-1]["allocated_s"] is not None:
                rows.append({**rows[0], **dict.fromkeys(_TIMES[1:])})
            rows[-1] |= {"node": node, "devices": devices, "gpus": devices if pd.isna(gpus) else gpus}
        rows[-1][f"{word}_s"] = seen
        if word == "deleted":
            if rows[-1]["allocated_s"] is not None and rows[-1]["released_s"] is None:
                rows[-1]["released_s"] = seen
            for each in rows:
                each["deleted_s"] = seen
    return found


def _leaked(claims: pd.DataFrame, workloads: pd.DataFrame, until_s: float) -> list[bool | None]:
    """Return for each row whether it held devices long after its workload's end, or remained after its deletion."""
    names = workloads["workload"].astype("object")
    ends = dict(zip(names, ended(workloads), strict=True))
    deletions = dict(zip(names, workloads["deleted_s"].to_numpy(dtype=float), strict=True))
    latest = until_s - LEAK_AFTER_S

    def judge(workload: Any, allocated: float, released: float, deleted: float) -> bool | None:
        end, deletion = ends.get(workload, np.nan), deletions.get(workload, np.nan)
        if not end < latest:
            return None
        holds = pd.notna(allocated) and pd.isna(released)
        return bool(holds or (deletion < latest and pd.isna(deleted)))

    columns = (claims[name] for name in ("workload", "allocated_s", "released_s", "deleted_s"))
    return [judge(*values) for values in zip(*columns, strict=True)]


def devices_in_use(claims: pd.DataFrame) -> StepSeries:
    """Return the number of devices that claims held over time."""
    return count_between(
        claims["allocated_s"].to_numpy(dtype=float),
        claims["released_s"].to_numpy(dtype=float),
        np.nan_to_num(claims["devices"].to_numpy(dtype=float)),
    )


def free_gpus(claims: pd.DataFrame, pods: pd.DataFrame, nodes: pd.DataFrame) -> FreeGpus | None:
    """Return the GPUs that no claim holds, or without claims of GPUs no pod; None if no node with GPUs is known."""
    capacity = nodes[(nodes["gpus"] > 0) & np.isfinite(nodes["gpus"])].drop_duplicates("name")
    if not len(capacity):
        return None
    index = pd.Index(capacity["name"].astype("object"))
    claimed = claims["gpus"].gt(0).any()
    columns = ("allocated_s", "released_s", "gpus") if claimed else ("scheduled_s", "ended_s", "gpus")
    held = claims if claimed else pods
    place = index.get_indexer(pd.Index(held["node"].astype("object")))
    starts, ends, numbers = (held[name].to_numpy(dtype=float) for name in columns)
    usable = (place >= 0) & np.isfinite(starts) & ~(ends <= starts) & (numbers > 0) & np.isfinite(numbers)
    return _free_over_time(
        capacity["gpus"].to_numpy(dtype=float), place[usable], starts[usable], ends[usable], numbers[usable]
    )


def _free_over_time(
    capacity: NDArray[np.float64],
    place: NDArray[np.intp],
    starts: NDArray[np.float64],
    ends: NDArray[np.float64],
    numbers: NDArray[np.float64],
) -> FreeGpus:
    """Count nodes by their free GPUs at each change; a heap of these numbers has the largest on top."""
    over = np.isfinite(ends)
    moments = np.concatenate((starts, ends[over]))
    changes = np.concatenate((-numbers, numbers[over]))
    nodes = np.concatenate((place, place[over]))
    # a device can be released and allocated at the same moment
    order = np.lexsort((-changes, moments))
    most = float(capacity.max())
    # plain numbers: single elements of arrays are slow
    free: list[float] = capacity.tolist()
    at_level = Counter(free)
    levels = [-level for level in at_level]
    heapq.heapify(levels)
    times, totals, largest = [-np.inf], [sum(free)], [most]
    for moment, node, change in zip(*(each[order].tolist() for each in (moments, nodes, changes)), strict=True):
        # more than its capacity, such as of a replaced pod that was not seen to end, leaves nothing free
        before, after = max(free[node], 0.0), max(free[node] + change, 0.0)
        free[node] += change
        at_level[before] -= 1
        at_level[after] += 1
        heapq.heappush(levels, -after)
        while not at_level[-levels[0]]:
            heapq.heappop(levels)
        total = totals[-1] + after - before
        if moment == times[-1]:
            totals[-1], largest[-1] = total, -levels[0]
        else:
            times.append(moment)
            totals.append(total)
            largest.append(-levels[0])
    when, some, top = np.array(times), np.array(totals), np.array(largest)
    return FreeGpus(StepSeries(when, some), StepSeries(when, top), StepSeries(when, np.minimum(some, most)))
