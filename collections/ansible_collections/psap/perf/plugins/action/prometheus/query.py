# Copyright: the psap.perf developers
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import seconds
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Prometheus
from ansible_collections.psap.perf.plugins.module_utils.prometheus.query_file import read_queries
from ansible_collections.psap.perf.plugins.module_utils.prometheus.querying import (
    Outcome,
    Span,
    await_scrape,
    late_scrape,
    run_queries,
    window_of,
)
from ansible_collections.psap.perf.plugins.modules.prometheus.query import DOCUMENTATION
from ansible_collections.psap.perf.plugins.plugin_utils.prometheus import address_of
from ansible_collections.psap.perf.plugins.plugin_utils.verb import PerfAction, VerbContext, VerbResult
from ansible_collections.psap.perf.plugins.plugin_utils.verb_documentation import argument_spec


class ActionModule(PerfAction):
    """Ask Prometheus."""

    ARGUMENTS = argument_spec(DOCUMENTATION)

    def perform(self, context: VerbContext) -> VerbResult:
        """Refuse what cannot be asked; then ask, unless in check mode."""
        args = context.args
        queries = read_queries(Path(args["file"]), args["namespace"])
        span = Span(args["start_ts"], args["end_ts"], args["duration_s"])
        step_s, timeout_s = seconds(args["step"]), seconds(args["timeout"])
        if context.check_mode:
            return VerbResult(skipped=f"check mode: would ask Prometheus the {len(queries)} queries of {args['file']}")
        folder = _folder(context)
        with Prometheus(address_of(context)) as prometheus:
            window = window_of(span, prometheus, time.time())
            scraped = bool(span.duration_s) or await_scrape(
                prometheus, window.end_s, timeout_s, context.check_interrupted
            )
            outcome = run_queries(prometheus, queries, window, step_s, folder, context.check_interrupted)
        values = {"folder": str(folder), **_told(outcome)}
        if outcome.failed:
            raise _failure(outcome, len(queries), folder, values)
        late = () if scraped else (late_scrape(timeout_s),)
        return VerbResult(values=values, warnings=(*late, *outcome.warnings))


def _folder(context: VerbContext) -> Path:
    given = context.args["folder"]
    folder = Path(given).expanduser() if given else context.directory / "artifacts"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"the folder {folder} for the answers cannot be made: {error.strerror}") from error
    return folder


def _told(outcome: Outcome) -> dict[str, Any]:
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
