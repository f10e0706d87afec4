"""Run the queries of a file over a window; write a file with Prometheus' response for each, and a list of them."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_text, write_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.answers import Answer
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus, RefusedError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.promql import UnsupportedError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import NamedQuery
from ansible_collections.psap.perf.plugins.module_utils.prometheus.windows import Window, step_for

# no answer has this ending
FILE = "prometheus_queries.yml"
SCHEMA = "psap.perf/prometheus-queries/1"
_BETWEEN_LOOKS_S = 0.5
_SCRAPES_IN_RANGE = 4
_INTERVALS_SEEN_S = 120
_SHORTEST_RANGE_S, _LONGEST_RANGE_S = 8.0, 300.0


@dataclass(frozen=True, slots=True)
class Span:
    """The window that the user passes: its ends, either of which may be missing, or its length up to the newest scrape.

    All values are in seconds, times since the epoch.
    """

    start_s: float | None = None
    end_s: float | None = None
    duration_s: float = 0.0

    def __post_init__(self) -> None:
        """Raise UsageError unless exactly one of both is given."""
        if self.duration_s < 0:
            raise UsageError(f"duration_s is {self.duration_s:g}; it cannot be negative")
        if self.duration_s and (self.start_s is not None or self.end_s is not None):
            raise UsageError("duration_s excludes start_ts and end_ts; pass a length, or the ends of the window")
        if not self.duration_s and self.start_s is None:
            raise UsageError("the window is missing; pass duration_s, or start_ts and, unless it is now, end_ts")


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of the queries: the errors of failed ones by name, and the names of those without any series."""

    window: Window
    samples: int
    files: tuple[str, ...]
    failed: dict[str, str]
    empty: tuple[str, ...]
    warnings: tuple[str, ...]


def window_of(span: Span, prometheus: Prometheus, now_s: float) -> Window:
    """Return the window; if only its length is given, it ends at the newest scrape.

    Raises:
        ClusterError: If nothing has been scraped.
    """
    if span.duration_s:
        newest = prometheus.query("max(timestamp(up))").series
        if not newest:
            raise ClusterError(
                f"Prometheus at {prometheus.address.url} has scraped nothing in the last five minutes, so duration_s "
                "has no end; pass start_ts and end_ts"
            )
        end_s = newest[0].numbers[0]
        return Window(end_s - span.duration_s, end_s)
    return Window(span.start_s or 0.0, now_s if span.end_s is None else span.end_s)


def targets_of(prometheus: Prometheus) -> int:
    """Return the number of targets that were scraped in the last minutes."""
    counted = prometheus.query("count(up)").series
    return int(counted[0].numbers[0]) if counted else 0


def await_scrape(
    prometheus: Prometheus, since_s: float, timeout_s: float, check: Callable[[], None], targets: int = 1
) -> bool:
    """Wait until all targets, at least *targets*, were scraped after *since_s*; return False if *timeout_s* ends first.

    Args:
        check: Raises if the user asked to stop.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        check()
        oldest = prometheus.query("min(timestamp(up))").series
        if oldest and oldest[0].numbers[0] > since_s and targets_of(prometheus) >= targets:
            return True
        if time.monotonic() >= deadline:
            return False
        time.sleep(_BETWEEN_LOOKS_S)


def rate_range_s(prometheus: Prometheus) -> float:
    """Return the range of rates: four scrapes of the target that is scraped the least often, in seconds."""
    counted = prometheus.query(f"min(count_over_time(up[{_INTERVALS_SEEN_S}s]))").series
    scrapes = max(counted[0].numbers[0], 1.0) if counted else 1.0
    return min(max(_SCRAPES_IN_RANGE * _INTERVALS_SEEN_S / scrapes, _SHORTEST_RANGE_S), _LONGEST_RANGE_S)


def run_queries(
    prometheus: Prometheus,
    queries: Sequence[NamedQuery],
    window: Window,
    step_s: float,
    folder: Path,
    check: Callable[[], None],
) -> Outcome:
    """Run all *queries*, even if Prometheus refuses some.

    Args:
        step_s: Step of computed queries; 0 for `step_for`. A bare name returns its samples at their own times.

    Raises:
        ClusterError: If Prometheus cannot be reached any more.
    """
    step = step_s or step_for(window)
    range_s = rate_range_s(prometheus) if any(query.needs_range for query in queries) else 0.0
    filled = [query.within(window.length_s, range_s) for query in queries]
    asked = {query.name: query.of_whole_window for query in queries}

    def ask(query: NamedQuery) -> Answer:
        check()
        if asked[query.name]:
            return prometheus.query(query.expression, window.end_s)
        if query.bare:
            return prometheus.raw(query.expression, window)
        return prometheus.query_range(query.expression, window, step)

    return write_answers(folder, filled, Origin(prometheus.address.url, prometheus.address.origin), window, step, ask)


@dataclass(frozen=True, slots=True)
class Origin:
    """Where answers come from: the URL of a Prometheus, empty for none, and how it was found."""

    url: str
    text: str


def write_answers(
    folder: Path,
    queries: Sequence[NamedQuery],
    origin: Origin,
    window: Window,
    step_s: float,
    ask: Callable[[NamedQuery], Answer],
) -> Outcome:
    """Write the answers of *ask* to filled *queries*, and the list of them; a refused query does not affect others."""
    entries, warnings = [], dict[str, None]()
    failed: dict[str, str] = {}
    for query in queries:
        entry = query_document(query)
        try:
            answer = ask(query)
        except (RefusedError, UnsupportedError) as error:
            failed[query.name] = str(error)
            entries.append({**entry, "file": None, "series": None, "samples": None, "error": str(error)})
            continue
        write_text(folder / query.file, json.dumps(answer.document(), separators=(",", ":")) + "\n")
        warnings.update(dict.fromkeys(answer.warnings))
        counts = {"series": len(answer.series), "samples": answer.samples}
        entries.append({**entry, "file": query.file, **counts, "error": None})
    write_yaml(folder / FILE, _document(origin, window, step_s, entries, list(warnings)))
    return Outcome(
        window=window,
        samples=sum(entry["samples"] or 0 for entry in entries),
        files=tuple(entry["file"] for entry in entries if entry["file"]),
        failed=failed,
        empty=tuple(entry["name"] for entry in entries if entry["series"] == 0),
        warnings=tuple(warnings),
    )


def query_document(query: NamedQuery) -> dict[str, Any]:
    """Return what the list of answers states about *query*."""
    document: dict[str, Any] = {"name": query.name, "query": query.expression}
    if query.statistics:
        document |= {"statistics": list(query.statistics), "direction": query.direction}
    return document


def _document(
    origin: Origin, window: Window, step_s: float, queries: list[dict[str, Any]], warnings: list[str]
) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "url": origin.url,
        "origin": origin.text,
        "start_s": window.start_s,
        "end_s": window.end_s,
        "step_s": step_s,
        "queries": queries,
        "warnings": warnings,
    }


def late_scrape(timeout_s: float) -> str:
    """Return the warning for a timeout of `await_scrape`."""
    return f"not every target of Prometheus was scraped again within {timeout_s:g} s: the last samples may be missing"
