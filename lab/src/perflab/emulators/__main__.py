"""All emulators of a lab as one process: `python -m perflab.emulators PORT`, in the lab's folder."""

from __future__ import annotations

import asyncio
import logging
import sys
from pathlib import Path

from aiohttp import web

from perflab.cluster.api import connect
from perflab.emulators.engine.targets import Targets
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.resources import CONFIG_MAPS
from perflab.emulators.framework.steps import STEPS_NAME, Declarations, Steps
from perflab.emulators.framework.stores import Stores
from perflab.emulators.framework.supervisor import Supervisor
from perflab.emulators.registry import Runnable, runnable_of
from perflab.errors import ClusterError
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import read_lab

_SETTLE_S = 0.02
# there are more watches than connections that an API client needs for its requests
_UNLIMITED = 0


async def serve(folder: Path, port: int) -> None:
    """Run the lab's emulators until the process is ended.

    `/healthz` returns 200 once they have read the cluster and created their initial objects, and while none of them
    waits for a restart after a failure; `/steps` returns the version of the step values that they use.
    """
    lab = read_lab(folder.parent, folder.name)
    if lab is None:
        raise ClusterError(f"{folder} is not a lab")
    async with connect(folder, lab.server, _UNLIMITED) as api:
        stores, supervisor, settled = Stores(api), Supervisor(), asyncio.Event()
        targets = Targets(folder / "prometheus")
        running: list[Runnable] = [
            targets,
            *(each for name in lab.emulators for each in runnable_of(name, stores, targets)),
        ]
        await _listen(port, stores, supervisor, settled)
        async with asyncio.TaskGroup() as group:
            for store in stores.all():
                group.create_task(supervisor.keep(store.resource.plural, store.follow))
            # objects that are not read yet must not look absent
            await asyncio.gather(*(store.synced.wait() for store in stores.all()))
            for each in running:
                group.create_task(supervisor.keep(each.name, each.run))
            # servers, unlike controllers, never finish their work
            controllers = [each for each in running if isinstance(each, Controller)]
            while not all(controller.is_idle for controller in controllers):
                await asyncio.sleep(_SETTLE_S)
            settled.set()


async def _listen(port: int, stores: Stores, supervisor: Supervisor, settled: asyncio.Event) -> None:
    set_steps = Steps("", Declarations(), stores.get(CONFIG_MAPS, name=STEPS_NAME))

    async def healthz(_: web.Request) -> web.Response:
        waiting = [store.resource.plural for store in stores.all() if not store.synced.is_set()]
        waiting += [f"{name} failed" for name in supervisor.failed]
        is_well = settled.is_set() and not waiting
        return web.Response(status=200 if is_well else 503, text=", ".join(waiting) or "ok")

    async def known_steps(_: web.Request) -> web.Response:
        return web.json_response(set_steps.version)

    app = web.Application()
    app.router.add_get("/healthz", healthz)
    app.router.add_get("/steps", known_steps)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, LOOPBACK, port).start()


if __name__ == "__main__":
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    asyncio.run(serve(Path.cwd(), int(sys.argv[1])))
