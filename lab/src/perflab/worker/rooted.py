"""A node of root: a cable and routes connect its network with this machine, and control groups limit its pods."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

from perflab.errors import ClusterError
from perflab.processes.ports import LOOPBACK
from perflab.profiles import WORKER
from perflab.worker import cgroups, node, relay, requirements
from perflab.worker.configuration import Node
from perflab.worker.inside import CABLE

_API_SERVER = "kube-apiserver"
_POLL_S = 0.02
_END_TIMEOUT_S = 60.0


async def prepare(its: Node) -> None:
    """Remove what a node that was killed has left, and create the control group.

    Raises:
        ClusterError: The kernel has not removed the cable of that node, and with it the routes.
    """
    deadline = time.monotonic() + _END_TIMEOUT_S
    while Path("/sys/class/net", _cable_end(its)).exists():
        if time.monotonic() > deadline:
            raise ClusterError(f"the interface {_cable_end(its)} of an ended node is still present")
        await asyncio.sleep(_POLL_S)
    name = node.cgroup(its.lab)
    cgroups.remove(name)
    cgroups.create(name)


@contextlib.asynccontextmanager
async def connected(its: Node, first_process: int) -> AsyncIterator[None]:
    """Create the cable, which the kernel removes with the node, and the routes; pass connections to the API server."""
    end = _cable_end(its)
    await _ip("link", "add", end, "type", "veth", "peer", "name", CABLE, "netns", str(first_process))
    await _ip("address", "add", f"{its.network.host}/{its.network.cable.prefixlen}", "dev", end)
    await _ip("link", "set", end, "up")
    for network in (its.network.pods, its.network.services):
        await _ip("route", "add", str(network), "via", its.network.node)
    port = its.lab.ports[_API_SERVER]
    async with await relay.serve(its.network.host, port, partial(asyncio.open_connection, LOOPBACK, port)):
        yield


def _cable_end(its: Node) -> str:
    return f"plw{its.lab.ports[WORKER]}"


async def _ip(*arguments: str) -> None:
    command = [requirements.find("ip") or "ip", *arguments]
    done = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL)
    if await done.wait() != 0:
        raise ClusterError(f"`{' '.join(command)}` failed with code {done.returncode}")
