"""The scraping process, as the session sees it. Whatever becomes of it, the recording goes on."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.processes import child_command
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.handing import encoded
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.scraping import (
    AFTER,
    BEFORE,
    DURING,
    document,
)

# all components are asked at once, each for ten seconds at most; the rest is the start of the process
_ROUND_WITHIN_S = 20.0


class ControlPlane:
    """Scrapes the control plane before, during and after a test."""

    def __init__(self, plan: MetricsPlan, api: ApiEndpoint, clock: RunClock, journal: Path, summary: Path) -> None:
        """Samples go to *journal*; *summary* says what became of each scrape."""
        self._plan = plan
        self._api = api
        self._clock = clock
        self._journal = journal
        self._summary = summary
        self._process: asyncio.subprocess.Process | None = None
        self._error: str | None = None

    async def before(self) -> None:
        """Start the process; returns when everything was scraped once, or cannot be."""
        arguments = {
            "interval_s": self._plan.interval_s,
            "endpoints": dict(self._plan.endpoints),
            "utc_s": self._clock.utc_s,
            "monotonic_s": self._clock.monotonic_s,
            "journal": str(self._journal),
            "summary": str(self._summary),
        }
        try:
            self._process = await asyncio.create_subprocess_exec(
                *child_command("scale_test.control_plane.working", json.dumps(arguments)),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except OSError as error:
            self._error = f"the scraping process cannot be started: {error.strerror}"
            return
        await self._say(encoded(self._api))
        await self._scraped(BEFORE)

    async def during(self) -> None:
        """The test begins."""
        await self._say(f"{DURING}\n".encode())

    async def after(self) -> None:
        """The test is over; returns when everything was scraped once more."""
        await self._say(f"{AFTER}\n".encode())
        await self._scraped(AFTER)

    async def close(self) -> None:
        """End the process, if it has not ended, and say so in the summary if that was not as it should be."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.communicate()
        if self._error is None and self._summary.exists():
            return
        scrapes = read_json(self._summary) if self._summary.exists() else document(self._plan.interval_s, [])
        write_json(self._summary, {**scrapes, "error": self._error or "ended before the first scrape"})

    async def _say(self, line: bytes) -> None:
        if self._process is None or self._process.stdin is None or self._error:
            return
        # one that died says why when its answer is awaited
        with suppress(ConnectionError):
            self._process.stdin.write(line)
            await self._process.stdin.drain()

    async def _scraped(self, phase: str) -> None:
        """Wait until the process says that it has scraped in this phase."""
        if self._process is None or self._process.stdout is None or self._error:
            return
        try:
            async with asyncio.timeout(_ROUND_WITHIN_S):
                answer = (await self._process.stdout.readline()).decode().strip()
                if answer != phase:
                    self._error = await self._last_words()
        except TimeoutError:
            self._error = f"no answer within {_ROUND_WITHIN_S:g} s"

    async def _last_words(self) -> str:
        errors = self._process.stderr if self._process else None
        said = (await errors.read()).decode(errors="replace").strip().splitlines() if errors else []
        return f"the scraping process ended: {said[-1].removeprefix('Error: ') if said else 'it printed no reason'}"
