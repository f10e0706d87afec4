"""A recording cut down to some of its workloads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from perfanalysis.workloads.scale_test.naming import several_namespaces, workload_keys
from perfanalysis.workloads.selection import Selection

if TYPE_CHECKING:
    from perfanalysis.workloads.scale_test.tables import ScaleTestTables


def part_of(tables: ScaleTestTables, selection: Selection) -> tuple[ScaleTestTables, str]:
    """The chosen workloads with all that was recorded of them, and a phrase that says which they are.

    What belongs to no workload (nodes, the control plane) stays whole.
    """
    several = several_namespaces(tables)
    submitted = workload_keys(tables.submissions, "name", several=several)
    watched = workload_keys(tables.transitions, "workload", several=several)
    ordered = _in_order(tables, submitted, watched)
    chosen = selection.of(ordered)
    events = workload_keys(tables.events, "workload", several=several)
    churned = workload_keys(tables.churn, "name", several=several)
    part = replace(
        tables,
        submissions=tables.submissions[submitted.isin(chosen)],
        transitions=tables.transitions[watched.isin(chosen) | (tables.transitions["kind"] == "Node")],
        events=tables.events[events.isin(chosen) | (tables.events["kind"] == "Node")],
        churn=tables.churn[churned.isin(chosen)],
    )
    return part, f"only the {selection.words} by submission: {len(chosen)} of {len(ordered)} workloads"


def _in_order(tables: ScaleTestTables, submitted: pd.Series[str], watched: pd.Series[str]) -> list[str]:
    """Every workload by the time of its submission; where nobody recorded it, by when it was first seen."""
    sent = pd.Series(tables.submissions["sent_s"].to_numpy(), index=submitted.astype("object"))
    sent = sent[~sent.index.duplicated(keep="last")]
    known = watched.notna()
    seen = tables.transitions["seen_s"][known].groupby(watched[known], observed=True).min()
    seen.index = seen.index.astype("object")
    times = pd.concat([sent, seen[~seen.index.isin(sent.index)]]).sort_values(kind="stable")
    return [str(name) for name in times.index]
