"""How long workloads took so far, for whoever looks while the test runs; the analysis has the whole of it.

The steps are the analysis' totals: from the request to all pods scheduled, all pods running, the workload completed. A
workload that others submitted begins when it was seen to be created, and how many pods it awaits is unknown.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Mapping
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import COMPLETED
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Transition

_OF_PODS = {"scheduled": "time_to_scheduled", "running": "time_to_running"}
_OF_WORKLOAD = "time_to_completed"
STEPS = (*_OF_PODS.values(), _OF_WORKLOAD)
_SHARES = {"p50_s": 0.50, "p90_s": 0.90, "p99_s": 0.99}


class _Workload:
    """One workload: when it was sent, its pods, and per step how many objects reached it, the last one when."""

    __slots__ = ("last_s", "pods", "reached", "sent_s")

    def __init__(self) -> None:
        self.sent_s: float | None = None
        self.pods = 0
        self.reached: dict[str, int] = {}
        self.last_s: dict[str, float] = {}


class StepsSoFar:
    """Sorted times of each step, kept up as the transitions come."""

    def __init__(self, ends: Mapping[str, str], *, own: bool) -> None:
        """*ends* are the words that end a workload, and how; *own* workloads are told when they are submitted."""
        self._ends = ends
        self._own = own
        self._workloads: dict[str, _Workload] = {}
        self._times: dict[str, list[float]] = {step: [] for step in STEPS}

    def submitted(self, row: Mapping[str, Any]) -> None:
        """A row of ``submissions.jsonl``: watches may have shown all of the workload before its answer came."""
        workload = self._of(str(row["name"]))
        workload.sent_s, workload.pods = row["sent_s"], int(row["pods"])
        for step in list(workload.reached):
            self._complete(workload, step, 1 if step == _OF_WORKLOAD else workload.pods)

    def workload_reached(self, transition: Transition) -> None:
        """A workload object reached something."""
        workload = self._of(transition.name)
        if transition.transition == "created" and not self._own:
            workload.sent_s = transition.seen_s
        elif self._ends.get(transition.transition) == COMPLETED:
            self._reached(workload, _OF_WORKLOAD, transition.seen_s, 1)

    def pod_reached(self, transition: Transition) -> None:
        """A pod reached something, which it does once."""
        step = _OF_PODS.get(transition.transition)
        if step is not None and transition.workload is not None:
            workload = self._of(transition.workload)
            self._reached(workload, step, transition.seen_s, workload.pods)

    def document(self) -> dict[str, dict[str, float | int | None]]:
        """Percentiles by step; None where the sample is too small to have one."""
        steps = STEPS if self._own else (_OF_WORKLOAD,)
        return {step: _percentiles(self._times[step]) for step in steps}

    def _of(self, name: str) -> _Workload:
        workload = self._workloads.get(name)
        if workload is None:
            workload = self._workloads[name] = _Workload()
        return workload

    def _reached(self, workload: _Workload, step: str, seen_s: float, needed: int) -> None:
        workload.reached[step] = workload.reached.get(step, 0) + 1
        workload.last_s[step] = seen_s
        self._complete(workload, step, needed)

    def _complete(self, workload: _Workload, step: str, needed: int) -> None:
        """The step is done when as many objects as it needs have reached it; a pod that replaces one adds nothing."""
        if workload.sent_s is not None and workload.reached[step] == needed:
            insort(self._times[step], workload.last_s[step] - workload.sent_s)


def _percentiles(times: list[float]) -> dict[str, float | int | None]:
    return {"count": len(times), **{name: _percentile(times, share) for name, share in _SHARES.items()}}


def _percentile(ordered: list[float], share: float) -> float | None:
    """By linear interpolation, as the analysis does, and refused as it does: one value must be expected beyond it."""
    if len(ordered) < math.ceil(round(1 / (1 - share), 9)):
        return None
    whole = math.floor(share * (len(ordered) - 1))
    part = share * (len(ordered) - 1) - whole
    above = ordered[min(whole + 1, len(ordered) - 1)]
    return round(ordered[whole] + part * (above - ordered[whole]), 6)
