"""What a predicate says of an object, and the predicates over its conditions that kinds share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Verdict:
    """``reached``, or why not yet, or why never (``hopeless``)."""

    reached: bool
    note: str = ""
    hopeless: bool = False


Predicate = Callable[[Object], Verdict]


def condition(obj: Object, kind: str) -> Object | None:
    """The entry of ``status.conditions`` of that type."""
    conditions = obj.get("status", {}).get("conditions") or []
    return next((entry for entry in conditions if entry.get("type") == kind), None)


def condition_true(kind: str, hopeless: tuple[str, ...] = ()) -> Predicate:
    """Condition *kind* is True; any condition of *hopeless* being True means that it never will be."""

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
