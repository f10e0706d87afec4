"""Kills one program of a running lab and starts it again with the same command line."""

from __future__ import annotations

import asyncio

from perflab.errors import ClusterError, UsageError
from perflab.processes import launch, process
from perflab.processes.state import Lab


def restart(lab: Lab, component: str, away_s: float = 0.0) -> Lab:
    """Kill *component* (if it still runs), start it again *away_s* seconds later, and wait until it is ready.

    It, and other programs, may have ended before. Raises UsageError for an unknown component, ClusterError if it cannot
    be killed or does not become ready; its log continues in the same file.
    """
    program = lab.programs.get(component)
    if program is None:
        known = ", ".join(sorted(lab.programs)) or "none"
        raise UsageError(f"the lab {lab.name!r} has no program {component!r}; known: {known}.")
    if process.kill([lab.pids[component]]):
        raise ClusterError(f"cannot kill {component} of the lab {lab.name!r}: process {lab.pids[component].pid}.")
    return asyncio.run(_start(lab, component, away_s))


async def _start(lab: Lab, component: str, away_s: float) -> Lab:
    await asyncio.sleep(away_s)
    program = lab.programs[component]
    lab = launch.start(lab, program)
    # only this one: other dead programs must not prevent its start
    await launch.wait_ready(lab, [program], watched=[component])
    return lab
