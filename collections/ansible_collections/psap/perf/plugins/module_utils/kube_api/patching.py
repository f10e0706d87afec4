"""Put a patch over a manifest, for fields that no argument has a name for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def patched(value: Any, patch: Any) -> Any:
    """*value* with *patch* put over it; neither is changed.

    Dictionaries merge by key, and null takes a key away. A list of dictionaries that all have a ``name`` merges by it
    with a list of such; what is new is appended. Everything else replaces what was there.
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
    return patch


def _named(value: Any) -> bool:
    """Whether it is a list of dictionaries that bear different names, as containers and volumes do."""
    if not isinstance(value, list) or not value:
        return False
    names = [item.get("name") if isinstance(item, dict) else None for item in value]
    return None not in names and len(set(names)) == len(names)
