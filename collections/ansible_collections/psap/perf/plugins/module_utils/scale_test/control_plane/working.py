"""What the scraping process does. Its one argument is a JSON object.

Each line of the standard input after the first is the next phase; its end ends the process. On the standard output it
says which phase has been scraped.
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
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.handing import handed, read_line
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.scraping import BEFORE, Scraper


def main(arguments: str) -> None:
    """Scrape until told that it was the last time.

    :raises PerfError: when the disk ends it.
    """
    endpoint = handed(read_line())
    given = json.loads(arguments)
    journal = Journal(Path(given["journal"]))
    plan = MetricsPlan(given["interval_s"], given["endpoints"])
    clock = RunClock(given["utc_s"], given["monotonic_s"])
    asyncio.run(Scraper(plan, endpoint, clock, journal, Path(given["summary"])).run(_phases(), _announce_scraped))
    journal.close()


def _phases() -> Callable[[float], str | None]:
    """A function that waits for the next phase on the standard input, forever when asked to for less than 0 s."""
    current = BEFORE

    def following(wait_s: float) -> str | None:
        nonlocal current
        readable, _writable, _failed = select.select([sys.stdin.fileno()], [], [], wait_s if wait_s >= 0 else None)
        if not readable:
            return current
        current = read_line().decode()
        return current or None

    return following


def _announce_scraped(phase: str) -> None:
    """Say that a phase has been scraped."""
    sys.stdout.write(f"{phase}\n")
    sys.stdout.flush()
