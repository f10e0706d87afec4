"""The result of every workload: accounting identity, failures by cause, worker clusters, the quality of the data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.documents import Document
from perfanalysis.files.findings import Finding
from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.percentiles import Method, estimates
from perfanalysis.workloads.scale_test.pods import deletions, places_of
from perfanalysis.workloads.scale_test.tables import ScaleTestTables, workload_keys

VARYING = r'"[^"]*"|\b[\w.-]*\d[\w.-]*\b'
"""What differs between errors of one cause: quoted names, and words with digits."""
MOST_LETTERS = 90
BY_TEST = "deleted by the test"
"""The cause of failures after a deletion: stopped containers end with an exit code of their own."""
WARNING = "warning"
"""The stage of Warning events, such as attempts to schedule a pod that waits for a GPU."""
FAILURES = TableSpec(
    "failures",
    "Failures, counted by where they occurred and why",
    (
        Column("stage", "text", "submission, workload, pod; or warning: an event of that type, which may be harmless"),
        Column("cause", "text", "reason stated by the client or the cluster"),
        Column("count", "integer", "objects (warnings: occurrences)"),
    ),
)
CLUSTERS = TableSpec(
    "clusters",
    "Workloads that MultiKueue dispatched, by the worker cluster that ran them",
    (
        Column("cluster", "text", "worker cluster"),
        Column("workloads", "integer", "workloads dispatched to it last", "workloads"),
        Column("completed", "integer", "of these, completed", "workloads"),
        Column("failed", "integer", "of these, failed", "workloads"),
        Column("gpus", "number", "GPUs requested by all their pods", "GPUs", label="requested"),
        Column("dispatch_p50_s", "number", "from quota reserved to dispatched, median", "s", label="dispatch, P50"),
        Column("dispatch_p99_s", "number", "from quota reserved to dispatched, P99", "s", label="dispatch, P99"),
    ),
)


@dataclass(frozen=True)
class Accounting:
    """Every workload in exactly one place, counted again from the tables; `stated` is the recorder's own document."""

    submitted: int
    completed: int
    failed: int
    churned: int
    deleted: int
    unfinished: int
    unseen: int
    stated: Document

    @property
    def lost(self) -> int | None:
        """Return lost workloads as the recorder stated; None while it has not ended."""
        value = self.stated.get("lost")
        return value if isinstance(value, int) else None


def account(workloads: pd.DataFrame, stated: Document, churned_by_test: pd.Series[Any] | None = None) -> Accounting:
    """Assign every workload to its place.

    Deleted by the test to be replaced (`churned_by_test`), else completed, else failed, else deleted otherwise, else
    unseen, else unfinished.
    """
    churned = pd.Series(False, index=workloads.index) if churned_by_test is None else churned_by_test
    completed = ~churned & workloads["completed_s"].notna()
    failed = ~churned & ~completed & (workloads["failed_s"].notna() | (workloads["outcome"] == "failed"))
    deleted = ~completed & ~failed & ~churned & workloads["deleted_s"].notna()
    seen = workloads["created_s"].notna() | workloads["first_pod_created_s"].notna()
    left = ~completed & ~failed & ~churned & ~deleted
    return Accounting(
        submitted=len(workloads),
        completed=int(completed.sum()),
        failed=int(failed.sum()),
        churned=int(churned.sum()),
        deleted=int(deleted.sum()),
        unfinished=int((left & seen).sum()),
        unseen=int((left & ~seen).sum()),
        stated=stated,
    )


def accounting_findings(accounting: Accounting, where: str) -> tuple[Finding, ...]:
    """Return errors if the recorder's own numbers do not add up, or differ from the new count."""
    stated = accounting.stated
    if not stated:
        text = "no accounting: the recorder has not ended, or was killed; the counts are computed by the analysis"
        return (Finding("warning", where, text),)
    names = ("submitted", "completed", "failed", "lost", "running", "churned")
    parts = {name: _whole(stated.get(name)) or 0 for name in names}
    findings: list[Finding] = []
    added = sum(parts[name] for name in names[1:])
    if added != parts["submitted"]:
        words = " + ".join(name for name in names[1:] if name != "churned" or name in stated)
        text = f"submitted {parts['submitted']} is not {words} = {added}"
        findings.append(Finding("error", where, text))
    if parts["lost"]:
        findings.append(Finding("error", where, f"{parts['lost']} workloads were lost", "lost"))
    recounted = {
        "submitted": accounting.submitted,
        "completed": accounting.completed,
        "failed": accounting.failed,
        "churned": accounting.churned,
    }
    for name, count in recounted.items():
        if parts[name] != count:
            text = f"the recorder counted {parts[name]} {name}, but its recording has {count}"
            findings.append(Finding("error", where, text))
    return tuple(findings)


def failures_table(tables: ScaleTestTables, workloads: pd.DataFrame) -> pd.DataFrame:
    """Return the table FAILURES: submissions, workload objects, pods, Warning events, each most frequent first.

    Failures of a workload after the test sent its deletion have that as their cause, not the cluster's reason.
    """
    submissions, transitions, events = tables.submissions, tables.transitions, tables.events
    refused = submissions[submissions["outcome"] == "failed"]
    ended = transitions[transitions["transition"].isin(["failed", "evicted", "unschedulable"])]
    ended = ended.assign(reason=_with_deletions(ended, deletions(tables, workloads), workloads))
    is_pod = ended["kind"] == "Pod"
    warnings = _warnings(events)
    counted = pd.concat(
        [
            _count("submission", refused_causes(refused)),
            _count("workload", _reasons(ended[~is_pod])),
            _count("pod", _reasons(ended[is_pod].drop_duplicates(["uid", "transition"]))),
            _count(WARNING, warnings["reason"].astype("str"), warnings["count"]),
        ]
    )
    return FAILURES.conform(counted.reset_index(drop=True))


def _warnings(events: pd.DataFrame) -> pd.DataFrame:
    """Return the Warning events of the workloads and of nodes, each once, with its last count.

    Events without a workload of this recording belong to others in the same namespace, such as another cell's.
    """
    counted = events["workload"].notna() | (events["kind"] == "Node")
    rows = events[(events["type"] == "Warning") & counted].assign(count=lambda rows: rows["count"].fillna(1))
    one_event = ["namespace", "kind", "name", "reason", "message"]
    return rows.groupby(one_event, dropna=False, observed=True, as_index=False).agg({"count": "max"})


def _with_deletions(ended: pd.DataFrame, deleted_s: NDArray[np.float64], workloads: pd.DataFrame) -> pd.Series[Any]:
    """Return the reasons of ended objects, with BY_TEST if one failed after its workload's deletion was sent."""
    several = len(workloads["namespace"].cat.remove_unused_categories().cat.categories) > 1
    places = places_of(workload_keys(ended, "workload", several=several), workloads)
    sent = np.append(deleted_s, np.nan)[places]
    after = (ended["seen_s"].to_numpy(dtype=float) >= sent) & (ended["transition"] == "failed").to_numpy()
    return ended["reason"].astype("object").mask(after, BY_TEST)


def refused_causes(refused: pd.DataFrame) -> pd.Series[Any]:
    """Return status and the error's first part, without what differs between workloads."""
    status = refused["status"].astype("object").map(lambda code: "no answer" if pd.isna(code) else f"HTTP {code}")
    error = refused["error"].astype("object").where(refused["error"].notna(), "").astype("str")
    error = error.str.replace(VARYING, "\u2026", regex=True).str.slice(0, MOST_LETTERS)
    return status.astype("str") + error.where(error == "", ": " + error)


def _reasons(rows: pd.DataFrame) -> pd.Series[Any]:
    reason = rows["reason"].astype("object").where(rows["reason"].notna(), "no reason stated").astype("str")
    word = rows["transition"].astype("str")
    return reason.where(word == "failed", word + ": " + reason)


def _count(stage: str, causes: pd.Series[Any], weights: pd.Series[Any] | None = None) -> pd.DataFrame:
    weight = np.ones(len(causes)) if weights is None else weights.to_numpy(dtype=float)
    frame = pd.DataFrame({"cause": causes.to_numpy(dtype=object), "count": weight.astype("int64")})
    totals: pd.Series[Any] = frame.groupby("cause")["count"].sum().sort_values(ascending=False, kind="stable")
    return pd.DataFrame({"stage": stage, "cause": totals.index, "count": totals.to_numpy()})


DATA_QUALITY = TableSpec(
    "data_quality",
    "Where every workload ended, as counted again and as the recorder stated; latencies that are missing or impossible",
    (
        Column("what", "text", "submitted, one of the places that add up to it, or a problem of latencies"),
        Column(
            "count",
            "integer",
            "counted again from the recording; null if only the recorder has it",
            label="recounted",
        ),
        Column("stated", "integer", "by the recorder; null if it does not state it"),
        Column("ratio", "number", "count, else stated, of the workloads submitted; of latencies, of none"),
    ),
)
PLACES = (
    ("submitted", "submitted"),
    ("completed", "completed"),
    ("failed", "failed"),
    ("churned", "churned"),
    ("deleted", None),
    ("unseen", None),
    ("unfinished", "running"),
    ("lost", "lost"),
)
"""The analysis' counts and the recorder's names for them."""


def data_quality_table(accounting: Accounting, anomalies: pd.DataFrame) -> pd.DataFrame:
    """Return the table DATA_QUALITY."""
    rows: list[tuple[str, int | None, int | None, float | None]] = []
    for what, key in PLACES:
        count = None if what == "lost" else int(getattr(accounting, what))
        stated = _whole(accounting.stated.get(key)) if key else None
        known = stated if count is None else count
        ratio = known / accounting.submitted if known is not None and accounting.submitted else None
        rows.append((what, count, stated, ratio))
    for problem in ("missing", "negative"):
        counts = anomalies["count"][(anomalies["problem"] == problem) & (anomalies["clock"] == "seen")]
        rows.append((f"{problem} latencies", int(counts.sum()), None, None))
    return DATA_QUALITY.of_rows(rows)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def clusters_table(workloads: pd.DataFrame, latencies: pd.DataFrame, method: Method) -> pd.DataFrame:
    """Return the table CLUSTERS; empty if no workload was dispatched."""
    names = workloads["cluster"].astype("object")
    rows = []
    for cluster in sorted(names.dropna().unique()):
        chosen = (names == cluster).to_numpy()
        own, waits = workloads[chosen], latencies["dispatch_s"].to_numpy(dtype=float)[chosen]
        found = estimates(waits, method)
        ends = (int(own[f"{end}_s"].notna().sum()) for end in ("completed", "failed"))
        numbers = (found[statistic].number for statistic in ("p50", "p99"))
        rows.append((cluster, len(own), *ends, float(own["gpus"].sum()), *numbers))
    return CLUSTERS.of_rows(rows)
