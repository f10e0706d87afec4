"""The API of all Data Science Pipelines applications of a lab: `python -m perflab.serving.pipelines PORT HOST…`.

It runs in the lab's folder. Pods on a real node reach it at this machine's end of the cable to the node.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from collections.abc import Iterable
from pathlib import Path

from aiohttp import web

from perflab.cluster.api import connect
from perflab.errors import ClusterError
from perflab.processes.state import read_lab
from perflab.serving.pipelines.api import Backend, application
from perflab.serving.pipelines.records import Records

# of Linux: the node's cable may be created later
_IP_FREEBIND = 15


async def serve(folder: Path, port: int, hosts: Iterable[str]) -> None:
    """Answer requests until the process is ended."""
    lab = read_lab(folder.parent, folder.name)
    if lab is None:
        raise ClusterError(f"{folder} is not a lab")
    async with connect(folder, lab.server) as api:
        backend = Backend(api, Records(folder / "pipelines.json"))
        runner = web.AppRunner(application(backend), access_log=None)
        await runner.setup()
        for host in hosts:
            await web.SockSite(runner, _listening(host, port)).start()
        await asyncio.Event().wait()


def _listening(host: str, port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    found.setsockopt(socket.IPPROTO_IP, _IP_FREEBIND, 1)
    found.bind((host, port))
    return found


if __name__ == "__main__":
    logging.basicConfig(format="%(asctime)s %(levelname)s %(message)s", level=logging.WARNING)
    asyncio.run(serve(Path.cwd(), int(sys.argv[1]), sys.argv[2:]))
