"""Lines of a stream have their times of arrival, regardless of their processing and the stream's end."""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any, cast

import aiohttp
import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lines import arriving_lines


class Body:
    """A response whose body arrives in *pieces*, and then ends or breaks."""

    def __init__(self, *pieces: bytes, error: Exception | None = None) -> None:
        self.pieces = pieces
        self.error = error
        self.read = 0
        self.content = self

    async def iter_any(self) -> AsyncIterator[bytes]:
        for piece in self.pieces:
            await asyncio.sleep(0)
            self.read += 1
            yield piece
        if self.error:
            raise self.error


def lines_of(body: Body) -> tuple[list[tuple[bytes, float]], BaseException | None]:
    """Return the lines with their times, by a clock that advances by one at each reading, and the stream's error."""
    ticks = itertools.count(1.0)
    found = []

    async def scene() -> None:
        async with aclosing(arriving_lines(cast(Any, body), lambda: next(ticks))) as lines:
            async for line in lines:
                found.append(line)

    try:
        asyncio.run(scene())
    except aiohttp.ClientError as error:
        return found, error
    return found, None


def test_line_has_the_time_of_its_last_piece() -> None:
    body = Body(b"one\ntw", b"o", b"\nthree\nfour\n", b"half")
    assert lines_of(body) == ([(b"one", 1.0), (b"two", 3.0), (b"three", 3.0), (b"four", 3.0)], None)


def test_lines_before_a_broken_stream_are_reported_first() -> None:
    broken = aiohttp.ClientPayloadError("gone")
    assert lines_of(Body(b"one\n", b"two\n", error=broken)) == ([(b"one", 1.0), (b"two", 2.0)], broken)


def test_pieces_are_timestamped_during_earlier_processing() -> None:
    body = Body(*(b"line\n" for _ in range(20)))
    read_at: list[int] = []

    async def scene() -> None:
        async with aclosing(arriving_lines(cast(Any, body), lambda: 0.0)) as lines:
            async for _line in lines:
                read_at.append(body.read)
                # processing that yields, like the one of a line
                await asyncio.sleep(0.01)

    asyncio.run(scene())
    assert len(read_at) == 20
    assert read_at[1] == 20


def test_reading_is_limited_by_the_queue_size(monkeypatch: pytest.MonkeyPatch) -> None:
    module = arriving_lines.__module__
    monkeypatch.setattr(f"{module}._WAITING_BYTES", 8)
    body = Body(*(b"line\n" for _ in range(20)))
    ahead: list[int] = []

    async def scene() -> None:
        async with aclosing(arriving_lines(cast(Any, body), lambda: 0.0)) as lines:
            async for _line in lines:
                ahead.append(body.read - len(ahead))
                await asyncio.sleep(0.01)

    asyncio.run(scene())
    assert len(ahead) == 20
    assert max(ahead) <= 3


def test_abandoned_reader_ends() -> None:
    async def scene() -> set[str]:
        async with aclosing(arriving_lines(cast(Any, Body(b"one\n", b"two\n")), lambda: 0.0)) as lines:
            async for _line in lines:
                break
        return {task.get_name() for task in asyncio.all_tasks() if task is not asyncio.current_task()}

    assert asyncio.run(scene()) == set()
