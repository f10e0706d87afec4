"""One emulator as a process of a lab: `python -m perflab.emulators NAME PORT`, in the lab's folder."""

from __future__ import annotations

import asyncio
import importlib
import logging
import sys
from pathlib import Path

from aiohttp import web

from perflab import profiles
from perflab.cluster.api import connect
from perflab.emulators.framework import steps
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.errors import ClusterError
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import read_lab

_SETTLE_S = 0.02


async def serve(folder: Path, name: str, port: int) -> None:
    """Run the emulator until the process is ended.

    `/healthz` answers 200 once it knows the cluster and has made what is there from the start, `/steps` which version
    of the set steps it knows.
    """
    lab = read_lab(folder.parent, folder.name)
    if lab is None:
        raise ClusterError(f"{folder} is no lab")
    emulator = importlib.import_module(profiles.package(name))
    async with connect(folder, lab.server) as api:
        cluster = Cluster(api, name, steps.declared(name))
        controllers = emulator.controllers(cluster)
        settled = asyncio.Event()
        await _listen(port, cluster, settled)
        async with asyncio.TaskGroup() as group:
            for store in cluster.stores():
                group.create_task(store.follow())
            # what is not read yet must not look like what is not there
            await asyncio.gather(*(store.synced.wait() for store in cluster.stores()))
            for controller in controllers:
                group.create_task(controller.run())
            # besides controllers there may be servers, which have no work to finish
            working = [each for each in controllers if isinstance(each, Controller)]
            while not all(controller.is_idle for controller in working):
                await asyncio.sleep(_SETTLE_S)
            settled.set()


async def _listen(port: int, cluster: Cluster, settled: asyncio.Event) -> None:
    async def healthz(_: web.Request) -> web.Response:
        waiting = [store.resource.plural for store in cluster.stores() if not store.synced.is_set()]
        is_well = settled.is_set() and not waiting
        return web.Response(status=200 if is_well else 503, text=", ".join(waiting) or "ok")

    async def known_steps(_: web.Request) -> web.Response:
        return web.json_response(cluster.steps_version)

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/steps", known_steps)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, port).start()


if __name__ == "__main__":
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    asyncio.run(serve(Path.cwd(), sys.argv[1], int(sys.argv[2])))
