"""Results of ghz, its JSON, as rows of tables. Its times are nanoseconds; a call has the timestamp of its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from perfanalysis.workloads.percentiles import Value

_NS = 1e9
OK = "OK"


def call_row(detail: Mapping[str, Any]) -> dict[str, Any]:
    """One of its `details`."""
    took_s = detail["latency"] / _NS
    ended_s = datetime.fromisoformat(detail["timestamp"]).timestamp()
    status = detail["status"] or "unknown"
    return {
        "outcome": "completed" if status == OK else "failed",
        "status": status,
        "started_s": ended_s - took_s,
        "ended_s": ended_s,
        "latency_s": took_s,
        "error": detail["error"] or None,
    }


def load_row(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return the load, as ghz states it, and by the tags that our commands set."""
    options, tags = document.get("options") or {}, document.get("tags") or {}
    return {
        "model": tags.get("model"),
        "load": tags.get("load"),
        "replicas": tags.get("replicas"),
        "call": options.get("call"),
        "concurrency": options.get("concurrency"),
        "asked": options.get("total"),
        "calls": document["count"],
        "length_s": document["total"] / _NS,
        "ended_by": document.get("endReason"),
    }


def failure_rows(calls: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return failed calls by their status and error, the most frequent first."""
    found: dict[tuple[str, str | None], dict[str, Any]] = {}
    for call in calls:
        if call["outcome"] == "failed":
            new = {"status": call["status"], "error": call["error"], "calls": 0, "first_s": call["started_s"]}
            row = found.setdefault((call["status"], call["error"]), new)
            row["calls"] += 1
            row["first_s"] = min(row["first_s"], call["started_s"])
            row["last_s"] = max(row.get("last_s", call["started_s"]), call["started_s"])
    return sorted(found.values(), key=lambda row: -int(row["calls"]))


def requests_per_second(tables: Any) -> float | Value:
    """Return answered calls, divided by the length of the load."""
    (length_s,) = tables.loads["length_s"]
    if not len(tables.calls):
        return Value(None, "ghz recorded no call", count=0)
    if not length_s > 0:
        return Value(None, "the load has no duration")
    return float((tables.calls["outcome"] == "completed").sum() / length_s)


def requests_failed_ratio(tables: Any) -> float | Value:
    """Return failed calls, as a share of all."""
    if not len(tables.calls):
        return Value(None, "ghz recorded no call", count=0)
    return float((tables.calls["outcome"] == "failed").mean())
