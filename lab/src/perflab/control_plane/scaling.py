"""Changes the number of nodes of a running lab."""

from __future__ import annotations

import asyncio
import dataclasses

from perflab.cluster import nodes
from perflab.cluster.api import connect
from perflab.control_plane import setup
from perflab.processes.state import Lab


def scale(lab: Lab, number: int) -> Lab:
    """Give a running lab `number` simulated nodes, wait until all are Ready, and record it."""
    scaled = dataclasses.replace(lab, options=dataclasses.replace(lab.options, nodes=number))
    asyncio.run(_scale(scaled, number))
    scaled.write()
    return scaled


async def _scale(lab: Lab, number: int) -> None:
    async with connect(lab.folder, lab.server) as api:
        await nodes.set_number(api, lab, number)
        await nodes.wait_ready(api, lab, number)
        await setup.mark_cluster(api, lab)
