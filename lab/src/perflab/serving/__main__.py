"""The model servers of all pods of a lab as one process: `python -m perflab.serving PORT [PORT-OF-GRPC]`.

It runs in the lab's folder.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from aiohttp import web

from perflab.cluster.api import Document, connect
from perflab.emulators.framework.resources import PODS
from perflab.emulators.framework.store import Store
from perflab.errors import ClusterError
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import read_lab
from perflab.serving.listening import Pods
from perflab.serving.openai import application
from perflab.serving.servers import Servers
from perflab.serving.tgis import serve_tgis


async def serve(folder: Path, port: int, grpc_port: int = 0) -> None:
    """Serve the declared models of pods, each from its readiness to its end, until the process is ended."""
    lab = read_lab(folder.parent, folder.name)
    if lab is None:
        raise ClusterError(f"{folder} is not a lab")
    servers = Servers()
    runner = web.AppRunner(application(servers), access_log=None)
    await runner.setup()
    pods, news = Pods(servers, runner, port), asyncio.Queue[tuple[Document | None, Document | None]]()
    async with connect(folder, lab.server) as api, AsyncExitStack() as stack, asyncio.TaskGroup() as group:
        store = Store(api, PODS)
        store.listen(lambda old, new: news.put_nowait((old, new)))
        group.create_task(store.follow())
        await store.synced.wait()
        while not news.empty():
            await pods.changed(*news.get_nowait())
        if grpc_port:
            await stack.enter_async_context(serve_tgis(servers, f"{LOOPBACK}:{grpc_port}"))
        await web.TCPSite(runner, LOOPBACK, port).start()
        while True:
            await pods.changed(*await news.get())


if __name__ == "__main__":
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    asyncio.run(serve(Path.cwd(), *map(int, sys.argv[1:])))
