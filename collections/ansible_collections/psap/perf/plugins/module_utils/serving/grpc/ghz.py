"""Validate the results of the program ghz, which calls a server over gRPC."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError

OUTPUT = "ghz.json"
WARM_UP = "warm_up.json"
"""The file of results that are not a measurement; the analysis ignores it."""
IN_POD = f"/results/{OUTPUT}"
"""The path of the results in the Job's template."""


def count_requests(path: Path, complete: bool) -> tuple[int, int]:
    """Return the number of calls in the results, and how many of them failed.

    Args:
        complete: Whether each call must have succeeded.

    Raises:
        DataQualityError: If there are no results, all calls failed, or *complete* is set and some failed.
    """
    try:
        document = json.loads(path.read_bytes())
        calls, answered = int(document["count"]), int((document["statusCodeDistribution"] or {}).get("OK", 0))
        errors = document.get("errorDistribution") or {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataQualityError(f"{path.name} is not a result of ghz, or is cut off: {error!r}") from error
    if not calls:
        raise DataQualityError("no call ended within the load")
    failed = calls - answered
    if failed and (complete or not answered):
        why = max(errors, key=errors.__getitem__, default="the results have no reason")
        raise DataQualityError(f"{failed} of {calls} calls failed; most of them: {why}")
    return calls, failed
