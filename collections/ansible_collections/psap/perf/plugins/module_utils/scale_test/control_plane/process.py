"""The session's side of the scraping process. If the process fails, the recording continues."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.processes import child_command
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.handover import encode_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.scraping import (
    AFTER,
    BEFORE,
    DURING,
    document,
)

# all components are scraped concurrently, for ten seconds at most; the rest is the start of the process
_ROUND_WITHIN_S = 20.0


class ControlPlane:
    """Scrapes the control plane before, during and after a test."""

    def __init__(self, plan: MetricsPlan, api: ApiEndpoint, clock: RunClock, journal: Path, summary: Path) -> None:
        """Store the arguments; samples go to *journal*, the result of each scrape to *summary*."""
        self._plan = plan
        self._api = api
        self._clock = clock
        self._journal = journal
        self._summary = summary
        self._process: asyncio.subprocess.Process | None = None
        self._error: str | None = None

    async def before(self) -> None:
        """Start the process, and wait until all components were scraped once, or it failed."""
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
        await self._send(encode_endpoint(self._api))
        await self._wait_scraped(BEFORE)

    async def during(self) -> None:
        """Scrape at the interval from now on."""
        await self._send(f"{DURING}\n".encode())

    async def after(self) -> None:
        """End the interval, and wait until all components were scraped once more."""
        await self._send(f"{AFTER}\n".encode())
        await self._wait_scraped(AFTER)

    async def close(self) -> None:
        """End the process if it still runs, and write an error to the summary if it failed."""
        if self._process is not None:
            with suppress(ProcessLookupError):
                self._process.kill()
            await self._process.communicate()
        if self._error is None and self._summary.exists():
            return
        scrapes = read_json(self._summary) if self._summary.exists() else document(self._plan.interval_s, [])
        write_json(self._summary, {**scrapes, "error": self._error or "ended before the first scrape"})

    async def _send(self, line: bytes) -> None:
        if self._process is None or self._process.stdin is None or self._error:
            return
        # the next wait reports why a process died
        with suppress(ConnectionError):
            self._process.stdin.write(line)
            await self._process.stdin.drain()

    async def _wait_scraped(self, phase: str) -> None:
        """Wait until the process has printed this phase."""
        if self._process is None or self._process.stdout is None or self._error:
            return
        try:
            async with asyncio.timeout(_ROUND_WITHIN_S):
                answer = (await self._process.stdout.readline()).decode().strip()
                if answer != phase:
                    self._error = await self._death()
        except TimeoutError:
            self._error = f"no answer within {_ROUND_WITHIN_S:g} s"

    async def _death(self) -> str:
        errors = self._process.stderr if self._process else None
        lines = (await errors.read()).decode(errors="replace").strip().splitlines() if errors else []
        return f"the scraping process ended: {lines[-1].removeprefix('Error: ') if lines else 'it printed no reason'}"
