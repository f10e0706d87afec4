"""The lines of a stream with the times at which they came, however long it takes to work on them.

What reads does nothing else, and what works on lines gives way every millisecond: a burst on one watch makes nothing
look late on another.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable

import aiohttp

_TURN_S = 0.001
# what may wait to be worked on; more stays with the server, whose stream then stalls
_WAITING_BYTES = 16 * 1024 * 1024
_PAUSE_S = 0.005


class _Arrivals:
    """Pieces of the body, as they came."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pieces: deque[tuple[bytes, float]] = deque()
        self._waiting = 0
        self._some = asyncio.Event()

    async def read(self, response: aiohttp.ClientResponse) -> None:
        """Stamp and keep every piece."""
        try:
            async for piece in response.content.iter_any():
                self._pieces.append((piece, self._now()))
                self._waiting += len(piece)
                self._some.set()
                while self._waiting > _WAITING_BYTES:
                    await asyncio.sleep(_PAUSE_S)
        finally:
            self._some.set()

    async def next(self, reading: asyncio.Task[None]) -> tuple[bytes, float] | None:
        """The oldest piece and when it came; None when the body has ended. What broke it is raised after the last."""
        while not self._pieces:
            if reading.done():
                reading.result()
                return None
            self._some.clear()
            await self._some.wait()
        piece, seen_s = self._pieces.popleft()
        self._waiting -= len(piece)
        return piece, seen_s


async def arriving_lines(
    response: aiohttp.ClientResponse, now: Callable[[], float]
) -> AsyncGenerator[tuple[bytes, float], None]:
    """The complete lines of the body, each with the time at which the piece that ended it came."""
    arrivals = _Arrivals(now)
    reading = asyncio.create_task(arrivals.read(response))
    turn_ends = 0.0
    rest = b""
    try:
        while (arrived := await arrivals.next(reading)) is not None:
            piece, seen_s = arrived
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                if time.monotonic() > turn_ends:
                    await asyncio.sleep(0)
                    turn_ends = time.monotonic() + _TURN_S
                yield line, seen_s
    finally:
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
