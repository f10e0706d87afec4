"""The problems of an AWX workflow: each job of a flow passes on the result of the verb ``psap.perf.result``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, PREPARE, TEST

_NO_RESULT = "no result: AWX cancelled the job, or it reached its time limit, or it could not start"


def problems(results: Mapping[str, Mapping[str, Any] | None]) -> list[str]:
    """Return a sentence for each step that failed, in the order of time: the first one is the cause.

    Args:
        results: The result of each step that passed one on.
    """
    found: list[str] = []
    for step in (PREPARE, TEST, CLEANUP):
        result = results.get(step)
        if result is not None and result["verdict"] == "ok":
            continue
        if result is not None:
            found.append(f"{step} (run {result['run']}) {result['verdict']}: {result['reason']}")
        elif step == TEST and found:
            # this step runs only after a successful prepare
            found.append(f"{step} did not run")
        else:
            found.append(f"{step} has {_NO_RESULT}")
    return found
