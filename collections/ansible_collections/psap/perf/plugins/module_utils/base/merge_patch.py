"""Merge patches (RFC 7386)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def merged(present: Any, patch: Mapping[str, Any]) -> dict[str, Any]:
    """Return *present* with a merge patch (RFC 7386), as the server merges it."""
    result: dict[str, Any] = dict(present) if isinstance(present, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merged(result.get(key), value) if isinstance(value, Mapping) else value
    return result
