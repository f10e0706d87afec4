"""Wait until Prometheus has expected series."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.answers import Answer

_BETWEEN_QUESTIONS_S = 1.0
_BETWEEN_CHECKS_S = 0.2


class QueryApi(Protocol):
    """The required methods of a Prometheus."""

    def query(self, expression: str, at_s: float | None = None) -> Answer:
        """Return the value of an expression."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Expected series.

    Attributes:
        what: Description for the user.
        query: PromQL; returns a series for each expected object.
        count: Minimum number of series.
    """

    what: str
    query: str
    count: int = 1


class MissingSeriesError(WaitTimeoutError):
    """Prometheus does not have all expected series; ``result`` has the numbers found."""

    def __init__(self, message: str, found: Sequence[int]) -> None:
        super().__init__(message)
        self.result = {"found": list(found)}


def await_series(
    prometheus: QueryApi, expected: Sequence[Expected], timeout_s: float, check: Callable[[], None]
) -> list[Answer]:
    """Return the answer to each query, once each has enough series.

    A query that gets no response is repeated.

    Args:
        check: Raises if the user asked to stop.

    Raises:
        MissingSeriesError: If a query does not get enough in *timeout_s*; the message lists them.
        RefusedError: If a query is invalid.
        ClusterError: If Prometheus does not respond until the end.
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
                raise MissingSeriesError(_missing_text(missing, timeout_s), found)
        _pause(check)


def _missing_text(missing: Sequence[tuple[Expected, int]], timeout_s: float) -> str:
    found = "; ".join(f"{one.what}: {seen} of {one.count} ({one.query})" for one, seen in missing)
    return f"Prometheus does not have the expected series after {timeout_s:g} s: {found}"


def _pause(check: Callable[[], None]) -> None:
    until = time.monotonic() + _BETWEEN_QUESTIONS_S
    while time.monotonic() < until:
        check()
        time.sleep(_BETWEEN_CHECKS_S)
