"""What keeps a workload from running, from the warnings about it and its pods, in words by which it is counted."""

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
    """What the row of an event says, without what differs from workload to workload; None when it is no warning."""
    if event["type"] != "Warning":
        return None
    said = str(event["message"] or "")
    unscheduled, queued = _UNSCHEDULED.search(said), _QUEUED.search(said)
    if unscheduled:
        return _COUNT.sub("", unscheduled[1])
    return queued[0] if queued else named_cause(said) or str(event["reason"] or "unknown")
