"""Convert Kubernetes events to rows; for a repeated event the server increases a count, which is a new row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Stamp, stamp


class EventLog:
    """The last count of each event, by which repeated notifications are left out."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def ignore(self, event: Mapping[str, Any]) -> None:
        """Remember an event that is older than the recording."""
        self._counts[str(event["metadata"]["uid"])] = _count(event)

    def observe(self, event: Mapping[str, Any], workload: str | None, seen_s: float) -> dict[str, Any] | None:
        """Return the row of ``events.jsonl`` for an event of *workload*; None if this count is not new."""
        uid = str(event["metadata"]["uid"])
        count = _count(event)
        if self._counts.get(uid, 0) >= count:
            return None
        self._counts[uid] = count
        time = _time(event)
        regarding = event.get("involvedObject") or {}
        return {
            "seen_s": seen_s,
            "server_s": time.server_s if time else None,
            "resolution_s": time.resolution_s if time else None,
            "kind": regarding.get("kind"),
            "name": regarding.get("name"),
            "namespace": regarding.get("namespace") or event["metadata"].get("namespace"),
            "workload": workload,
            "type": event.get("type"),
            "reason": event.get("reason"),
            "message": event.get("message"),
            "count": count,
        }


def _count(event: Mapping[str, Any]) -> int:
    return int((event.get("series") or {}).get("count") or event.get("count") or 1)


def _time(event: Mapping[str, Any]) -> Stamp | None:
    """Return the event's last time, in microseconds from the newer API, in whole seconds from the older one."""
    return (
        stamp((event.get("series") or {}).get("lastObservedTime"))
        or stamp(event.get("eventTime"))
        or stamp(event.get("lastTimestamp"))
        or stamp(event.get("firstTimestamp"))
    )
