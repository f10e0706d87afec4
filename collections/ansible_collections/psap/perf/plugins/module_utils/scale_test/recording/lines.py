"""Read the lines of a stream with their times of arrival, regardless of how long their processing takes.

The reader does nothing else, and the processing of lines yields every millisecond, so that a burst on one watch does
not delay the timestamps of another.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable

import aiohttp

_TURN_S = 0.001
# limit of unprocessed bytes; above it, the stream stalls and the server keeps the rest
_WAITING_BYTES = 16 * 1024 * 1024
_PAUSE_S = 0.005


class _Arrivals:
    """Pieces of the body with their times of arrival."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._pieces: deque[tuple[bytes, float]] = deque()
        self._waiting = 0
        self._some = asyncio.Event()

    async def read(self, response: aiohttp.ClientResponse) -> None:
        """Timestamp and store every piece."""
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
        """Return the oldest piece and its time; None at the end. The stream's error is raised after the last piece."""
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
    """Yield the complete lines of the body, each with the time of arrival of its last piece."""
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
