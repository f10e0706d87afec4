"""Nodes that changed while the test ran: those that were lost are named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.scale_test.activity import Window

if TYPE_CHECKING:
    from perfanalysis.workloads.scale_test.tables import ScaleTestTables

LOST = ("not_ready", "deleted")
NAMES_SHOWN = 5
NODE_CHANGES = TableSpec(
    "node_changes",
    "What became of nodes during the recording, in the order of time",
    (
        Column("time_s", "number", "when it was seen, since the first submission", "s"),
        Column("node", "text", "node"),
        Column("change", "text", "created, ready, not_ready, cordoned, uncordoned or deleted"),
        Column("reason", "text", "reason given by the cluster"),
    ),
)


def node_changes_table(tables: ScaleTestTables, window: Window | None) -> pd.DataFrame:
    """The table NODE_CHANGES; the time is since the recording's first row when nothing was submitted."""
    rows = tables.transitions[(tables.transitions["kind"] == "Node") & tables.transitions["name"].notna()]
    rows = rows.sort_values("seen_s", kind="stable")
    begin = window.start if window else float(np.nanmin(rows["seen_s"])) if len(rows) else 0.0
    frame = rows.rename(columns={"transition": "change"}).assign(time_s=rows["seen_s"] - begin, node=rows["name"])
    return NODE_CHANGES.conform(frame[["time_s", "node", "change", "reason"]].reset_index(drop=True))


def lost_nodes(changes: pd.DataFrame) -> tuple[str, ...]:
    """The nodes that stopped being ready, or went, in the order in which that was first seen."""
    rows = changes[changes["change"].isin(LOST)]
    return tuple(dict.fromkeys(str(name) for name in rows["node"]))


def lost_text(changes: pd.DataFrame) -> str:
    """One sentence that names the nodes lost, and says how many came back."""
    names = lost_nodes(changes)
    last = changes.drop_duplicates("node", keep="last").set_index("node")["change"].astype("str")
    gone = [name for name in names if last[name] in LOST]
    shown = ", ".join(names[:NAMES_SHOWN]) + (
        f" and {len(names) - NAMES_SHOWN} more" if len(names) > NAMES_SHOWN else ""
    )
    back = f"{len(gone)} of them to the end" if gone else "all of them came back"
    return f"{len(names)} nodes were lost during the test ({back}): {shown}"
