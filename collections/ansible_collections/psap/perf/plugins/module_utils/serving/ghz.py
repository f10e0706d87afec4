"""Results of the program ghz, which calls a server by gRPC: whether they are any."""

from __future__ import annotations

import json
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError

OUTPUT = "ghz.json"
WARM_UP = "warm_up.json"
"""The name of results that are no measurement, by which the analysis does not find them."""
IN_POD = f"/results/{OUTPUT}"
"""Where the Job's template has them."""


def counted(path: Path, complete: bool) -> tuple[int, int]:
    """How many calls its results count, and how many of them failed.

    :param complete: whether each call must have been answered.
    :raises DataQualityError: when there are no results, nothing but failures, or failures that must not be.
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
        why = max(errors, key=errors.__getitem__, default="it says nothing of why")
        raise DataQualityError(f"{failed} of {calls} calls failed; most of them: {why}")
    return calls, failed
