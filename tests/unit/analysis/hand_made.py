"""Small tables for hand-computed tests: lists of events become the tables of a recording."""

from __future__ import annotations

from typing import Any

import pandas as pd
from perfanalysis.files.tables import TableSpec
from perfanalysis.workloads.scale_test.tables import (
    CHURN,
    CONTROL_PLANE,
    DOMAINS,
    EVENTS,
    NODES,
    SUBMISSIONS,
    TRANSITIONS,
    ScaleTestTables,
)


def frame(spec: TableSpec, rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return rows with only the relevant columns as the declared table."""
    names = [column.name for column in spec.columns]
    return spec.conform(pd.DataFrame(rows, columns=names))


def submission(name: str, sent: float, **more: Any) -> dict[str, Any]:
    """Return a workload of one pod with one GPU, created at the first attempt, answered after 10 ms."""
    usual = {"index": 0, "kind": "Job", "namespace": "ns", "gpus": 1.0, "pods": 1.0, "status": 201, "attempts": 1}
    return {**usual, "outcome": "created", "name": name, "sent_s": sent, "answered_s": sent + 0.01, **more}


def transition(kind: str, name: str, word: str, seen: float, **more: Any) -> dict[str, Any]:
    """Return a transition of an object `workload` or `workload-pod`; the server's timestamp is the whole second."""
    workload = name.split("-")[0]
    stamps = {"seen_s": seen, "server_s": float(int(seen)), "resolution_s": 1.0}
    return {
        "kind": kind,
        "namespace": "ns",
        "name": name,
        "uid": f"uid-{name}",
        "workload": workload,
        "transition": word,
        **stamps,
        **more,
    }


def life(name: str, **times: float) -> list[dict[str, Any]]:
    """Return all transitions of a workload with one pod; `created`, `completed` and `failed` are the workload's own."""
    rows = [transition("Job", name, word, times[word]) for word in ("created", "completed", "failed") if word in times]
    for word in ("scheduled", "initialized", "running", "ready", "succeeded"):
        if word in times:
            rows.append(transition("Pod", f"{name}-0", word, times[word]))
    if "pod_created" in times:
        rows.append(transition("Pod", f"{name}-0", "created", times["pod_created"]))
    return rows


def rising() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return submissions and transitions: workload k of 20 is sent at k and runs from k + 2 for 10 s.

    Each second one more runs, until 10 run from 11 to 21.
    """
    sent = [submission(f"w{number}", float(number)) for number in range(20)]
    seen = []
    for number in range(20):
        at = number + 2.0
        times = {"pod_created": at - 1, "scheduled": at, "running": at, "succeeded": at + 10, "completed": at + 10}
        seen += life(f"w{number}", created=at - 1.5, **times)
    return sent, seen


def tables(
    submissions: list[dict[str, Any]],
    transitions: list[dict[str, Any]],
    events: list[dict[str, Any]] | None = None,
    gpus: list[float] | None = None,
    churn: list[dict[str, Any]] | None = None,
    control_plane: list[dict[str, Any]] | None = None,
    racks: list[str] | None = None,
) -> ScaleTestTables:
    """Return the tables of a recording; `gpus` has the number of each node, `racks` the domain."""
    nodes = [{"name": f"node-{place}", "gpus": number} for place, number in enumerate(gpus or [])]
    domains = [
        {"node": f"node-{place}", "depth": 0, "level": "rack", "domain": rack} for place, rack in enumerate(racks or [])
    ]
    return ScaleTestTables(
        submissions=frame(SUBMISSIONS, submissions),
        transitions=frame(TRANSITIONS, transitions),
        events=frame(EVENTS, events or []),
        nodes=frame(NODES, nodes),
        domains=frame(DOMAINS, domains),
        churn=frame(CHURN, churn or []),
        control_plane=frame(CONTROL_PLANE, control_plane or []),
    )
