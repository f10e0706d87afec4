"""Milestones of a workload's life, on the client's clock and on the server's.

A milestone of a workload's pods is reached when as many pods as it consists of have reached it: the time of the n-th
pod, each pod counted once, at its first time. So a pod that replaces an evicted one does not move what was reached.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd

from perfanalysis.scale_test.tables import ScaleTestTables
from perfanalysis.tables import Column, TableSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

Origin = Literal["client", "workload", "first pod", "all pods"]
SEEN_RESOLUTION_S = 1e-6
"""The recorder stamps arrivals with microseconds."""

BESIDE = ("PodGroup", "PersistentVolumeClaim", "RunaiJob", "BackendJob", "Node")
"""Kinds that belong to a workload without being it or one of its pods."""


@dataclass(frozen=True)
class Milestone:
    """A point of a workload's life; `transition` is the recorded word, or the submission's field for `client`."""

    name: str
    label: str
    origin: Origin
    transition: str


MILESTONES = (
    Milestone("sent", "sent", "client", "sent_s"),
    Milestone("answered", "answered", "client", "answered_s"),
    Milestone("created", "workload created", "workload", "created"),
    Milestone("first_pod_created", "first pod created", "first pod", "created"),
    Milestone("last_pod_created", "all pods created", "all pods", "created"),
    Milestone("scheduled", "all pods scheduled", "all pods", "scheduled"),
    Milestone("initialized", "all pods initialized", "all pods", "initialized"),
    Milestone("running", "all pods running", "all pods", "running"),
    Milestone("ready", "all pods ready", "all pods", "ready"),
    Milestone("completed", "workload completed", "workload", "completed"),
    Milestone("failed", "workload failed", "workload", "failed"),
    Milestone("deleted", "workload deleted", "workload", "deleted"),
)
BY_NAME = {milestone.name: milestone for milestone in MILESTONES}


# what a pod without a controller reaches, as a workload would say it
POD_AS_WORKLOAD = {
    "created": "created",
    "running": "started",
    "succeeded": "completed",
    "failed": "failed",
    "deleted": "deleted",
}


def _milestone_columns(milestone: Milestone) -> tuple[Column, ...]:
    name, label = milestone.name, milestone.label
    unit = "s since the epoch, UTC"
    return (
        Column(f"{name}_s", "time", f"{label}, on the client's clock", unit),
        Column(f"{name}_server_s", "time", f"{label}, by the server's stamp", unit),
        Column(f"{name}_resolution_s", "number", f"resolution of the server's stamp of: {label}", "s"),
    )


WORKLOADS = TableSpec(
    "workloads",
    "One row per workload, in the order of submission, with the time of each milestone",
    (
        Column("workload", "text", "name, with its namespace when there are several"),
        Column("kind", "text", "kind of the workload object"),
        Column("queue", "text", "queue it was submitted to, if any"),
        Column("gpus", "number", "GPUs asked for by all its pods", "GPUs"),
        Column("pods", "number", "pods it consists of", "pods"),
        Column("outcome", "text", "created, existed, failed; null when only watched"),
        *(column for milestone in MILESTONES for column in _milestone_columns(milestone)),
    ),
)


def workload_keys(frame: pd.DataFrame, column: str) -> pd.Series[Any]:
    """What tells workloads apart: the name, with the namespace before it when the table has more than one."""
    if len(frame["namespace"].cat.categories) <= 1:
        return frame[column]
    joined = frame["namespace"].astype("str") + "/" + frame[column].astype("str")
    return joined.where(frame[column].notna()).astype("category")


def workloads_table(tables: ScaleTestTables) -> pd.DataFrame:
    """The table WORKLOADS, sorted once by the time of submission (of creation when only watched)."""
    submissions = tables.submissions.assign(workload=workload_keys(tables.submissions, "name"))
    submissions = submissions.drop_duplicates("workload", keep="last")
    transitions = tables.transitions.assign(workload=workload_keys(tables.transitions, "workload"))
    transitions = transitions[transitions["workload"].notna()]
    index = pd.Index(submissions["workload"].astype("str")).union(
        pd.Index(transitions["workload"].cat.remove_unused_categories().cat.categories.astype("str")), sort=False
    )
    base = submissions.set_index(submissions["workload"].astype("str")).reindex(index)
    is_pod = transitions["kind"] == "Pod"
    is_workload = ~is_pod & ~transitions["kind"].isin(BESIDE)
    pods = _first_times(transitions[is_pod], index, per_object=True)
    objects = _first_times(_of_workloads(transitions, is_pod, is_workload), index, per_object=False)
    needed = base["pods"].to_numpy(dtype=float)
    needed = np.where(np.isfinite(needed) & (needed > 0), needed, _pods_seen(pods, len(index)))
    columns: dict[str, Any] = {
        "workload": index.astype("category"),
        "kind": _kinds(base, transitions[is_workload], index),
        "queue": base["queue"].to_numpy(),
        "gpus": base["gpus"].to_numpy(dtype=float),
        "pods": needed,
        "outcome": base["outcome"].to_numpy(),
    }
    for milestone in MILESTONES:
        columns |= _columns_of(milestone, base, objects, pods, needed)
    frame = pd.DataFrame(columns)
    order = np.argsort(frame["sent_s"].fillna(frame["created_s"]).to_numpy(), kind="stable")
    return WORKLOADS.conform(frame.iloc[order].reset_index(drop=True))


def _of_workloads(transitions: pd.DataFrame, is_pod: pd.Series[Any], is_workload: pd.Series[Any]) -> pd.DataFrame:
    """The transitions of workload objects, and of pods that are workloads themselves: those that bear its name."""
    words = transitions["transition"].astype("object")
    words = words.where(~is_pod, words.map(POD_AS_WORKLOAD))
    named = transitions["workload"].astype("str").str.split("/").str[-1]
    alone = is_pod & (named == transitions["name"].astype("str"))
    return transitions.assign(transition=words)[is_workload | (alone & words.notna())]


def _kinds(base: pd.DataFrame, objects: pd.DataFrame, index: pd.Index[Any]) -> pd.Series[Any]:
    seen = objects.drop_duplicates("workload")
    kinds = pd.Series(seen["kind"].astype("object").to_numpy(), index=seen["workload"].astype("str"))
    submitted = base["kind"].astype("object")
    filled = submitted.where(submitted.notna(), kinds.reindex(index))
    return filled.reset_index(drop=True)


def _first_times(transitions: pd.DataFrame, index: pd.Index[Any], *, per_object: bool) -> pd.DataFrame:
    """First time of each transition, per object or per workload, with `place` in the index and `rank` in time."""
    frame = pd.DataFrame(
        {
            "place": index.get_indexer(transitions["workload"].cat.categories)[transitions["workload"].cat.codes],
            "object": transitions["uid"].cat.codes.to_numpy(),
            "word": transitions["transition"].astype("category"),
            "seen_s": transitions["seen_s"].to_numpy(),
            "server_s": transitions["server_s"].to_numpy(),
            "resolution_s": transitions["resolution_s"].to_numpy(),
        }
    ).sort_values("seen_s", kind="stable")
    keys = ["place", "object", "word"] if per_object else ["place", "word"]
    frame = frame.drop_duplicates(keys)
    frame["rank"] = frame.groupby(["place", "word"], observed=True).cumcount()
    return frame


def _pods_seen(pods: pd.DataFrame, count: int) -> NDArray[np.float64]:
    """Pods seen created per workload; NaN where none was."""
    created = pods.loc[pods["word"] == "created", "place"]
    seen = np.bincount(created, minlength=count).astype(float)
    return np.where(seen > 0, seen, np.nan)


def _columns_of(
    milestone: Milestone,
    base: pd.DataFrame,
    objects: pd.DataFrame,
    pods: pd.DataFrame,
    needed: NDArray[np.float64],
) -> dict[str, NDArray[np.float64]]:
    count = len(base)
    seen, server, resolution = (np.full(count, np.nan) for _ in range(3))
    if milestone.origin == "client":
        seen = base[milestone.transition].to_numpy(dtype=float)
    else:
        rows = objects if milestone.origin == "workload" else pods
        rows = rows[rows["word"] == milestone.transition]
        wanted = needed[rows["place"]] - 1 if milestone.origin == "all pods" else 0
        rows = rows[rows["rank"] == wanted]
        places = rows["place"].to_numpy()
        seen[places] = rows["seen_s"]
        server[places] = rows["server_s"]
        resolution[places] = rows["resolution_s"]
    name = milestone.name
    return {f"{name}_s": seen, f"{name}_server_s": server, f"{name}_resolution_s": resolution}
