"""The row of a cold start."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COLUMNS = {
    "scheduled": "scheduled_s",
    "container started": "started_s",
    "model loaded": "ready_s",
    "first answer": "answered_s",
}
_CREATED = "pod created"


def start_row(start: Mapping[str, Any]) -> dict[str, Any]:
    """Return when each step of a start was reached, in seconds since the creation of the pod."""
    ends = {step["step"]: step["end_s"] for step in start["steps"]}
    if _CREATED not in ends:
        return {"number": start["number"]}
    reached = {column: ends[step] - ends[_CREATED] for step, column in _COLUMNS.items() if step in ends}
    return {"number": start["number"], "created_s": ends[_CREATED], **reached}
