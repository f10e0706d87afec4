"""Keeps the parts of a process running: one that fails is restarted, and the others continue."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

_log = logging.getLogger(__name__)
_FIRST_RETRY_S = 0.1
_LONGEST_RETRY_S = 5.0


class Supervisor:
    """Runs tasks until the process is ended. *failed* names those that wait for a restart."""

    def __init__(self) -> None:
        """Nothing has failed yet."""
        self.failed: set[str] = set()

    async def keep(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run until cancelled; when it ends by an error, log it and run it again, with growing delays."""
        wait_s = _FIRST_RETRY_S
        while True:
            try:
                await run()
            except Exception:
                _log.exception("%s failed; restarting in %.1f s", name, wait_s)
            else:
                _log.error("%s ended; restarting in %.1f s", name, wait_s)
            self.failed.add(name)
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_RETRY_S)
            self.failed.discard(name)
