"""The tables of a scale test's recording, and those derived from them.

Also names that distinguish workloads and tenants in every table, and the tables of selected workloads.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from perfanalysis.files.documents import Document, listing, mapping
from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.workload_type import Selection

SUBMISSIONS = TableSpec(
    "submissions",
    "One row per submitted workload, as the submitter saw it",
    (
        Column("index", "integer", "place in the order of submission"),
        Column("kind", "text", "kind of the workload object"),
        Column("namespace", "text", "namespace"),
        Column("name", "text", "name of the workload object"),
        Column("queue", "text", "queue it was submitted to, if any", required=False),
        Column("gpus", "number", "GPUs requested by all its pods", "GPUs"),
        Column("pods", "number", "number of its pods", "pods"),
        Column("sent_s", "time", "when the request was sent", "s since the epoch, UTC"),
        Column("answered_s", "time", "when the final response was received", "s since the epoch, UTC"),
        Column("status", "integer", "HTTP status of the final response"),
        Column("outcome", "text", "created, existed or failed"),
        Column("attempts", "integer", "number of requests sent for it"),
        Column("error", "text", "why it failed", required=False),
        Column("priority", "integer", "value of its priority class, if any", required=False),
        Column("submitter", "integer", "process that sent it, from 0", required=False),
        Column("round", "integer", "round of churn it was sent in; 0 is the first submission", required=False),
        Column("replaces", "integer", "index of the workload that it replaced, if any", required=False),
    ),
)
TRANSITIONS = TableSpec(
    "transitions",
    "One row per observed change of a workload object, pod or node",
    (
        Column("seen_s", "time", "when the client saw it", "s since the epoch, UTC"),
        Column("kind", "text", "kind of the object"),
        Column("namespace", "text", "namespace"),
        Column("name", "text", "name of the object"),
        Column("uid", "text", "uid of the object"),
        Column("workload", "text", "workload it belongs to, if any"),
        Column("transition", "text", "the new state: created, scheduled, running, …"),
        Column("server_s", "time", "the server's own timestamp", "s since the epoch, UTC"),
        Column("resolution_s", "number", "resolution of the server's timestamp", "s"),
        Column("node", "text", "node of a pod"),
        Column("reason", "text", "reason given by the cluster"),
        Column("devices", "integer", "devices of an allocated claim", "devices", required=False),
        Column("gpus", "integer", "GPUs among them", "GPUs", required=False),
        Column("cluster", "text", "cluster to which Kueue dispatched a workload", required=False),
    ),
)
EVENTS = TableSpec(
    "events",
    "One row per Kubernetes event of the namespaces",
    (
        Column("seen_s", "time", "when the client saw it", "s since the epoch, UTC"),
        Column("server_s", "time", "the event's own time", "s since the epoch, UTC"),
        Column("resolution_s", "number", "resolution of the event's time", "s"),
        Column("kind", "text", "kind of the object it is about"),
        Column("namespace", "text", "namespace"),
        Column("name", "text", "name of the object it is about"),
        Column("workload", "text", "workload it belongs to, if any"),
        Column("type", "text", "Normal or Warning"),
        Column("reason", "text", "short reason"),
        Column("message", "text", "message"),
        Column("count", "integer", "how often it occurred"),
    ),
)
NODES = TableSpec(
    "nodes",
    "Nodes at the start of the recording",
    (Column("name", "text", "node"), Column("gpus", "number", "GPUs it offers", "GPUs")),
)
DOMAINS = TableSpec(
    "domains",
    "Domains of the nodes at the start of the recording, by level of the topology",
    (
        Column("node", "text", "node"),
        Column("depth", "integer", "place of the level, 0 for the largest domains"),
        Column("level", "text", "label of nodes that names the domains"),
        Column("domain", "text", "the domain"),
    ),
)
CHURN = TableSpec(
    "churn",
    "One row per workload that the test deleted while it ran, to replace it",
    (
        Column("round", "integer", "round of churn, from 1"),
        Column("index", "integer", "index of the workload"),
        Column("namespace", "text", "namespace"),
        Column("name", "text", "name of the workload object"),
        Column("sent_s", "time", "when the deletion was sent", "s since the epoch, UTC"),
        Column("answered_s", "time", "when the response was received", "s since the epoch, UTC"),
        Column("status", "integer", "HTTP status of the final response"),
        Column("outcome", "text", "deleted, absent or failed"),
        Column("error", "text", "why it failed", required=False),
    ),
)
CONTROL_PLANE = TableSpec(
    "control_plane",
    "One row per sample of a metric of the control plane",
    (
        Column("at_s", "time", "when it was scraped", "s since the epoch, UTC"),
        Column("phase", "text", "before, during or after the test"),
        Column("component", "text", "kube-apiserver, kube-scheduler, kube-controller-manager or etcd"),
        Column("metric", "text", "name of the metric"),
        Column("verb", "text", "label of the sample: kind of request", inside="labels"),
        Column("code", "text", "label: HTTP status", inside="labels"),
        Column("resource", "text", "label: resource of a request", inside="labels"),
        Column("subresource", "text", "label: subresource of a request", inside="labels"),
        Column("operation", "text", "label: request to etcd", inside="labels"),
        Column("queue", "text", "label: queue of the scheduler", inside="labels"),
        Column("name", "text", "label: queue of a controller", inside="labels"),
        Column("result", "text", "label: result of an attempt to schedule", inside="labels"),
        Column("extension_point", "text", "label: part of the scheduler's cycle", inside="labels"),
        Column("request_kind", "text", "label: mutating or readOnly", inside="labels"),
        Column("le", "text", "label: upper bound of a histogram's bucket", "s", inside="labels"),
        Column("value", "number", "the sample, in the metric's own unit"),
    ),
)


@dataclass(frozen=True)
class ScaleTestTables:
    """The contents of a recording."""

    submissions: pd.DataFrame = field(metadata={"table": SUBMISSIONS})
    transitions: pd.DataFrame = field(metadata={"table": TRANSITIONS})
    events: pd.DataFrame = field(metadata={"table": EVENTS})
    nodes: pd.DataFrame = field(metadata={"table": NODES})
    domains: pd.DataFrame = field(metadata={"table": DOMAINS})
    churn: pd.DataFrame = field(metadata={"table": CHURN})
    control_plane: pd.DataFrame = field(metadata={"table": CONTROL_PLANE})


def domains_in(nodes: Document) -> list[Any]:
    """Return a record of the table DOMAINS for each node and each level in which it has a domain."""
    levels = listing(nodes.get("levels"))
    return [
        {"node": mapping(node).get("name"), "depth": depth, "level": level, "domain": domain}
        for node in listing(nodes.get("nodes"))
        for depth, (level, domain) in enumerate(zip(levels, listing(mapping(node).get("domains")), strict=False))
        if domain
    ]


def several_namespaces(tables: ScaleTestTables) -> bool:
    """Return whether a recording's workloads are in more than one namespace."""
    submitted = tables.submissions["namespace"]
    seen = tables.transitions["namespace"][tables.transitions["workload"].notna()]
    found = {str(name) for names in (submitted, seen) for name in names.cat.remove_unused_categories().cat.categories}
    return len(found - {""}) > 1


def workload_keys(frame: pd.DataFrame, column: str, *, several: bool) -> pd.Series[Any]:
    """Return a workload's name, with the namespace before it if there are several; null if the column is."""
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
    """Return the tenant of each row: its queue, else its namespace; with the queue's namespace if needed."""
    spaces, queues = namespace.astype("object"), queue.astype("object")
    known = pd.DataFrame({"queue": queues, "namespace": spaces}).dropna().drop_duplicates()
    ambiguous = known["queue"].value_counts()
    shared = queues.isin(ambiguous.index[ambiguous > 1])
    named = queues.where(~shared, spaces.astype("str") + "/" + queues.astype("str"))
    return named.where(queues.notna(), spaces)


def select(tables: ScaleTestTables, selection: Selection) -> tuple[ScaleTestTables, str]:
    """Return the selected workloads with all their recorded data, and a phrase that describes the selection.

    Data of no workload (nodes, the control plane) stays complete.
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
    """Return every workload by the time of its submission; if that was not recorded, by its first observation."""
    sent = pd.Series(tables.submissions["sent_s"].to_numpy(), index=submitted.astype("object"))
    sent = sent[~sent.index.duplicated(keep="last")]
    known = watched.notna()
    seen = tables.transitions["seen_s"][known].groupby(watched[known], observed=True).min()
    seen.index = seen.index.astype("object")
    times = pd.concat([sent, seen[~seen.index.isin(sent.index)]]).sort_values(kind="stable")
    return [str(name) for name in times.index]
