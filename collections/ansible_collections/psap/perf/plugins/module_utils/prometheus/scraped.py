"""Scrape targets every few seconds, and answer queries from the scrapes as a Prometheus would."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.prometheus.answers import Answer
from ansible_collections.psap.perf.plugins.module_utils.prometheus.evaluating import Page, Scrapes
from ansible_collections.psap.perf.plugins.module_utils.prometheus.promql import (
    Selector,
    UnsupportedError,
    parse,
    selectors,
)
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import NamedQuery
from ansible_collections.psap.perf.plugins.module_utils.prometheus.querying import Origin, Outcome, write_answers
from ansible_collections.psap.perf.plugins.module_utils.prometheus.windows import Window

_SCRAPES_IN_RANGE = 4
# the length of a range, whose left end is excluded
_EPSILON_S = 0.001


@dataclass(frozen=True, slots=True)
class Sampling:
    """How often targets are scraped, and until when.

    Attributes:
        interval_s: Time between two scrapes.
        timeout_s: When to end at the latest.
        ended: Whether the measured work has ended.
        check: Raises if the user asked to stop.
        pause: Waits for some seconds, or until the work has ended.
    """

    interval_s: float
    timeout_s: float
    ended: Callable[[], bool]
    check: Callable[[], None]
    pause: Callable[[float], object] = time.sleep


def sample(queries: Sequence[NamedQuery], pages: Callable[[], Iterable[Page]], sampling: Sampling) -> Scrapes:
    """Scrape until the work has ended, and once more after it; only samples that *queries* select are stored."""
    scrapes = Scrapes(_wanted(queries))
    deadline = time.monotonic() + sampling.timeout_s
    while True:
        sampling.check()
        begin = time.monotonic()
        last = sampling.ended() or begin >= deadline
        read = tuple(pages())
        if read:
            scrapes.add(read)
        if last:
            return scrapes
        sampling.pause(max(0.0, sampling.interval_s - (time.monotonic() - begin)))


def answer_queries(
    folder: Path, queries: Sequence[NamedQuery], scrapes: Scrapes, origin: str, interval_s: float
) -> Outcome:
    """Write the answers to *queries* as `run_queries` does; those that need a Prometheus are listed as failed."""
    times = scrapes.times
    window = Window(times[0], times[-1])
    whole = {query.name for query in queries if query.of_whole_window}
    filled = [query.within(window.length_s + _EPSILON_S, _SCRAPES_IN_RANGE * interval_s) for query in queries]

    def ask(query: NamedQuery) -> Answer:
        return scrapes.answer(parse(query.expression), times[-1:] if query.name in whole else times)

    return write_answers(folder, filled, Origin("", origin), window, interval_s, ask)


def _wanted(queries: Iterable[NamedQuery]) -> list[Selector]:
    found = []
    for query in queries:
        try:
            found += [Selector(one.matchers) for one in selectors(parse(query.within(1.0, 1.0).expression))]
        except UnsupportedError:
            # it is listed with the answers
            continue
    return list(dict.fromkeys(found))
