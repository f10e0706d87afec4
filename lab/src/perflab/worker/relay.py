"""Passes connections on: the API server listens on loopback only, which a node in its own network cannot reach."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable

Streams = tuple[StreamReader, StreamWriter]
_CHUNK = 65536
_TASKS: set[asyncio.Task[None] | None] = set()


async def serve(host: str, port: int, connect: Callable[[], Awaitable[Streams]]) -> asyncio.Server:
    """Listen at *host* and *port*, and pass each connection on to that which *connect* opens."""
    return await asyncio.start_server(_passing(connect), host, port)


async def serve_socket(path: str, connect: Callable[[], Awaitable[Streams]]) -> asyncio.Server:
    """Listen at a Unix socket, which any network of this machine reaches, like :func:`serve`."""
    return await asyncio.start_unix_server(_passing(connect), path)


async def join(one: Streams, other: Streams) -> None:
    """Copy between two connections in both directions until both have ended, then close them."""
    task = asyncio.current_task()
    # asyncio itself keeps no reference to the task of a connection that one side has closed
    _TASKS.add(task)
    try:
        await asyncio.gather(_pump(one[0], other[1]), _pump(other[0], one[1]))
    finally:
        _TASKS.discard(task)
        for _reader, writer in (one, other):
            writer.close()


def _passing(connect: Callable[[], Awaitable[Streams]]) -> Callable[[StreamReader, StreamWriter], Awaitable[None]]:
    async def passed_on(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            target = await connect()
        except OSError:
            # a client sees what it would see if it called the target itself
            writer.close()
            return
        await join((reader, writer), target)

    return passed_on


async def _pump(reader: StreamReader, writer: StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        # one of the two has gone: the other direction ends by itself
        writer.close()
