"""Workloads that started before one that was submitted earlier, with the same tenant, priority and size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from perfanalysis.files.tables import Column, TableSpec

if TYPE_CHECKING:
    from numpy.typing import NDArray

ALIKE = ("tenant", "priority", "gpus", "pods")
INVERSIONS = TableSpec(
    "inversions",
    "Starts out of the order of submission, among workloads that are alike",
    (
        Column("tenant", "text", "queue, else namespace"),
        Column("priority", "integer", "priority, if any"),
        Column("gpus", "number", "GPUs asked for by all its pods", "GPUs"),
        Column("pods", "number", "pods it consists of", "pods"),
        Column("workloads", "integer", "workloads alike that started", "workloads"),
        Column("pairs", "integer", "pairs of which the one submitted later started first", "pairs"),
        Column("overtaking", "integer", "workloads that started before one submitted earlier", "workloads"),
        Column("overtaken", "integer", "workloads before which one submitted later started", "workloads"),
    ),
)


def inversions_table(workloads: pd.DataFrame) -> pd.DataFrame:
    """The table INVERSIONS.

    A workload was submitted before another when its request was answered before the other's was sent: of two that
    were on their way at once nobody knows which came first. It starts when all its pods are bound to nodes.
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


def counts_of_pairs(
    answered: NDArray[np.float64], sent: NDArray[np.float64], started: NDArray[np.float64], groups: NDArray[Any]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """For each workload: before how many that were submitted earlier it started, and how many started before it.

    Both in n log² n: answers and sendings stand in one sequence, by group and time, and halves of it are merged as in
    a merge sort; what stands in an earlier half is counted for the later one by binary search.
    """
    count = len(sent)
    moments = np.concatenate([answered, sent])
    is_query = np.repeat([False, True], count)
    # at one moment the sending comes first: an answer at that moment is not earlier
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
        # pairs (earlier answer, later sending) of one block with the answer's start above the sending's
        answers, queries = np.sort(keys[earlier]), np.sort(keys[later])
        ends = np.searchsorted(answers, (block[later] + 1) * scale)
        totals[later] += ends - np.searchsorted(answers, keys[later], side="right")
        begins = np.searchsorted(queries, block[earlier] * scale)
        totals[earlier] += np.searchsorted(queries, keys[earlier], side="left") - begins
        width *= 2
    back = np.empty(2 * count, dtype="int64")
    back[order] = totals
    return back[count:], back[:count]
