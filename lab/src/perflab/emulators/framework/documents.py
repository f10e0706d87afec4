"""What an object says about itself."""

from __future__ import annotations

from perflab.cluster.api import Document


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
