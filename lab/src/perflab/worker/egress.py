"""The way of connections into the network of a node without root: by `CONNECT HOST:PORT` to a Unix socket.

An EgressSelectorConfiguration makes the API server connect to kubelets, pods and Services in this way.
"""

from __future__ import annotations

import asyncio
from asyncio import StreamReader, StreamWriter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from perflab.files import documents
from perflab.processes.state import Lab
from perflab.worker import relay
from perflab.worker.relay import Streams

# relative to the lab's folder, where its programs start: the path of a socket has at most 107 characters
API_SERVER = "egress.sock"
NODE = "node.sock"
_END = b"\r\n\r\n"
_ACCEPTED = b"HTTP/1.1 200 OK\r\n\r\n"
_REFUSED = b"HTTP/1.1 502 Bad Gateway\r\n\r\n"


def write_configuration(lab: Lab) -> Path:
    """Write the file that makes the API server use the socket :data:`API_SERVER`; return its path."""
    connection: dict[str, Any] = {"proxyProtocol": "HTTPConnect", "transport": {"uds": {"udsName": API_SERVER}}}
    path = lab.folder / "egress.json"
    selection = {"name": "cluster", "connection": connection}
    kind = {"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration"}
    documents.write_json(path, {**kind, "egressSelections": [selection]})
    return path


async def serve(path: str, connect: Callable[[str, int], Awaitable[Streams]]) -> asyncio.Server:
    """Listen at a Unix socket, and pass each connection on to the host and port that it requests."""

    async def answer(reader: StreamReader, writer: StreamWriter) -> None:
        try:
            target = await connect(*_requested(await reader.readuntil(_END)))
        except (OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            writer.write(_REFUSED)
            writer.close()
            return
        writer.write(_ACCEPTED)
        await relay.join((reader, writer), target)

    return await asyncio.start_unix_server(answer, path)


async def open_through(path: str, host: str, port: int) -> Streams:
    """Open a connection to *host* and *port* through a socket that :func:`serve` serves.

    Raises:
        OSError: Nothing serves the socket, or the connection is refused.
    """
    reader, writer = await asyncio.open_unix_connection(path)
    writer.write(f"CONNECT {host}:{port} HTTP/1.1".encode() + _END)
    try:
        accepted = await reader.readuntil(_END) == _ACCEPTED
    except asyncio.IncompleteReadError:
        accepted = False
    if not accepted:
        writer.close()
        raise ConnectionRefusedError(f"no connection to {host}:{port} through {path}")
    return reader, writer


def _requested(request: bytes) -> tuple[str, int]:
    method, target, *_rest = request.decode().split(" ")
    if method != "CONNECT":
        raise ValueError(method)
    host, _, port = target.rpartition(":")
    return host.strip("[]"), int(port)
