"""Passes TCP connections on: the API server listens on loopback only, which a node in its own network cannot reach."""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter

_CHUNK = 65536


async def serve(host: str, port: int, target: tuple[str, int]) -> asyncio.Server:
    """Listen at *host* and *port*, and pass each connection on to *target*."""

    async def passed_on(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            other_reader, other_writer = await asyncio.open_connection(*target)
        except OSError:
            # a client sees what it would see if it called the API server itself
            writer.close()
            return
        try:
            await asyncio.gather(_pump(reader, other_writer), _pump(other_reader, writer))
        finally:
            for each in (writer, other_writer):
                each.close()

    return await asyncio.start_server(passed_on, host, port)


async def _pump(reader: StreamReader, writer: StreamWriter) -> None:
    try:
        while data := await reader.read(_CHUNK):
            writer.write(data)
            await writer.drain()
        writer.write_eof()
    except OSError:
        # one of the two has gone: the other direction ends by itself
        writer.close()
