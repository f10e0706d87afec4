"""Where the pods of gangs are in the topology of the nodes, and the fewest domains that could have held them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.placement import Gangs, Holdings, fewest_at_admission
from perfanalysis.workloads.scale_test.pods import places_of
from perfanalysis.workloads.scale_test.tables import ScaleTestTables

NODE_LEVEL = "kubernetes.io/hostname"
PLACEMENTS = TableSpec(
    "placements",
    "One row per workload of several pods and level of the topology, from the largest domains to the nodes",
    (
        Column("workload", "text", "as in the table workloads"),
        Column("tenant", "text", "as in the table workloads"),
        Column("pods", "number", "number of its pods", "pods"),
        Column("gpus", "number", "GPUs requested by all its pods", "GPUs"),
        Column("level", "text", "label of nodes that names the domains"),
        Column("domains", "integer", "domains in which its pods were bound"),
        Column("fewest", "integer", "fewest domains that could have held it at its admission; null if unknown"),
        Column("excess", "integer", "domains beyond the fewest"),
        Column("admission_s", "number", "from the submission to the admission", "s"),
        Column("assembly_s", "number", "from its first pod bound to its last", "s"),
        Column("complete", "flag", "whether all its pods were bound at the same time"),
    ),
)


def smallest_level(placements: pd.DataFrame) -> str | None:
    """Return the smallest declared level, above the nodes; None without a topology."""
    declared = placements["level"][placements["level"] != NODE_LEVEL]
    return str(declared.iloc[-1]) if len(declared) else None


def at_smallest_level(placements: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of that level, one for each gang."""
    return placements[placements["level"] == smallest_level(placements)]


def placements_table(tables: ScaleTestTables, workloads: pd.DataFrame, pods: pd.DataFrame) -> pd.DataFrame:
    """Return the table PLACEMENTS; empty without a topology or without bound gangs."""
    names, levels = _levels(tables)
    bound = _bound(tables, workloads, pods)
    if not names or not len(bound):
        return PLACEMENTS.empty()
    gangs = _gangs(bound[bound["last"]], workloads)
    if not len(gangs):
        return PLACEMENTS.empty()
    capacity = _nodes(tables)["gpus"].fillna(0).to_numpy(dtype=float)
    fewest = _fewest(bound, gangs, capacity, levels)
    own = bound[bound["last"] & bound["workload"].isin(gangs["workload"])]
    columns: dict[str, Any] = {
        name: np.repeat(workloads[name].array[gangs["workload"]], len(names)) for name in ("workload", "tenant")
    }
    for name in ("pods", "gpus", "admission_s", "assembly_s", "complete"):
        columns[name] = np.repeat(gangs[name].to_numpy(), len(names))
    columns["level"] = np.tile(np.array(names, dtype=object), len(gangs))
    columns["domains"] = _spans(own, gangs, levels).reshape(-1)
    columns["fewest"] = fewest.reshape(-1)
    columns["excess"] = columns["domains"] - columns["fewest"]
    return PLACEMENTS.conform(pd.DataFrame(columns))


def _nodes(tables: ScaleTestTables) -> pd.DataFrame:
    return tables.nodes.drop_duplicates("name")


def _levels(tables: ScaleTestTables) -> tuple[list[str], NDArray[np.int64]]:
    """Return the labels of all levels, and the domain of each node at each, as in `fewest_at_admission`."""
    nodes = pd.Index(_nodes(tables)["name"].astype("str"))
    ordered = tables.domains.sort_values("depth", kind="stable")
    names, rows = [], []
    for level, found in ordered.groupby("level", sort=False, observed=True):
        codes = np.full(len(nodes), -1, dtype=np.int64)
        places = nodes.get_indexer(pd.Index(found["node"].astype("str")))
        codes[places[places >= 0]] = pd.factorize(found["domain"])[0][places >= 0]
        names.append(str(level))
        rows.append(codes)
    if not rows or NODE_LEVEL in names:
        return names, np.array(rows, dtype=np.int64)
    return [*names, NODE_LEVEL], np.array([*rows, np.arange(len(nodes))], dtype=np.int64)


def _bound(tables: ScaleTestTables, workloads: pd.DataFrame, pods: pd.DataFrame) -> pd.DataFrame:
    """Return the pods that were bound to known nodes: workload, node, GPUs, times, whether among its workload's last.

    A workload that was evicted has bound more pods than it consists of; the last ones are its final placement.
    """
    places = pd.Index(_nodes(tables)["name"].astype("str")).get_indexer(pd.Index(pods["node"].astype("object")))
    owner = places_of(pods["workload"], workloads)
    frame = pd.DataFrame(
        {
            "workload": owner,
            "node": places,
            "gpus": pods["gpus"].fillna(0.0).to_numpy(dtype=float),
            "scheduled_s": pods["scheduled_s"].to_numpy(dtype=float),
            "ended_s": pods["ended_s"].fillna(np.inf).to_numpy(dtype=float),
        }
    )
    frame = frame[(frame["workload"] >= 0) & (frame["node"] >= 0) & frame["scheduled_s"].notna()]
    frame = frame.sort_values(["workload", "scheduled_s"], kind="stable")
    wanted = workloads["pods"].fillna(0).to_numpy(dtype=float)[frame["workload"]]
    from_end = frame.groupby("workload").cumcount(ascending=False).to_numpy()
    several = frame.groupby("workload")["node"].transform("size").to_numpy()
    admitted = workloads["admitted_s"].to_numpy(dtype=float)[frame["workload"]]
    # the first admission is recorded; after an eviction, the last pods belong to a later one
    known = (several <= wanted) & (admitted <= frame["scheduled_s"])
    start = np.where(known, admitted, frame["scheduled_s"])
    return frame.assign(last=from_end < wanted, start_s=start)


def _gangs(last: pd.DataFrame, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each workload of several pods of which some were bound."""
    grouped = last.groupby("workload").agg(
        at=("start_s", "min"),
        first=("scheduled_s", "min"),
        final=("scheduled_s", "max"),
        ended=("ended_s", "min"),
        bound=("node", "size"),
    )
    of = workloads.iloc[grouped.index.to_numpy()]
    pods, sent = of["pods"].to_numpy(dtype=float), of["sent_s"].to_numpy(dtype=float)
    complete = (grouped["bound"].to_numpy() == pods) & (grouped["final"] < grouped["ended"]).to_numpy()
    frame = grouped.reset_index().assign(pods=pods, gpus=of["gpus"].to_numpy(dtype=float), complete=complete)
    frame = frame.assign(admission_s=frame["at"] - sent, assembly_s=frame["final"] - frame["first"])
    return frame[pods > 1].reset_index(drop=True)


def _fewest(
    bound: pd.DataFrame, gangs: pd.DataFrame, capacity: NDArray[np.float64], levels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the fewest domains by gang and level; NaN for gangs without GPUs, which no recorded capacity limits."""
    found = np.full((len(gangs), len(levels)), np.nan)
    share = (gangs["gpus"] / gangs["pods"]).to_numpy(dtype=float)
    limited = np.flatnonzero(share > 0)
    chosen = gangs.iloc[limited]
    holdings = Holdings(
        bound["workload"].to_numpy(dtype=np.int64),
        bound["node"].to_numpy(dtype=np.int64),
        *(bound[name].to_numpy(dtype=float) for name in ("gpus", "start_s", "ended_s")),
    )
    wanted = Gangs(
        chosen["workload"].to_numpy(dtype=np.int64),
        chosen["at"].to_numpy(dtype=float),
        chosen["pods"].to_numpy(dtype=np.int64),
        share[limited],
    )
    found[limited] = fewest_at_admission(holdings, wanted, capacity, levels)
    return found


def _spans(own: pd.DataFrame, gangs: pd.DataFrame, levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the number of distinct domains of the pods of each gang (rows) at each level (columns)."""
    rows = pd.Index(gangs["workload"]).get_indexer(pd.Index(own["workload"]))
    found = np.zeros((len(gangs), len(levels)))
    for column, domains in enumerate(levels):
        codes = domains[own["node"].to_numpy()]
        pairs = np.unique(np.stack((rows[codes >= 0], codes[codes >= 0])), axis=1)
        found[:, column] = np.bincount(pairs[0], minlength=len(gangs))
    return found
