"""Nodes: those that changed while the test ran, and the occupation of each over time."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.step_series import count_between

LOST = ("not_ready", "deleted")
NAMES_SHOWN = 5
NODE_CHANGES = TableSpec(
    "node_changes",
    "Events of nodes during the recording, in the order of time",
    (
        Column("time_s", "number", "when it was seen, since the first submission", "s", label="seen at"),
        Column("node", "text", "node"),
        Column("change", "text", "created, ready, not_ready, cordoned, uncordoned or deleted"),
        Column("reason", "text", "reason given by the cluster"),
    ),
)


def node_changes_table(tables: ScaleTestTables, window: Window | None) -> pd.DataFrame:
    """Return the table NODE_CHANGES; without submissions, times are since the recording's first row."""
    rows = tables.transitions[(tables.transitions["kind"] == "Node") & tables.transitions["name"].notna()]
    rows = rows.sort_values("seen_s", kind="stable")
    begin = window.start if window else float(np.nanmin(rows["seen_s"])) if len(rows) else 0.0
    frame = rows.rename(columns={"transition": "change"}).assign(time_s=rows["seen_s"] - begin, node=rows["name"])
    return NODE_CHANGES.conform(frame[["time_s", "node", "change", "reason"]].reset_index(drop=True))


def lost_nodes(changes: pd.DataFrame) -> tuple[str, ...]:
    """Return the nodes that became not ready or were removed, in the order of the first observation."""
    rows = changes[changes["change"].isin(LOST)]
    return tuple(dict.fromkeys(str(name) for name in rows["node"]))


def lost_text(changes: pd.DataFrame) -> str:
    """Return one sentence that names the nodes lost, and how many returned."""
    names = lost_nodes(changes)
    last = changes.drop_duplicates("node", keep="last").set_index("node")["change"].astype("str")
    gone = [name for name in names if last[name] in LOST]
    shown = ", ".join(names[:NAMES_SHOWN]) + (
        f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    )
    back = f"{len(gone)} of them until the end" if gone else "all of them returned"
    return f"{len(names)} nodes were lost during the test ({back}): {shown}"


MOST_ROWS = 100
COLUMNS = 240


@dataclass(frozen=True)
class Occupation:
    """`values[row, column]`: mean of the held share of the nodes' capacity in percent, or pods per node.

    Pods are counted if no pod requests a GPU. `rows` name the nodes, `nodes_per_row` is how many nodes each represents
    (the last may have fewer), `edges` are seconds since the first submission.
    """

    values: NDArray[np.float64]
    edges: NDArray[np.float64]
    rows: tuple[str, ...]
    nodes_per_row: int
    of_gpus: bool
    elsewhere: int
    """Pods on nodes that did not exist at the start, or have no GPUs: in no cell."""


def occupation(pods: pd.DataFrame, nodes: pd.DataFrame, window: Window) -> Occupation | None:
    """Return the occupation; None if no node, or no pod on any node, is known."""
    bound = pods[pods["node"].notna() & pods["scheduled_s"].notna()]
    of_gpus = bool((bound["gpus"] > 0).any())
    held = bound["gpus"].fillna(0).to_numpy(dtype=float) if of_gpus else np.ones(len(bound))
    names, capacity = _nodes(nodes, of_gpus=of_gpus)
    if not len(names) or not len(bound) or window.length <= 0:
        return None
    per_row = math.ceil(len(names) / MOST_ROWS)
    place = pd.Index(names).get_indexer(pd.Index(bound["node"].cat.categories))[bound["node"].cat.codes]
    known = place >= 0
    rows = math.ceil(len(names) / per_row)
    edges = np.linspace(window.start, window.end, COLUMNS + 1)
    starts, ends = (bound[name].to_numpy(dtype=float)[known] for name in ("scheduled_s", "ended_s"))
    row, weights = place[known] // per_row, held[known]
    own = [row == number for number in range(rows)]
    means = np.stack([count_between(starts[mine], ends[mine], weights[mine]).means(edges) for mine in own])
    whole = np.add.reduceat(capacity, np.arange(0, len(names), per_row))
    return Occupation(
        values=means / whole[:, None] * (100.0 if of_gpus else 1.0),
        edges=edges - window.start,
        rows=tuple(_row_name(names[first : first + per_row]) for first in range(0, len(names), per_row)),
        nodes_per_row=per_row,
        of_gpus=of_gpus,
        elsewhere=int((~known & (held > 0)).sum()),
    )


def occupation_of_domains(pods: pd.DataFrame, tables: ScaleTestTables, level: str, window: Window) -> Occupation | None:
    """Return the occupation with the domains of a level of the topology instead of nodes."""
    rows = tables.domains[tables.domains["level"] == level].drop_duplicates("node")
    domain_of = pd.Series(rows["domain"].astype("object").to_numpy(), index=rows["node"].astype("str").to_numpy())
    moved = pods.assign(node=pods["node"].astype("object").map(domain_of).astype("category"))
    nodes = tables.nodes.drop_duplicates("name")
    named = nodes.assign(name=nodes["name"].astype("object").map(domain_of)).dropna(subset=["name"])
    domains = named.groupby("name")[["gpus"]].sum().reset_index()
    return occupation(moved, domains, window)


def _nodes(nodes: pd.DataFrame, *, of_gpus: bool) -> tuple[list[str], NDArray[np.float64]]:
    """Return names in numeric order, and the capacity of each: its GPUs, or 1 if pods are counted."""
    chosen = nodes[nodes["gpus"] > 0] if of_gpus else nodes
    chosen = chosen.drop_duplicates("name")
    names = [str(name) for name in chosen["name"]]
    order = sorted(range(len(names)), key=lambda place: _by_number(names[place]))
    capacity = chosen["gpus"].to_numpy(dtype=float) if of_gpus else np.ones(len(chosen))
    return [names[place] for place in order], capacity[order]


def _by_number(name: str) -> tuple[tuple[int, str], ...]:
    """Order node-9 before node-10."""
    return tuple((int(part), "") if part.isdigit() else (-1, part) for part in re.split(r"(\d+)", name))


def _row_name(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{names[0]} \u2026 {names[-1]}"
