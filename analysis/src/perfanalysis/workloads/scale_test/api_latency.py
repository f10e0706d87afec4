"""The API server as the submitter saw it: responses with their latency, retries, and each submitting process."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from perfanalysis.files.documents import Document, mapping, number_or
from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.percentiles import Method, estimates
from perfanalysis.workloads.scale_test.activity import sustained_rate

GIVEN = ("p50", "p90", "p99", "max")
LATENCIES = tuple(
    Column(f"{name}_s", "number", f"{name} from the first try sent to the final answer; null for too few values", "s")
    for name in GIVEN
)
ANSWERS = TableSpec(
    "answers",
    "Final responses of the API server to the submitter",
    (
        Column("status", "integer", "HTTP status; null if there was no response"),
        Column("outcome", "text", "created, existed or failed"),
        Column("count", "integer", "workloads"),
        Column("retried", "integer", "of these, sent more than once"),
        Column("attempts", "integer", "requests sent for them, each try counted"),
        *LATENCIES,
    ),
)
SUBMITTERS = TableSpec(
    "submitters",
    "One row per submitting process",
    (
        Column("submitter", "integer", "number of the process, from 0"),
        Column("workloads", "integer", "workloads it sent", "workloads"),
        Column("first_s", "number", "its first request, since the first of all", "s"),
        Column("last_s", "number", "its last request, since the first of all", "s"),
        Column("rate", "number", "sent per second, between the 10th and the 90th percent of them", "workloads/s"),
        Column("under_way", "integer", "median of the requests under way when one was sent, itself included"),
        Column("most_under_way", "integer", "the most of them"),
        *LATENCIES,
    ),
)
REQUESTS = TableSpec(
    "requests",
    "All requests of the recorder's clients, by the result of each try",
    (
        Column("what", "text", "answer: a final answer; retry: a try that had to be repeated"),
        Column("cause", "text", "HTTP status, or what went wrong"),
        Column("count", "integer", "requests"),
    ),
)


def answers_table(submissions: pd.DataFrame, method: Method) -> pd.DataFrame:
    """Return the table ANSWERS."""
    attempts = submissions["attempts"].fillna(1).astype("int64")
    took = (submissions["answered_s"] - submissions["sent_s"]).to_numpy(dtype=float)
    keys = [submissions["status"].astype("object").fillna(-1).astype("int64"), submissions["outcome"].astype("object")]
    rows: list[dict[str, Any]] = []
    groups: Any = pd.Series(0, index=submissions.index).groupby(keys, dropna=False).indices
    for (status, outcome), places in groups.items():
        tries = attempts.to_numpy()[places]
        counts = {"count": len(places), "retried": int((tries > 1).sum()), "attempts": int(tries.sum())}
        known = None if status < 0 else int(status)
        rows.append({"status": known, "outcome": outcome, **counts, **_latencies(took[places], method)})
    # responses without a status come last
    rows.sort(key=lambda row: (row["status"] is None, row["status"] or 0))
    return ANSWERS.of_rows(rows)


def _latencies(took: NDArray[np.float64], method: Method) -> dict[str, float | None]:
    found = estimates(took, method)
    return {f"{statistic}_s": found[statistic].number for statistic in GIVEN}


def submitters_table(submissions: pd.DataFrame, method: Method) -> pd.DataFrame:
    """Return the table SUBMITTERS; submissions without a process are those of process 0."""
    sent = submissions["sent_s"].to_numpy(dtype=float)
    took = submissions["answered_s"].to_numpy(dtype=float) - sent
    began = float(np.nanmin(sent)) if np.isfinite(sent).any() else 0.0
    numbers = submissions["submitter"].fillna(0).astype("int64")
    rows = [
        {
            "submitter": number,
            "workloads": len(places),
            "first_s": float(np.nanmin(sent[places])) - began,
            "last_s": float(np.nanmax(sent[places])) - began,
            "rate": sustained_rate(sent[places])[0],
            **_under_way(sent[places], sent[places] + took[places]),
            **_latencies(took[places], method),
        }
        for number, places in numbers.groupby(numbers).indices.items()
        if np.isfinite(sent[places]).any()
    ]
    return SUBMITTERS.of_rows(rows)


def _under_way(sent: NDArray[np.float64], answered: NDArray[np.float64]) -> dict[str, int]:
    """Return requests in flight; requests without a response stay in flight to the end."""
    known = np.isfinite(sent)
    moments = np.sort(sent[known])
    ended = np.searchsorted(np.sort(answered[known & np.isfinite(answered)]), moments, side="right")
    open_then = np.arange(1, len(moments) + 1) - ended
    return {"under_way": int(np.median(open_then)), "most_under_way": int(open_then.max())}


def requests_table(recording: Document) -> pd.DataFrame:
    """Return the table REQUESTS, of the recorder's counts."""
    counted = mapping(mapping(recording.get("client")).get("requests"))
    rows = [
        (what, str(cause), int(number_or(count, 0)))
        for key, what in (("answers", "answer"), ("retries", "retry"))
        for cause, count in mapping(counted.get(key)).items()
    ]
    return REQUESTS.of_rows(rows)
