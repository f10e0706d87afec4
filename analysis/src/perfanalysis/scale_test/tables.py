"""The tables a scale test records, and those derived from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perfanalysis.tables import Column, TableSpec

if TYPE_CHECKING:
    import pandas as pd

SUBMISSIONS = TableSpec(
    "submissions",
    "One row per submitted workload, as the submitter saw it",
    (
        Column("index", "integer", "place in the order of submission"),
        Column("kind", "text", "kind of the workload object"),
        Column("namespace", "text", "namespace"),
        Column("name", "text", "name of the workload object"),
        Column("queue", "text", "queue it was submitted to, if any", required=False),
        Column("gpus", "number", "GPUs asked for by all its pods", "GPUs"),
        Column("pods", "number", "pods it consists of", "pods"),
        Column("sent_s", "time", "when the request was sent", "s since the epoch, UTC"),
        Column("answered_s", "time", "when the final answer came", "s since the epoch, UTC"),
        Column("status", "integer", "HTTP status of the final answer"),
        Column("outcome", "text", "created, existed or failed"),
        Column("attempts", "integer", "requests sent for it"),
        Column("error", "text", "why it failed", required=False),
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
        Column("transition", "text", "what it became: created, scheduled, running, …"),
        Column("server_s", "time", "the server's own stamp", "s since the epoch, UTC"),
        Column("resolution_s", "number", "resolution of the server's stamp", "s"),
        Column("node", "text", "node of a pod"),
        Column("reason", "text", "reason given by the cluster"),
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


@dataclass(frozen=True)
class ScaleTestTables:
    """What a recording holds."""

    submissions: pd.DataFrame = field(metadata={"table": SUBMISSIONS})
    transitions: pd.DataFrame = field(metadata={"table": TRANSITIONS})
    events: pd.DataFrame = field(metadata={"table": EVENTS})
    nodes: pd.DataFrame = field(metadata={"table": NODES})
