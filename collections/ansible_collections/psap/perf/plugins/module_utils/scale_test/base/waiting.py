"""Waiting for a state of the cluster by asking again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

_PAUSE_S = 0.1


async def wait_without_problem(find_problem: Callable[[], Awaitable[str]], within_s: float) -> str:
    """Call *find_problem* until it returns an empty text.

    Args:
        within_s: Seconds after which the problem is returned that remains.

    Returns:
        The remaining problem; empty without one.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + within_s
    while problem := await find_problem():
        if loop.time() > end:
            return problem
        await asyncio.sleep(_PAUSE_S)
    return ""
