"""Apply a patch to a manifest, for fields without an argument."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any


def patched(value: Any, patch: Any) -> Any:
    """Return *value* with *patch* applied; neither is changed, and the result shares no list or dictionary of *patch*.

    Dictionaries merge by key, and null removes a key. Two lists of dictionaries with a ``name`` merge by that name; new
    items are appended. Any other value replaces the previous one.
    """
    if isinstance(value, dict) and isinstance(patch, Mapping):
        kept = {key: item for key, item in value.items() if key not in patch}
        changed = {key: patched(value.get(key), item) for key, item in patch.items() if item is not None}
        return {**kept, **changed}
    if isinstance(patch, Mapping):
        return {key: patched(None, item) for key, item in patch.items() if item is not None}
    if _named(value) and _named(patch):
        items = {item["name"]: item for item in value}
        for item in patch:
            items[item["name"]] = patched(items.get(item["name"]), item)
        return list(items.values())
    return copy.deepcopy(patch)


def _named(value: Any) -> bool:
    """Return whether *value* is a list of dictionaries with different names, such as containers and volumes."""
    if not isinstance(value, list) or not value:
        return False
    names = [item.get("name") if isinstance(item, dict) else None for item in value]
    return None not in names and len(set(names)) == len(names)
