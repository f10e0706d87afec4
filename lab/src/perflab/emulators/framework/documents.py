"""The parts of an object that describe it: labels, annotations, phase and conditions."""

from __future__ import annotations

import datetime
from typing import Any

from perflab.cluster.api import Document

Condition = dict[str, Any]


def own_labels(document: Document) -> dict[str, str]:
    """Return its labels."""
    return document["metadata"].get("labels") or {}


def own_annotations(document: Document) -> dict[str, str]:
    """Return its annotations."""
    return document["metadata"].get("annotations") or {}


def is_leaving(document: Document) -> bool:
    """Return whether the object was deleted and still exists."""
    return "deletionTimestamp" in document["metadata"]


def phase_of(document: Document) -> str:
    """Return the phase of its status; empty if it has none yet."""
    return str((document.get("status") or {}).get("phase") or "")


def now_s() -> str:
    """Return the time in the format of the API's timestamps: UTC, whole seconds."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def conditions_of(document: Document) -> list[Condition]:
    """Return all of its conditions, in a new list."""
    return list((document.get("status") or {}).get("conditions") or [])


def find_condition(document: Document, kind: str) -> Condition | None:
    """Return the condition of that type, or None."""
    return next((item for item in conditions_of(document) if item["type"] == kind), None)


def is_true(document: Document, kind: str) -> bool:
    """Return whether the condition of that type exists and is true."""
    found = find_condition(document, kind)
    return found is not None and found["status"] == "True"


def with_condition(conditions: list[Condition], kind: str, true: bool, reason: str, message: str) -> list[Condition]:
    """Return *conditions* with this one; its time of transition stays if its status does."""
    status = "True" if true else "False"
    old = next((item for item in conditions if item["type"] == kind), None)
    moment = old["lastTransitionTime"] if old and old["status"] == status else now_s()
    new = {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": moment}
    return [*(item for item in conditions if item["type"] != kind), new]
