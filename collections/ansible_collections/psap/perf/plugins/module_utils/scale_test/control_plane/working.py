"""The scraping process. Its one argument is a JSON object.

Each line of the standard input after the first is the next phase; its end ends the process. The process prints each
phase that it has scraped to the standard output.
"""

from __future__ import annotations

import asyncio
import json
import select
import sys
from collections.abc import Callable
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.handover import decode_endpoint, read_line
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.scraping import BEFORE, Scraper


def main(arguments: str) -> None:
    """Scrape until the end of the last phase.

    Raises:
        PerfError: If a file cannot be written.
    """
    endpoint = decode_endpoint(read_line())
    values = json.loads(arguments)
    journal = Journal(Path(values["journal"]))
    plan = MetricsPlan(values["interval_s"], values["endpoints"])
    clock = RunClock(values["utc_s"], values["monotonic_s"])
    asyncio.run(Scraper(plan, endpoint, clock, journal, Path(values["summary"])).run(_phases(), _print_phase))
    journal.close()


def _phases() -> Callable[[float], str | None]:
    """Return a function that waits for the next phase on the standard input, indefinitely if less than 0 s."""
    current = BEFORE

    def following(wait_s: float) -> str | None:
        nonlocal current
        readable, _writable, _failed = select.select([sys.stdin.fileno()], [], [], wait_s if wait_s >= 0 else None)
        if not readable:
            return current
        current = read_line().decode()
        return current or None

    return following


def _print_phase(phase: str) -> None:
    sys.stdout.write(f"{phase}\n")
    sys.stdout.flush()
