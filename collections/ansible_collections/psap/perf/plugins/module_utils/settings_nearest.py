"""The "did you mean" of every message about an unknown name."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def nearest(name: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known name that *name* most resembles, if any does by the share *alike* of its letters."""
    found = difflib.get_close_matches(name, list(known), n=1, cutoff=alike)
    return found[0] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """``"; did you mean x?"``, or nothing."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""
