"""Requests that are sent when they are due, as many at once as the concurrency allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import Concurrency
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import Arrivals

# how long requests on their way may still be answered when the run is stopped
_LAST_ANSWERS_S = 10.0


class Sent(Protocol):
    """What became of a request, as far as the concurrency follows from it; times by any clock."""

    @property
    def sent_s(self) -> float:
        """When it was sent."""

    @property
    def answered_s(self) -> float:
        """When its last answer came."""

    @property
    def attempts(self) -> int:
        """How often it was sent."""


@dataclass(frozen=True, slots=True)
class Pace:
    """When requests are sent, and how many at once; none any more once *stopping* is set."""

    clock: RunClock
    concurrency: Concurrency
    arrivals: Arrivals
    stopping: asyncio.Event

    async def send(
        self, indices: Iterable[int], send: Callable[[int], Awaitable[Sent | None]], began_s: float | None = None
    ) -> None:
        """Call *send* with each index in order, as long after *began_s* (by the clock; None: now) as the arrivals say.

        *send* returns None for what it did not send. Returns when all are through, or soon after *stopping* is set;
        the first error of *send* ends the others.
        """
        queue = iter(indices)
        started = self.clock.now() if began_s is None else began_s
        slots = _Slots(self.concurrency)
        tasks = [
            asyncio.create_task(self._connection(queue, send, started, slots))
            for _number in range(self.concurrency.most)
        ]
        stopping = asyncio.create_task(self.stopping.wait())
        try:
            await _until_done_or(tasks, stopping)
            if self.stopping.is_set():
                await asyncio.wait(tasks, timeout=_LAST_ANSWERS_S)
        finally:
            for task in (*tasks, stopping):
                task.cancel()
            results = await asyncio.gather(*tasks, stopping, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _connection(
        self, queue: Iterator[int], send: Callable[[int], Awaitable[Sent | None]], started: float, slots: _Slots
    ) -> None:
        while True:
            async with slots:
                index = next(queue, None)
                if index is None:
                    return
                due = started + self.arrivals.due_s(index)
                late = self.clock.now() > due
                if not await reached(self.clock, due, self.stopping):
                    return
                sent = await send(index)
                if sent is not None:
                    self.concurrency.record(sent.sent_s, sent.answered_s, tries=sent.attempts, late=late)


class _Slots:
    """Lets in as many at once as the concurrency says at each moment, in the order in which they come."""

    def __init__(self, concurrency: Concurrency) -> None:
        self._concurrency = concurrency
        self._slots = concurrency.limit
        self._free = asyncio.Semaphore(self._slots)

    async def __aenter__(self) -> None:
        await self._free.acquire()

    async def __aexit__(self, *_error: object) -> None:
        # its slot is given back as often as there may be slots: none when there are too many, several when too few
        self._slots -= 1
        while self._slots < self._concurrency.limit:
            self._slots += 1
            self._free.release()


async def reached(clock: RunClock, moment: float, stopping: asyncio.Event) -> bool:
    """Wait for a moment; False when *stopping* is set before it, or was when the moment had passed."""
    wait = moment - clock.now()
    if wait > 0:
        with suppress(TimeoutError):
            await asyncio.wait_for(stopping.wait(), wait)
    return not stopping.is_set()


async def _until_done_or(tasks: list[asyncio.Task[None]], stopping: asyncio.Task[Any]) -> None:
    pending: set[asyncio.Task[Any]] = set(tasks)
    while pending and not stopping.done():
        done, pending = await asyncio.wait({*pending, stopping}, return_when=asyncio.FIRST_COMPLETED)
        pending.discard(stopping)
        if any(task.exception() for task in done if not task.cancelled()):
            return
