"""The rows of a model's start."""

from __future__ import annotations

from typing import Any

from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.replicas import seconds_or

UNCHANGED = "the model existed before the command and was not changed, and no command of the run saw its start"
_BEGUN = ("service created", "applied")


def rows_of(document: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the steps of a start, and the start as a whole."""
    stamped, seen = document["steps"], document["seen"]
    # observed times are finer; but a step with another begin is another step
    begins = {step["step"]: _begin(step) for step in stamped}
    finer = {step["step"] for step in seen if begins.get(step["step"], _begin(step)) == _begin(step)}
    rows = [{**step, "seen_by": "cluster", "finest": step["step"] not in finer} for step in stamped]
    rows += [{**step, "seen_by": "command", "finest": step["step"] in finer} for step in seen]
    start = {name: document[name] for name in ("service", "model", "runtime", "image", "pod", "restarts", "ready")}
    start |= {"seen_in": document.get("seen_in"), "unseen": UNCHANGED if document["ready"] and not seen else None}
    if seen and seen[0]["after"] == "applied":
        ends = {step["step"]: round(step["end_s"] - seen[0]["begin_s"], 3) for step in seen}
        start |= {"time_to_ready_s": ends.get("ready"), "time_to_first_answer_s": ends.get("first answer")}
    return rows, start


def time_to_ready(tables: Any) -> Value:
    """Return the time from the application of the model until it was loaded."""
    return _first(tables, "time_to_ready_s", "the model was not loaded")


def time_to_first_answer(tables: Any) -> Value:
    """Return the time from the application of the model until its first answer."""
    return _first(tables, "time_to_first_answer_s", "no answer was requested during the start, or none came")


def _first(tables: Any, column: str, missing: str) -> Value:
    (row,) = tables.starts.to_dict("records")
    return seconds_or(float(row[column]), row["unseen"] if isinstance(row["unseen"], str) else missing)


def _begin(step: dict[str, Any]) -> str:
    return "" if step["after"] in _BEGUN else step["after"]
