"""Wait until Prometheus has what it is to have."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.answers import Answer

_BETWEEN_QUESTIONS_S = 1.0
_BETWEEN_CHECKS_S = 0.2


class Asked(Protocol):
    """What is needed of a Prometheus."""

    def query(self, expression: str, at_s: float | None = None) -> Answer:
        """What an expression is now."""


@dataclass(frozen=True, slots=True)
class Expected:
    """What is awaited.

    :param what: in words, for the user to read.
    :param query: gives a series for each of what is there.
    :param count: how many there must be at least.
    """

    what: str
    query: str
    count: int = 1


class MissingSeriesError(WaitTimeoutError):
    """Prometheus does not have it; ``result`` says what it has."""

    def __init__(self, message: str, found: Sequence[int]) -> None:
        super().__init__(message)
        self.result = {"found": list(found)}


def await_series(
    prometheus: Asked, expected: Sequence[Expected], timeout_s: float, check: Callable[[], None]
) -> list[Answer]:
    """What the query of each gave, once each gave enough.

    A Prometheus that does not answer is asked again, for as long.

    :param check: raises when the user asked to stop.
    :raises MissingSeriesError: when one did not in *timeout_s*; it says which, and how many there are.
    :raises RefusedError: when a query is none.
    :raises ClusterError: when it did not answer to the end.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            answers = [prometheus.query(one.query) for one in expected]
        except ClusterError:
            if time.monotonic() >= deadline:
                raise
        else:
            found = [len(answer.series) for answer in answers]
            missing = [(one, seen) for one, seen in zip(expected, found, strict=True) if seen < one.count]
            if not missing:
                return answers
            if time.monotonic() >= deadline:
                raise MissingSeriesError(_told(missing, timeout_s), found)
        _pause(check)


def _told(missing: Sequence[tuple[Expected, int]], timeout_s: float) -> str:
    lacking = "; ".join(f"{one.what}: {seen} of {one.count} ({one.query})" for one, seen in missing)
    return f"Prometheus did not get within {timeout_s:g} s: {lacking}"


def _pause(check: Callable[[], None]) -> None:
    until = time.monotonic() + _BETWEEN_QUESTIONS_S
    while time.monotonic() < until:
        check()
        time.sleep(_BETWEEN_CHECKS_S)
