"""Extract short, countable reasons why a workload does not run from the warnings about it and its pods."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.refusals import named_cause

# the scheduler's "0/4 nodes are available: 4 Insufficient nvidia.com/gpu. preemption: ..."
_UNSCHEDULED = re.compile(r"nodes are available: (.*?)\.(?:\s|$)", re.DOTALL)
_COUNT = re.compile(r"(?:^|(?<=, ))\d+ ")
# Kueue's "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu in flavor default, ..."
_QUEUED = re.compile(r"insufficient (?:unused )?quota for \S+")


def hindrance(event: Mapping[str, Any]) -> str | None:
    """Return the reason in the row of a warning, without parts that differ by workload; None for other events."""
    if event["type"] != "Warning":
        return None
    message = str(event["message"] or "")
    unscheduled, queued = _UNSCHEDULED.search(message), _QUEUED.search(message)
    if unscheduled:
        return _COUNT.sub("", unscheduled[1])
    return queued[0] if queued else named_cause(message) or str(event["reason"] or "unknown")
