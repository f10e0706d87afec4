"""A node without root: only Unix sockets connect its network with this machine, in both directions."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from perflab.errors import ClusterError
from perflab.processes import process
from perflab.processes.ports import LOOPBACK
from perflab.worker import egress, relay
from perflab.worker.configuration import Node
from perflab.worker.relay import Streams
from perflab.worker.tunnel import API_SOCKET

_POLL_S = 0.05
_END_TIMEOUT_S = 60.0


async def prepare(its: Node) -> None:
    """Wait until the processes of a node that was killed have ended.

    Raises:
        ClusterError: They have not ended.
    """
    deadline = time.monotonic() + _END_TIMEOUT_S
    while any(_is_inside(each.pid) for each in process.find_marked(its.lab.folder)):
        if time.monotonic() > deadline:
            raise ClusterError("processes of an ended node still run")
        await asyncio.sleep(_POLL_S)


def _is_inside(pid: int) -> bool:
    """Return whether a process is in another network than this one."""
    try:
        return Path(f"/proc/{pid}/ns/net").readlink() != Path("/proc/self/ns/net").readlink()
    except OSError:
        return False


@contextlib.asynccontextmanager
async def connected(its: Node, _first_process: int) -> AsyncIterator[None]:
    """Pass connections of the node to the API server, and connections of the API server into the node."""

    async def connect(host: str, port: int) -> Streams:
        if _is_address(host) and ipaddress.ip_address(host) in its.network.block:
            return await egress.open_through(egress.NODE, host, port)
        # a simulated node, or another program of the lab
        return await asyncio.open_connection(host, port)

    api_server = partial(asyncio.open_connection, LOOPBACK, its.lab.ports["kube-apiserver"])
    async with await relay.serve_socket(API_SOCKET, api_server), await egress.serve(egress.API_SERVER, connect):
        yield


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
