"""The process of a lab that runs its real node: `python -m perflab.worker PROGRAMS ARCHIVE…`.

It connects the node with this machine by a cable, passes connections to the API server on, and answers at the lab's
port of the worker whether the node is Ready. When it ends, even by SIGKILL, the kernel ends everything of the node.
"""

from __future__ import annotations

import asyncio
import datetime
import subprocess
import sys
import time
from pathlib import Path
from typing import Never

from aiohttp import web

from perflab.cluster import real_node
from perflab.cluster.api import Api, connect
from perflab.errors import ClusterError
from perflab.processes.ports import LOOPBACK
from perflab.profiles import WORKER
from perflab.worker import cgroups, node, relay, requirements
from perflab.worker.configuration import Node
from perflab.worker.inside import CABLE, this_node

_API_SERVER = "kube-apiserver"
_NODE = f"/api/v1/nodes/{real_node.NAME}"
_TAINT_NOT_READY = "node.kubernetes.io/not-ready"
_POLL_S = 0.02
_END_TIMEOUT_S = 60.0
_READY, _NOT_READY = 200, 503


def main() -> None:
    """Run the node until it ends, or this process."""
    programs, *archives = map(Path, sys.argv[1:])
    asyncio.run(_run(this_node(programs), archives))


async def _run(its: Node, archives: list[Path]) -> Never:
    started = datetime.datetime.now(datetime.UTC)
    name = node.cgroup(its.lab)
    await _await_end(its)
    # of a process that was killed
    cgroups.remove(name)
    cgroups.create(name)
    its.write()
    process = _start(its, archives)
    await _connect_cable(its, process)
    api_server = its.lab.ports[_API_SERVER]
    passing = await relay.serve(its.network.host, api_server, (LOOPBACK, api_server))
    async with passing, connect(its.lab.folder, its.lab.server) as api:
        await _answer(its, api, started)
        code = await asyncio.to_thread(process.wait)
    raise ClusterError(f"the node ended with code {code}")


async def _await_end(its: Node) -> None:
    """Wait until the kernel has removed the cable of a process that was killed, and with it the routes."""
    deadline = time.monotonic() + _END_TIMEOUT_S
    while Path("/sys/class/net", _cable_end(its)).exists():
        if time.monotonic() > deadline:
            raise ClusterError(f"the interface {_cable_end(its)} of an ended node is still present")
        await asyncio.sleep(_POLL_S)


def _cable_end(its: Node) -> str:
    return f"plw{its.lab.ports[WORKER]}"


def _start(its: Node, archives: list[Path]) -> subprocess.Popen[bytes]:
    # the kernel kills unshare when this process ends, and then the first process of the node
    death = [requirements.find("setpriv") or "setpriv", "--pdeathsig", "KILL"]
    namespaces = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--mount", "--net", "--uts", "--ipc"]
    inside = [sys.executable, "-m", f"{__package__}.inside", str(its.programs), *map(str, archives)]
    return subprocess.Popen([*death, *namespaces, "--", *inside])  # noqa: S603


async def _connect_cable(its: Node, process: subprocess.Popen[bytes]) -> None:
    """Create the cable, which the kernel removes with the node, and the routes through it."""
    inner = await _first_process(process)
    end = _cable_end(its)
    await _ip("link", "add", end, "type", "veth", "peer", "name", CABLE, "netns", str(inner))
    await _ip("address", "add", f"{its.network.host}/{its.network.cable.prefixlen}", "dev", end)
    await _ip("link", "set", end, "up")
    for network in (its.network.pods, its.network.services):
        await _ip("route", "add", str(network), "via", its.network.node)


async def _first_process(process: subprocess.Popen[bytes]) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        # unshare has left this machine's network before it starts a process
        found = children.read_text().split()
        if found:
            return int(found[0])
        await asyncio.sleep(_POLL_S)
    raise ClusterError(f"unshare ended with code {process.returncode}")


async def _ip(*arguments: str) -> None:
    command = [requirements.find("ip") or "ip", *arguments]
    done = await asyncio.create_subprocess_exec(*command, stdin=asyncio.subprocess.DEVNULL)
    if await done.wait() != 0:
        raise ClusterError(f"`{' '.join(command)}` failed with code {done.returncode}")


async def _answer(its: Node, api: Api, started: datetime.datetime) -> None:
    async def readyz(_request: web.Request) -> web.Response:
        ready = await _is_ready(api, started)
        return web.Response(status=_READY if ready else _NOT_READY)

    application = web.Application()
    application.add_routes([web.get("/readyz", readyz)])
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, its.lab.ports[WORKER]).start()


async def _is_ready(api: Api, started: datetime.datetime) -> bool:
    """Return whether the kubelet has reported since *started* that the node is Ready, and pods can run on it."""
    found = await api.get_present(_NODE)
    # the controller manager removes the taint some time after the condition
    if not found or any(each["key"] == _TAINT_NOT_READY for each in found["spec"].get("taints", [])):
        return False
    conditions = found["status"].get("conditions", [])
    ready = (each for each in conditions if each["type"] == "Ready" and each["status"] == "True")
    # a node that was Ready before a restart still appears so; the API has whole seconds
    since = started.replace(microsecond=0)
    return any(datetime.datetime.fromisoformat(each["lastHeartbeatTime"]) >= since for each in ready)


if __name__ == "__main__":
    main()
