"""One row per pod: when it was created, bound to a node, started and ended, on the client's clock."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.naming import workload_keys

UNIT = "s since the epoch, UTC"
ENDINGS = ("succeeded", "failed", "evicted", "deleted")
PODS = TableSpec(
    "pods",
    "One row per pod that belongs to a workload, by the client's clock",
    (
        Column("pod", "text", "name"),
        Column("workload", "text", "as in the table workloads"),
        Column("tenant", "text", "as in the table workloads"),
        Column("node", "text", "node it was bound to"),
        Column("gpus", "number", "its share of the workload's GPUs", "GPUs"),
        Column("created_s", "time", "seen created", UNIT),
        Column("scheduled_s", "time", "seen bound to a node", UNIT),
        Column("running_s", "time", "seen running", UNIT),
        Column("ended_s", "time", "first seen succeeded, failed, evicted or deleted", UNIT),
        Column("ending", "text", "which of these"),
    ),
)


def pods_table(transitions: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """The table PODS; pods of no workload are left out."""
    several = len(workloads["namespace"].cat.remove_unused_categories().cat.categories) > 1
    transitions = transitions.assign(workload=workload_keys(transitions, "workload", several=several))
    rows = transitions[(transitions["kind"] == "Pod") & transitions["workload"].notna()].sort_values("seen_s")
    codes, objects = pd.factorize(rows["uid"].cat.codes)
    first = np.unique(codes, return_index=True)[1]
    owner = places_of(rows["workload"].iloc[first], workloads)
    columns: dict[str, Any] = {
        "pod": rows["name"].array[first],
        "workload": rows["workload"].array[first],
        "tenant": workloads["tenant"].array.take(owner, allow_fill=True),
        "node": _nodes(rows, codes, len(objects)),
        "gpus": _gpus(workloads, owner),
    }
    for word in ("created", "scheduled", "running"):
        columns[f"{word}_s"] = _times(rows, codes, len(objects), (rows["transition"] == word).to_numpy())
    is_ending = rows["transition"].isin(ENDINGS).to_numpy()
    columns["ended_s"] = _times(rows, codes, len(objects), is_ending)
    columns["ending"] = _texts(rows["transition"], codes, len(objects), is_ending)
    return PODS.conform(pd.DataFrame(columns))


def _times(rows: pd.DataFrame, codes: Any, count: int, chosen: Any) -> Any:
    """First time per pod among the chosen rows; rows ascend in time, so writing them backwards leaves the first."""
    times = np.full(count, np.nan)
    times[codes[chosen][::-1]] = rows["seen_s"].to_numpy()[chosen][::-1]
    return times


def _texts(values: pd.Series[Any], codes: Any, count: int, chosen: Any) -> Any:
    """As `_times` for a text column."""
    places = np.full(count, -1)
    places[codes[chosen][::-1]] = values.cat.codes.to_numpy()[chosen][::-1]
    return pd.Categorical.from_codes(places, categories=values.cat.categories)


def _nodes(rows: pd.DataFrame, codes: Any, count: int) -> Any:
    return _texts(rows["node"], codes, count, rows["node"].notna().to_numpy())


def places_of(names: pd.Series[Any], workloads: pd.DataFrame) -> Any:
    """The row of each named workload in the table of workloads; -1 for none."""
    rows = pd.Index(workloads["workload"].astype("str")).get_indexer(names.cat.categories.astype("str"))
    return np.where(names.cat.codes >= 0, rows[names.cat.codes], -1) if len(rows) else np.full(len(names), -1)


def _gpus(workloads: pd.DataFrame, owner: Any) -> Any:
    """GPUs per pod: the workload's, spread evenly over its pods."""
    share = np.append((workloads["gpus"] / workloads["pods"]).to_numpy(dtype=float), np.nan)
    return share[owner]
