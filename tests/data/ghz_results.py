"""Invented results in the format of ghz."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

EPOCH_S = 1_790_000_000.0


def detail(began_s: float, took_s: float, status: str = "OK") -> dict[str, Any]:
    """Return a call that began this many seconds after the start of the load."""
    ended = datetime.fromtimestamp(EPOCH_S + began_s + took_s, UTC)
    error = "" if status == "OK" else f"rpc error: code = {status} desc = refused"
    return {
        "timestamp": ended.isoformat().replace("+00:00", "Z"),
        "latency": round(took_s * 1e9),
        "error": error,
        "status": status,
    }


def ghz(calls: Sequence[dict[str, Any]], length_s: float = 10.0) -> dict[str, Any]:
    """Return the document of these calls, with the fields that are read."""
    return {
        "date": datetime.fromtimestamp(EPOCH_S + length_s, UTC).isoformat(),
        "endReason": "normal",
        "options": {"call": "molecule.v1.Completion/Complete", "concurrency": 2, "total": len(calls)},
        "tags": {"model": "ansible-wisdom", "load": "input 0", "replicas": "1"},
        "count": len(calls),
        "total": round(length_s * 1e9),
        "statusCodeDistribution": dict(Counter(call["status"] for call in calls)),
        "errorDistribution": dict(Counter(call["error"] for call in calls if call["error"])),
        "details": list(calls),
    }
