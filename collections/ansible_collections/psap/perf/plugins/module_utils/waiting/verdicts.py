"""The result of a predicate, and the predicates over conditions that kinds share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a state is reached; if not, *note* is the reason, and *hopeless* is whether waiting is useless."""

    reached: bool
    note: str = ""
    hopeless: bool = False


Predicate = Callable[[Object], Verdict]


def condition(obj: Object, kind: str) -> Object | None:
    """Return the entry of ``status.conditions`` of that type; None without one."""
    conditions = obj.get("status", {}).get("conditions") or []
    return next((entry for entry in conditions if entry.get("type") == kind), None)


def condition_true(kind: str, hopeless: tuple[str, ...] = ()) -> Predicate:
    """Return a predicate: condition *kind* is True; hopeless if a condition of *hopeless* is True."""

    def predicate(obj: Object) -> Verdict:
        found = condition(obj, kind)
        if found is not None and found.get("status") == "True":
            return Verdict(True)
        for bad in hopeless:
            entry = condition(obj, bad)
            if entry is not None and entry.get("status") == "True":
                return Verdict(False, f"{bad}: {entry.get('reason', '')} {entry.get('message', '')}".strip(), True)
        if found is None:
            return Verdict(False, f"no condition {kind} yet")
        return Verdict(False, f"{kind} is {found.get('status')}: {found.get('reason', '')}")

    return predicate
