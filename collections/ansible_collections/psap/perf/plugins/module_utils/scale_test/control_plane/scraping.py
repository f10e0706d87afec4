"""Scrape all components once before, at an interval during, and once after the test."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.pages import PageError, PageReader
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsPlan, Target
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.selection import SELECTION

SCHEMA = "psap.perf/control-plane/1"
BEFORE = "before"
DURING = "during"
AFTER = "after"
_ONCE = RetryPolicy(attempts=1)
_TIMEOUT_S = 10.0


@dataclass(frozen=True, slots=True)
class Scrape:
    """One request for a page: its time, its duration, and its error."""

    component: str
    phase: str
    at_s: float
    seconds: float
    error: str | None


def document(interval_s: float, scrapes: list[Scrape], error: str | None = None) -> dict[str, Any]:
    """Return the content of ``control_plane.json``; *error* is the reason if scraping ended early."""
    return {
        "schema": SCHEMA,
        "interval_s": interval_s,
        "scrapes": [asdict(scrape) for scrape in scrapes],
        "error": error,
    }


class Scraper:
    """Scrapes all components of a plan."""

    def __init__(self, plan: MetricsPlan, api: ApiEndpoint, clock: RunClock, journal: Journal, summary: Path) -> None:
        """Prepare the readers; samples go to *journal*, the result of each scrape to the document *summary*."""
        self._plan = plan
        self._targets = plan.targets(api)
        self._clock = clock
        self._journal = journal
        self._summary = summary
        self._readers = {target.component: PageReader(SELECTION[target.component]) for target in self._targets}
        now = clock.now()
        self.scrapes = [
            Scrape(component, BEFORE, now, 0.0, "no endpoint; set scale_test_metrics_endpoints")
            for component in plan.unknown()
        ]

    async def run(self, next_phase: Callable[[float], str | None], done: Callable[[str], None]) -> None:
        """Scrape until the phase ``after`` was scraped, or the parent process ended.

        Args:
            next_phase: Waits for the next phase, at most the given seconds, and returns the present one; None if the
                parent process ended.
            done: Called after the scrapes of the phases ``before`` and ``after``.
        """
        async with AsyncExitStack() as stack:
            clients = {target.component: await self._client(stack, target) for target in self._targets}
            phase: str | None = BEFORE
            while phase is not None:
                began = time.monotonic()
                await asyncio.gather(
                    *(self._scrape(clients[target.component], target, phase) for target in self._targets)
                )
                self._journal.flush()
                write_json(self._summary, document(self._plan.interval_s, self.scrapes))
                if phase != DURING:
                    done(phase)
                if phase == AFTER:
                    return
                wait_s = began + self._plan.interval_s - time.monotonic()
                # one round before the test, regardless of when the test starts
                phase = await asyncio.to_thread(next_phase, max(0.0, wait_s) if phase == DURING else -1.0)

    async def _client(self, stack: AsyncExitStack, target: Target) -> ApiClient:
        client = ApiClient(target.endpoint, policy=_ONCE, request_timeout_s=_TIMEOUT_S)
        return await stack.enter_async_context(client)

    async def _scrape(self, client: ApiClient, target: Target, phase: str) -> None:
        at_s = self._clock.now()
        error: str | None = None
        try:
            answer = await client.request("GET", target.path)
            if answer.succeeded:
                self._write(target.component, phase, at_s, answer.body)
            else:
                error = answer.message()
        except (ClusterError, PageError) as failed:
            error = str(failed)
        seconds = round(self._clock.now() - at_s, 6)
        self.scrapes.append(Scrape(target.component, phase, at_s, seconds, error))

    def _write(self, component: str, phase: str, at_s: float, page: bytes) -> None:
        for sample in self._readers[component].read(page):
            self._journal.append(
                {
                    "at_s": at_s,
                    "phase": phase,
                    "component": component,
                    "metric": sample.metric,
                    "labels": sample.labels,
                    "value": int(sample.value) if sample.value.is_integer() else sample.value,
                }
            )
