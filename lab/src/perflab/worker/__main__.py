"""The process of a lab that runs its real node: `python -m perflab.worker PROGRAMS ARCHIVE…`.

It connects the node with this machine, passes connections to the API server on, and answers at the lab's port of the
worker whether the node is Ready. When it ends, even by SIGKILL, the kernel ends everything of the node.
"""

from __future__ import annotations

import asyncio
import datetime
import subprocess
import sys
from pathlib import Path
from typing import Never

from aiohttp import web

from perflab.cluster import real_node
from perflab.cluster.api import Api, connect
from perflab.errors import ClusterError
from perflab.processes.ports import LOOPBACK
from perflab.profiles import WORKER
from perflab.worker import requirements, rooted, rootless
from perflab.worker.configuration import Node, this_node

_NODE = f"/api/v1/nodes/{real_node.NAME}"
_TAINT_NOT_READY = "node.kubernetes.io/not-ready"
_POLL_S = 0.02
_READY, _NOT_READY = 200, 503


def main() -> None:
    """Run the node until it ends, or this process."""
    programs, *archives = map(Path, sys.argv[1:])
    asyncio.run(_run(this_node(programs), archives))


async def _run(its: Node, archives: list[Path]) -> Never:
    started = datetime.datetime.now(datetime.UTC)
    way = rootless if its.lab.rootless else rooted
    await way.prepare(its)
    its.write()
    process = _start(its, archives)
    async with way.connected(its, await _first_process(process)), connect(its.lab.folder, its.lab.server) as api:
        await _answer(its, api, started)
        code = await asyncio.to_thread(process.wait)
    raise ClusterError(f"the node ended with code {code}")


def _start(its: Node, archives: list[Path]) -> subprocess.Popen[bytes]:
    # the kernel kills unshare when this process ends, and then the first process of the node
    death = [requirements.find("setpriv") or "setpriv", "--pdeathsig", "KILL"]
    inside = [sys.executable, "-m", f"{__package__}.inside", str(its.programs), *map(str, archives)]
    return subprocess.Popen([*death, *requirements.namespaces(rootless=its.lab.rootless), "--", *inside])  # noqa: S603


async def _first_process(process: subprocess.Popen[bytes]) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        # unshare has left this machine's network before it starts a process
        found = children.read_text().split()
        if found:
            return int(found[0])
        await asyncio.sleep(_POLL_S)
    raise ClusterError(f"unshare ended with code {process.returncode}")


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
