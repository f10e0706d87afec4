"""Wait until the Workflows of runs have ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import PipelineRun
from ansible_collections.psap.perf.plugins.module_utils.pipelines.runs import all_ended, by_run_name, progress
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source, observe

# longer than a restart of an API server
_PATIENCE_S = 30.0

Runs = Sequence[PipelineRun]


def wait_for_runs(
    source: Source,
    query: Query,
    names: Sequence[str],
    evaluate: Callable[[Mapping[str, Manifest]], Runs],
    timeout_s: float,
    check: Callable[[], None],
) -> None:
    """Wait until all runs have ended, and raise no error if some have failed.

    Args:
        query: The Workflows of the namespace.
        names: Names of the runs.
        evaluate: Returns the state of the runs from their Workflows by the run's name; called after each change.
        check: Raises if the user interrupts the run.

    Raises:
        WaitTimeoutError: If the time is over; the message names the runs that have not ended.
        ClusterError: If the cluster does not answer for a while.
    """
    deadline = time.monotonic() + timeout_s
    answered = time.monotonic()
    for seen in observe(source, query, lambda: False):
        check()
        now = time.monotonic()
        if isinstance(seen, ClusterError):
            if now - answered > min(_PATIENCE_S, timeout_s):
                raise seen
            continue
        if seen is None:
            continue
        answered = now
        runs = evaluate(by_run_name(seen.values(), names))
        if all_ended(runs):
            return
        if now >= deadline:
            raise WaitTimeoutError(f"the runs have not ended within {timeout_s:g} s: {progress(runs)}")
