"""Send requests when they are due, as many concurrently as the limit allows."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import Concurrency
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import Arrivals

# how long to wait for outstanding answers when the run is stopped
_LAST_ANSWERS_S = 10.0


class SentRequest(Protocol):
    """A sent request, as far as the concurrency depends on it; times by any clock."""

    @property
    def sent_s(self) -> float:
        """Time of the first attempt."""

    @property
    def answered_s(self) -> float:
        """Time of the last answer."""

    @property
    def attempts(self) -> int:
        """Number of attempts."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The times of requests, and the limit of concurrent ones; no more are sent after *stopping* is set."""

    clock: RunClock
    concurrency: Concurrency
    arrivals: Arrivals
    stopping: asyncio.Event

    async def send(
        self, indices: Iterable[int], send: Callable[[int], Awaitable[SentRequest | None]], began_s: float | None = None
    ) -> None:
        """Call *send* with each index in order, when it is due.

        Returns when all are answered, or soon after *stopping* is set; the first error of *send* ends the others.

        Args:
            send: Sends the request of an index; returns None if it did not send it.
            began_s: Start of the arrivals by the clock, by default now.
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
        self, queue: Iterator[int], send: Callable[[int], Awaitable[SentRequest | None]], started: float, slots: _Slots
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
    """A semaphore, in order of arrival, whose size is the present limit of the concurrency."""

    def __init__(self, concurrency: Concurrency) -> None:
        self._concurrency = concurrency
        self._slots = concurrency.limit
        self._free = asyncio.Semaphore(self._slots)

    async def __aenter__(self) -> None:
        await self._free.acquire()

    async def __aexit__(self, *_error: object) -> None:
        # release as many slots as the limit allows: none if it was lowered, several if it was raised
        self._slots -= 1
        while self._slots < self._concurrency.limit:
            self._slots += 1
            self._free.release()


async def reached(clock: RunClock, moment: float, stopping: asyncio.Event) -> bool:
    """Wait until *moment*; return False if *stopping* is set, before or then."""
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
