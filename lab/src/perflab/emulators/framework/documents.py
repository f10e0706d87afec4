"""What an object says about itself: labels, annotations, phase and conditions."""

from __future__ import annotations

import datetime
from typing import Any

from perflab.cluster.api import Document

Condition = dict[str, Any]


def own_labels(document: Document) -> dict[str, str]:
    """Its labels."""
    return document["metadata"].get("labels") or {}


def own_annotations(document: Document) -> dict[str, str]:
    """Its annotations."""
    return document["metadata"].get("annotations") or {}


def is_leaving(document: Document) -> bool:
    """Whether the object was deleted and only its end is awaited."""
    return "deletionTimestamp" in document["metadata"]


def phase_of(document: Document) -> str:
    """The phase that its status tells; empty when it tells none yet."""
    return str((document.get("status") or {}).get("phase") or "")


def now_s() -> str:
    """The time as the API's own stamps have it: UTC, whole seconds."""
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def conditions_of(document: Document) -> list[Condition]:
    """All of its conditions, in a list of its own."""
    return list((document.get("status") or {}).get("conditions") or [])


def find_condition(document: Document, kind: str) -> Condition | None:
    """The condition of that type, or None."""
    return next((item for item in conditions_of(document) if item["type"] == kind), None)


def is_true(document: Document, kind: str) -> bool:
    """Whether the condition of that type is there and true."""
    found = find_condition(document, kind)
    return found is not None and found["status"] == "True"


def with_condition(conditions: list[Condition], kind: str, true: bool, reason: str, message: str) -> list[Condition]:
    """*conditions* with this one; its time of transition stays when its status does."""
    status = "True" if true else "False"
    old = next((item for item in conditions if item["type"] == kind), None)
    moment = old["lastTransitionTime"] if old and old["status"] == status else now_s()
    new = {"type": kind, "status": status, "reason": reason, "message": message, "lastTransitionTime": moment}
    return [*(item for item in conditions if item["type"] != kind), new]
