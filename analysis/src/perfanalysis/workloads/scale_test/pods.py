"""One row per pod on the client's clock, and pods and workloads that the test itself deleted and replaced."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.percentiles import Method, estimates
from perfanalysis.workloads.scale_test.tables import ScaleTestTables, workload_keys

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
    """Return the table PODS; pods of no workload are left out."""
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
        "node": _texts(rows["node"], codes, len(objects), rows["node"].notna().to_numpy()),
        "gpus": _gpus(workloads, owner),
    }
    for word in ("created", "scheduled", "running"):
        columns[f"{word}_s"] = _times(rows, codes, len(objects), (rows["transition"] == word).to_numpy())
    is_ending = rows["transition"].isin(ENDINGS).to_numpy()
    columns["ended_s"] = _times(rows, codes, len(objects), is_ending)
    columns["ending"] = _texts(rows["transition"], codes, len(objects), is_ending)
    return PODS.conform(pd.DataFrame(columns))


def _times(rows: pd.DataFrame, codes: Any, count: int, chosen: Any) -> Any:
    """Return the first time per pod among the selected rows; rows ascend in time, so writing backwards keeps it."""
    times = np.full(count, np.nan)
    times[codes[chosen][::-1]] = rows["seen_s"].to_numpy()[chosen][::-1]
    return times


def _texts(values: pd.Series[Any], codes: Any, count: int, chosen: Any) -> Any:
    """Return `_times` for a text column."""
    places = np.full(count, -1)
    places[codes[chosen][::-1]] = values.cat.codes.to_numpy()[chosen][::-1]
    return pd.Categorical.from_codes(places, categories=values.cat.categories)


def places_of(names: pd.Series[Any], workloads: pd.DataFrame) -> Any:
    """Return the row of each named workload in the table of workloads; -1 for none."""
    rows = pd.Index(workloads["workload"].astype("str")).get_indexer(names.cat.categories.astype("str"))
    return np.where(names.cat.codes >= 0, rows[names.cat.codes], -1) if len(rows) else np.full(len(names), -1)


def _gpus(workloads: pd.DataFrame, owner: Any) -> Any:
    """Return GPUs per pod: the workload's, spread evenly over its pods."""
    share = np.append((workloads["gpus"] / workloads["pods"]).to_numpy(dtype=float), np.nan)
    return share[owner]


STEPS = ("time_to_scheduled", "time_to_running")
GIVEN = ("p50", "p99")
ROUNDS = TableSpec(
    "rounds",
    "One row per round of churn; round 0 is the first submission",
    (
        Column("round", "integer", "the round"),
        Column("submitted", "integer", "workloads sent in it", "workloads"),
        Column("deleted", "integer", "workloads that the test deleted in it", "workloads"),
        Column("failed_deletions", "integer", "deletions that were refused or had no response", "workloads"),
        Column("completed", "integer", "of those sent in it, completed", "workloads"),
        *(
            Column(f"{step}_{given}_s", "number", f"{given} of {step} of those sent in it; null if too few", "s")
            for step in STEPS
            for given in GIVEN
        ),
    ),
)


def deletions(tables: ScaleTestTables, workloads: pd.DataFrame) -> NDArray[np.float64]:
    """Return when the test sent the deletion of each workload, in seconds since the epoch; NaN for others."""
    several = len(workloads["namespace"].cat.remove_unused_categories().cat.categories) > 1
    rows = tables.churn[tables.churn["outcome"] == "deleted"]
    places = places_of(workload_keys(rows, "name", several=several), workloads)
    sent = np.full(len(workloads), np.nan)
    sent[places[places >= 0]] = rows["sent_s"].to_numpy(dtype=float)[places >= 0]
    return sent


def churned_by_test(tables: ScaleTestTables, workloads: pd.DataFrame) -> pd.Series[Any]:
    """Return which workloads the test deleted to replace them, before they had ended by themselves."""
    sent = deletions(tables, workloads)
    ended = workloads[["completed_s", "failed_s"]].min(axis=1).to_numpy(dtype=float)
    # a deletion makes the pods of a workload fail, and the workload may report it before it is removed
    return pd.Series(~np.isnan(sent) & ~(ended <= sent), index=workloads.index)


def rounds_table(
    tables: ScaleTestTables, workloads: pd.DataFrame, latencies: pd.DataFrame, method: Method
) -> pd.DataFrame:
    """Return the table ROUNDS; empty without churn."""
    if not len(tables.churn):
        return ROUNDS.empty()
    sent = workloads["round"].fillna(0).astype("int64").to_numpy()
    deleted = tables.churn["round"].fillna(0).astype("int64").to_numpy()
    failed = (tables.churn["outcome"] == "failed").to_numpy()
    rows = []
    for number in np.union1d(sent, deleted):
        mine, of_round = sent == number, deleted == number
        row: dict[str, Any] = {"round": int(number), "submitted": int(mine.sum())}
        row["deleted"] = int((of_round & (tables.churn["outcome"] == "deleted").to_numpy()).sum())
        row["failed_deletions"] = int((of_round & failed).sum())
        row["completed"] = int((mine & workloads["completed_s"].notna().to_numpy()).sum())
        for step in STEPS:
            values = latencies[f"{step}_s"].to_numpy(dtype=float)[mine]
            found = estimates(values, method)
            row |= {f"{step}_{statistic}_s": found[statistic].number for statistic in GIVEN}
        rows.append(row)
    return ROUNDS.conform(pd.DataFrame(rows))
