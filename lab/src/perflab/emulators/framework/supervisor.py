"""Keeps the parts of a process running: one that fails is started again, and the others go on."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

_log = logging.getLogger(__name__)
_FIRST_RETRY_S = 0.1
_LONGEST_RETRY_S = 5.0


class Supervisor:
    """Runs what shall run until the process is ended. *failed* names what waits to be started again."""

    def __init__(self) -> None:
        """Nothing has failed yet."""
        self.failed: set[str] = set()

    async def keep(self, name: str, run: Callable[[], Awaitable[None]]) -> None:
        """Run until cancelled; whenever it ends by an error, log it and run it again, later each time."""
        wait_s = _FIRST_RETRY_S
        while True:
            try:
                await run()
            except Exception:
                _log.exception("%s failed; again in %.1f s", name, wait_s)
            else:
                _log.error("%s ended; again in %.1f s", name, wait_s)
            self.failed.add(name)
            await asyncio.sleep(wait_s)
            wait_s = min(2 * wait_s, _LONGEST_RETRY_S)
            self.failed.discard(name)
