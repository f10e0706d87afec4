"""Series are awaited on one clock, and missing ones are reported."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, Interrupted
from ansible_collections.psap.perf.plugins.module_utils.prometheus import awaiting
from ansible_collections.psap.perf.plugins.module_utils.prometheus.answers import Answer, Series
from ansible_collections.psap.perf.plugins.module_utils.prometheus.awaiting import (
    Expected,
    MissingSeriesError,
    await_series,
)


class Scripted:
    """A Prometheus with a scripted number of series for each query at each request."""

    def __init__(self, **counts: list[int | ClusterError]) -> None:
        self.counts = counts

    def query(self, expression: str, at_s: float | None = None) -> Answer:
        assert at_s is None
        left = self.counts[expression]
        count = left.pop(0) if len(left) > 1 else left[0]
        if isinstance(count, ClusterError):
            raise count
        return Answer(tuple(Series({"number": str(index)}, ((1.0, "1"),)) for index in range(count)))


@pytest.fixture(autouse=True)
def _no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaiting, "_BETWEEN_QUESTIONS_S", 0.0)


def never_stop() -> None:
    """Never ask to stop."""


def test_wait_ends_when_each_query_has_enough() -> None:
    expected = [Expected("exporters", "exporters", 2), Expected("operator", "operator")]
    answers = await_series(Scripted(exporters=[0, 1, 2], operator=[0, 0, 0, 1]), expected, 60, never_stop)
    assert [len(answer.series) for answer in answers] == [2, 1]


def test_missing_series_are_reported() -> None:
    expected = [Expected("exporters", "exporters", 2), Expected("operator", "operator")]
    with pytest.raises(MissingSeriesError, match=r"after 0 s: exporters: 1 of 2 \(exporters\)$") as raised:
        await_series(Scripted(exporters=[1], operator=[1]), expected, 0, never_stop)
    assert raised.value.result == {"found": [1, 1]}


def test_unreachable_prometheus_is_retried_until_the_timeout() -> None:
    gone = ClusterError("gone")
    assert await_series(Scripted(a=[gone, gone, 1]), [Expected("a", "a")], 60, never_stop)
    with pytest.raises(ClusterError, match="gone"):
        await_series(Scripted(a=[gone]), [Expected("a", "a")], 0, never_stop)


def test_wait_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaiting, "_BETWEEN_QUESTIONS_S", 1.0)

    def stop() -> None:
        raise Interrupted("stop")

    with pytest.raises(Interrupted):
        await_series(Scripted(a=[0]), [Expected("a", "a")], 60, stop)
