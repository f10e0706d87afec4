"""The conditions of OpenShift's ClusterOperators, and the states of each that follow from their last transitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

_BOOTED = re.compile(r"btime (\d{1,12})\s*")
_CONDITION = re.compile(r"(\w+)=(\w+)@(\S+)")
_TRUE, _FALSE = "True", "False"
AVAILABLE, PROGRESSING, DEGRADED = "Available", "Progressing", "Degraded"


@dataclass(frozen=True)
class Condition:
    """The status of a condition, and its last transition in seconds since the epoch."""

    status: str
    since_s: float


def kernel_start(text: str) -> float | None:
    """Return the seconds since the epoch in the line ``btime`` of ``/proc/stat``."""
    found = _BOOTED.fullmatch(text)
    return float(found[1]) if found else None


def conditions(text: str) -> Iterator[tuple[str, Mapping[str, Condition]]]:
    """Return the conditions of each operator by their types; times that are not in the format of RFC 3339 are left
    out."""
    for line in text.splitlines():
        name, *words = line.split()[:100] or [""]
        found = {}
        for word in words:
            if parts := _CONDITION.fullmatch(word):
                try:
                    found[parts[1]] = Condition(parts[2], datetime.fromisoformat(parts[3]).timestamp())
                except (ValueError, OverflowError):
                    continue
        if found:
            yield name, found


def states(known: Mapping[str, Condition], booted_s: float, end_s: float) -> Iterator[tuple[str, float, float]]:
    """Return the states of an operator with their begin and end, from its first known transition of the boot.

    Only the last transition of a condition is known; before it, the condition is taken to have had the other status.
    """
    of_boot = {one.since_s for one in known.values() if one.since_s >= booted_s}
    for begin, end in pairwise([*sorted(of_boot), max(end_s, *of_boot, 0.0)] if of_boot else ()):
        yield _state(known, begin), begin, end


def _state(known: Mapping[str, Condition], at_s: float) -> str:
    def was(name: str) -> bool:
        one = known.get(name)
        return one is not None and (one.status == _TRUE) == (one.since_s <= at_s)

    if AVAILABLE in known and not was(AVAILABLE):
        return "not available"
    if was(DEGRADED):
        return "degraded"
    return "progressing" if was(PROGRESSING) else "available"
