# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import NamedQuery, read_files
from ansible_collections.psap.perf.plugins.module_utils.prometheus.querying import (
    Outcome,
    Span,
    await_scrape,
    late_scrape,
    run_queries,
    window_of,
)
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import PrometheusArguments, address_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import CommandAction, VerbContext, VerbResult


@dataclass(frozen=True, slots=True)
class Arguments(PrometheusArguments):
    promquery_file: str
    dest_dir: str
    layers: list[str]
    more_files: list[str]
    namespace: str
    model: str
    duration_s: float
    start_ts: float | None
    end_ts: float | None
    step: Seconds
    timeout: Seconds


class ActionModule(CommandAction):
    """Run queries of Prometheus."""

    def perform(self, context: VerbContext) -> VerbResult:
        """Check the queries, then run them, unless in check mode."""
        args = context.arguments(Arguments)
        queries = self._queries(args)
        span = Span(args.start_ts, args.end_ts, args.duration_s)
        if context.check_mode:
            return VerbResult(skipped=f"check mode: would run {len(queries)} queries")
        folder = _folder(context, args.dest_dir)
        with Prometheus(address_of(context, args)) as prometheus:
            window = window_of(span, prometheus, time.time())
            scraped = bool(span.duration_s) or await_scrape(
                prometheus, window.end_s, args.timeout, context.check_interrupted
            )
            outcome = run_queries(prometheus, queries, window, args.step, folder, context.check_interrupted)
        values = {"folder": str(folder), **_values(outcome)}
        if outcome.failed:
            raise _failure(outcome, len(queries), folder, values)
        late = () if scraped else (late_scrape(args.timeout),)
        return VerbResult(values=values, warnings=(*late, *outcome.warnings))

    def _queries(self, args: Arguments) -> list[NamedQuery]:
        first = args.promquery_file or self._find_needle("files", "metrics.txt")
        layers = [self._find_needle("files", f"{layer}.txt") for layer in dict.fromkeys(args.layers)]
        return read_files(map(Path, (first, *layers, *args.more_files)), args.namespace, args.model)


def _folder(context: VerbContext, named: str) -> Path:
    folder = Path(named).expanduser() if named else context.directory / "artifacts"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot create the folder {folder} for the answers: {error.strerror}") from error
    return folder


def _values(outcome: Outcome) -> dict[str, Any]:
    return {
        "files": list(outcome.files),
        "empty": list(outcome.empty),
        "failed_queries": outcome.failed,
        "window": {"start_s": outcome.window.start_s, "end_s": outcome.window.end_s},
    }


def _failure(outcome: Outcome, asked: int, folder: Path, values: Mapping[str, Any]) -> DataQualityError:
    name, error = next(iter(outcome.failed.items()))
    failure = DataQualityError(
        f"{len(outcome.failed)} of {asked} queries failed, the first is {name!r}: {error}; the answers of the others, "
        f"and all errors in prometheus_queries.yml, are in {folder}"
    )
    failure.result = values
    return failure
