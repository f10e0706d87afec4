"""Churn: rounds in which the test deletes workloads and puts others in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.percentiles import estimates
from perfanalysis.workloads.scale_test.naming import workload_keys
from perfanalysis.workloads.scale_test.pods import places_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfanalysis.workloads.scale_test.tables import ScaleTestTables

STEPS = ("time_to_scheduled", "time_to_running")
GIVEN = ("p50", "p99")
ROUNDS = TableSpec(
    "rounds",
    "One row per round of churn; round 0 is the first submission",
    (
        Column("round", "integer", "the round"),
        Column("submitted", "integer", "workloads sent in it", "workloads"),
        Column("deleted", "integer", "workloads that the test deleted in it", "workloads"),
        Column("failed_deletions", "integer", "deletions that were refused or not answered", "workloads"),
        Column("completed", "integer", "of those sent in it, completed", "workloads"),
        *(
            Column(f"{step}_{given}_s", "number", f"{given} of {step} of those sent in it; null for too few", "s")
            for step in STEPS
            for given in GIVEN
        ),
    ),
)


def deletions(tables: ScaleTestTables, workloads: pd.DataFrame) -> NDArray[np.float64]:
    """When the test sent the deletion of each workload, in seconds since the epoch; NaN for those it did not delete."""
    several = len(workloads["namespace"].cat.remove_unused_categories().cat.categories) > 1
    rows = tables.churn[tables.churn["outcome"] == "deleted"]
    places = places_of(workload_keys(rows, "name", several=several), workloads)
    sent = np.full(len(workloads), np.nan)
    sent[places[places >= 0]] = rows["sent_s"].to_numpy(dtype=float)[places >= 0]
    return sent


def churned_by_test(tables: ScaleTestTables, workloads: pd.DataFrame) -> pd.Series[Any]:
    """Which workloads the test deleted to put others in their place, before they had ended by themselves."""
    sent = deletions(tables, workloads)
    ended = workloads[["completed_s", "failed_s"]].min(axis=1).to_numpy(dtype=float)
    # a deletion makes the pods of a workload fail, and the workload may say so before it goes
    return pd.Series(~np.isnan(sent) & ~(ended <= sent), index=workloads.index)


def rounds_table(tables: ScaleTestTables, workloads: pd.DataFrame, latencies: pd.DataFrame) -> pd.DataFrame:
    """The table ROUNDS; empty without churn."""
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
            row |= {f"{step}_{one.statistic}_s": one.value for one in estimates(values) if one.statistic in GIVEN}
        rows.append(row)
    return ROUNDS.conform(pd.DataFrame(rows))
