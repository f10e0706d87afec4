"""The result of a search for the highest load within limits."""

from __future__ import annotations

from typing import Any

from perfanalysis.workloads.percentiles import Value


def highest_load(tables: Any) -> Value:
    """Return the highest load within the limits, between the highest certain one and the lowest certain miss."""
    loads = tables.loads
    held, certain = loads["held"].astype(bool), loads["certain"].astype(bool)
    users = loads["users"].astype(float)
    if not held.any():
        return Value(None, "no load was within the limits")
    if not (held & certain).any() or not (~held & certain).any():
        reason = "no interval: no load is certainly within the limits, or none is certainly beyond them"
        return Value(float(users[held].max()), reason)
    return Value(
        float(users[held].max()), None, float(users[held & certain].max()), float(users[~held & certain].min())
    )
