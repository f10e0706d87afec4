"""The program of a node without root that connects its network with this machine, by Unix sockets.

`python -m perflab.worker.tunnel`, in the folder of the lab.
"""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

from perflab.worker import egress, relay
from perflab.worker.configuration import Node, this_node

# where a process of this machine's network passes connections to the API server on
API_SOCKET = "api.sock"


async def _run(its: Node) -> None:
    api_server = partial(asyncio.open_unix_connection, API_SOCKET)
    passing = await relay.serve(its.network.host, its.lab.ports["kube-apiserver"], api_server)
    async with passing, await egress.serve(egress.NODE, asyncio.open_connection):
        await passing.serve_forever()


if __name__ == "__main__":
    asyncio.run(_run(this_node(Path())))
