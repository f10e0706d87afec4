"""What tells workloads and tenants apart in every table of a recording, and the tables of some workloads only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from perfanalysis.workloads.selection import Selection

if TYPE_CHECKING:
    from perfanalysis.workloads.scale_test.tables import ScaleTestTables


def several_namespaces(tables: ScaleTestTables) -> bool:
    """Whether a recording's workloads stand in more than one namespace."""
    submitted = tables.submissions["namespace"]
    seen = tables.transitions["namespace"][tables.transitions["workload"].notna()]
    found = {str(name) for names in (submitted, seen) for name in names.cat.remove_unused_categories().cat.categories}
    return len(found - {""}) > 1


def workload_keys(frame: pd.DataFrame, column: str, *, several: bool) -> pd.Series[Any]:
    """A workload's name, with the namespace before it when there are several; null where the column is."""
    if not several:
        return frame[column]
    spaces, names = frame["namespace"].cat, frame[column].cat
    known = frame[column].notna().to_numpy()
    # a name is joined once for each pair that occurs, not once for each row
    pairs = pd.MultiIndex.from_arrays([spaces.codes.to_numpy()[known], names.codes.to_numpy()[known]])
    codes, found = pd.factorize(pairs)
    texts = [f"{spaces.categories[space]}/{names.categories[name]}" for space, name in found]
    places = np.full(len(frame), -1)
    places[known] = codes
    joined: Any = pd.Categorical.from_codes(places, categories=pd.Index(texts, dtype="object"))
    return pd.Series(joined, index=frame.index)


def tenants(queue: pd.Series[Any], namespace: pd.Series[Any]) -> pd.Series[Any]:
    """Whose work each row is: its queue, else its namespace; a queue's namespace stands before it where it must."""
    spaces, queues = namespace.astype("object"), queue.astype("object")
    known = pd.DataFrame({"queue": queues, "namespace": spaces}).dropna().drop_duplicates()
    ambiguous = known["queue"].value_counts()
    shared = queues.isin(ambiguous.index[ambiguous > 1])
    named = queues.where(~shared, spaces.astype("str") + "/" + queues.astype("str"))
    return named.where(queues.notna(), spaces)


def select(tables: ScaleTestTables, selection: Selection) -> tuple[ScaleTestTables, str]:
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
