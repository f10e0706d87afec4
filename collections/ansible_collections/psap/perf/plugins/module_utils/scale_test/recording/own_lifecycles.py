"""Lifecycles that a user declares: by kind, the sign of each milestone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import (
    COMPLETED,
    FAILED,
    Lifecycle,
    declared,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.signs import Sign

# the creation and the deletion of an object are always milestones
_WORDS = ("suspended", "started", COMPLETED, FAILED)
_PARTS = ("condition", "when", "time", "reason")


def read_lifecycles(document: Mapping[str, Any]) -> dict[str, Lifecycle]:
    """Return the lifecycles by kind, such as ``{"Workflow": {"completed": {"condition": "Completed"}}}``.

    Raises:
        UsageError: If a milestone or a part of a sign is unknown, or a kind has no `completed`.
    """
    return {kind: _read(kind, milestones) for kind, milestones in document.items()}


def _read(kind: str, milestones: Any) -> Lifecycle:
    if kind == "Pod":
        raise UsageError("the milestones of a Pod cannot be declared")
    signs = {word: _sign(f"{kind}.{word}", sign) for word, sign in _checked(kind, milestones, _WORDS).items()}
    if COMPLETED not in signs:
        raise UsageError(f"{kind} needs the milestone {COMPLETED}: without it, no workload ends")
    return declared(signs)


def _sign(place: str, sign: Any) -> Sign:
    parts = _checked(place, sign, _PARTS)
    wrong = next((part for part, value in parts.items() if not isinstance(value, str)), None)
    if wrong:
        raise UsageError(f"{place}.{wrong} must be text")
    try:
        return Sign(**parts)
    except UsageError as error:
        raise UsageError(f"{place}: {error}") from error


def _checked(place: str, value: Any, known: tuple[str, ...]) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise UsageError(f"{place} must be a dictionary with some of {', '.join(known)}")
    for key in value:
        if key not in known:
            raise UsageError(f"{place} has the unknown key {key}{did_you_mean(str(key), known)}")
    return value
