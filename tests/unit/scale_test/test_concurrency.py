"""The limit of concurrent requests, with servers whose rate and latency depend on their number."""

from __future__ import annotations

import heapq
import itertools
import statistics
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import (
    AdaptiveConcurrency,
    FixedConcurrency,
    concurrency_of,
)


@dataclass(frozen=True)
class Server:
    """Answers *parallel* concurrent requests in *latency_s* (seconds), more of them proportionally later."""

    parallel: int
    latency_s: float = 0.01

    def took_s(self, under_way: int) -> float:
        return self.latency_s * max(1.0, under_way / self.parallel)


def limits(
    concurrency: AdaptiveConcurrency,
    requests: int,
    server: Callable[[int], Server],
    *,
    late: bool = True,
    tries: Callable[[int], int] = lambda _number: 1,
) -> list[int]:
    """Return the limit after each answer of *server*, which may be another for each request."""
    found: list[int] = []
    under_way: list[tuple[float, int, float, int]] = []
    numbers = itertools.count()
    now = 0.0
    while len(found) < requests:
        while len(under_way) < concurrency.limit:
            number = next(numbers)
            took_s = server(number).took_s(len(under_way) + 1)
            heapq.heappush(under_way, (now + took_s, number, now, tries(number)))
        now, _number, sent_s, tried = heapq.heappop(under_way)
        concurrency.record(sent_s, now, tries=tried, late=late)
        found.append(concurrency.limit)
    return found


def test_concurrency_doubles_to_the_servers_parallelism() -> None:
    found = limits(AdaptiveConcurrency(), 20_000, lambda _number: Server(parallel=48))
    assert found[0] == 32
    later = found[5_000:]
    # 64, where doubling ended, and a quarter more, except while it tries to double again
    assert min(later) >= 64
    assert sum(limit <= 81 for limit in later) > 0.7 * len(later)


def test_concurrency_has_an_upper_limit() -> None:
    found = limits(AdaptiveConcurrency(), 10_000, lambda _number: Server(parallel=1000))
    assert max(found) == 128
    assert found[-1] == 128


def test_serial_server_keeps_concurrency_at_its_start_value() -> None:
    found = limits(AdaptiveConcurrency(), 5_000, lambda _number: Server(parallel=1))
    assert sum(limit <= 41 for limit in found) > 0.7 * len(found)


def test_requests_sent_on_schedule_change_nothing() -> None:
    assert set(limits(AdaptiveConcurrency(), 2_000, lambda _number: Server(parallel=100), late=False)) == {32}


def test_refusals_of_concurrent_requests_halve_it_once() -> None:
    concurrency = AdaptiveConcurrency()
    for _number in range(8):
        concurrency.record(1.0, 2.0, tries=2, late=True)
    assert concurrency.limit == 16
    concurrency.record(2.5, 3.0, tries=3, late=True)
    assert concurrency.limit == 8


def test_concurrency_is_at_least_one_and_recovers() -> None:
    found = limits(
        AdaptiveConcurrency(),
        10_000,
        lambda _number: Server(parallel=32),
        tries=lambda number: 2 if number < 300 else 1,
    )
    assert min(found) == 1
    assert found[-1] >= 16


def test_doubled_latency_reduces_concurrency_to_its_start_at_most() -> None:
    slow_from = 6_000

    def server(number: int) -> Server:
        # with any number of concurrent requests
        return Server(parallel=64) if number < slow_from else Server(parallel=1, latency_s=0.05)

    found = limits(AdaptiveConcurrency(), 12_000, server)
    assert found[slow_from - 200] >= 64
    # except while it tries to double again
    assert 32 <= statistics.median(found[-2_000:]) <= 41


@pytest.mark.parametrize("connections", [1, 32])
def test_given_concurrency_is_constant(connections: int) -> None:
    given = concurrency_of(connections)
    given.record(0.0, 100.0, tries=5, late=True)
    assert given == FixedConcurrency(connections)
    assert (given.limit, given.most) == (connections, connections)


def test_concurrency_adapts_by_default() -> None:
    assert isinstance(concurrency_of(0), AdaptiveConcurrency)
