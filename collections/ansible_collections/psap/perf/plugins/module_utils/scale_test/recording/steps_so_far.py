"""Durations of workloads during the test, for its progress; the analysis computes all of them.

The steps are the analysis' totals: from the request to all pods scheduled, all pods running, the workload completed.
For a workload of another submitter, they start when its creation is seen, and the number of its pods is unknown.
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
    """One workload: its request's time, its pods, and by step the number of objects that reached it, and when."""

    __slots__ = ("last_s", "pods", "reached", "sent_s")

    def __init__(self) -> None:
        self.sent_s: float | None = None
        self.pods = 0
        self.reached: dict[str, int] = {}
        self.last_s: dict[str, float] = {}


class StepsSoFar:
    """Sorted durations of each step, updated by each transition."""

    def __init__(self, ends: Mapping[str, str], *, own: bool) -> None:
        """Store the words that end a workload, each with the end, and whether the test submits the workloads."""
        self._ends = ends
        self._own = own
        self._workloads: dict[str, _Workload] = {}
        self._times: dict[str, list[float]] = {step: [] for step in STEPS}

    def submitted(self, row: Mapping[str, Any]) -> None:
        """Record a row of ``submissions.jsonl``, possibly after all transitions of the workload."""
        workload = self._of(str(row["name"]))
        workload.sent_s, workload.pods = row["sent_s"], int(row["pods"])
        for step in list(workload.reached):
            self._complete(workload, step, 1 if step == _OF_WORKLOAD else workload.pods)

    def workload_reached(self, transition: Transition) -> None:
        """Record a transition of a workload object."""
        workload = self._of(transition.name)
        if transition.transition == "created" and not self._own:
            workload.sent_s = transition.seen_s
        elif self._ends.get(transition.transition) == COMPLETED:
            self._reached(workload, _OF_WORKLOAD, transition.seen_s, 1)

    def pod_reached(self, transition: Transition) -> None:
        """Record a transition of a pod, each of which occurs once."""
        step = _OF_PODS.get(transition.transition)
        if step is not None and transition.workload is not None:
            workload = self._of(transition.workload)
            self._reached(workload, step, transition.seen_s, workload.pods)

    def document(self) -> dict[str, dict[str, float | int | None]]:
        """Return percentiles by step; None if the sample is too small."""
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
        """Store the duration when the needed number of objects has reached the step; replacing pods add nothing."""
        if workload.sent_s is not None and workload.reached[step] == needed:
            insort(self._times[step], workload.last_s[step] - workload.sent_s)


def _percentiles(times: list[float]) -> dict[str, float | int | None]:
    return {"count": len(times), **{name: _percentile(times, share) for name, share in _SHARES.items()}}


def _percentile(ordered: list[float], share: float) -> float | None:
    """Return a percentile by linear interpolation; None if fewer than one value is expected beyond it.

    The analysis has the same rules.
    """
    if len(ordered) < math.ceil(round(1 / (1 - share), 9)):
        return None
    whole = math.floor(share * (len(ordered) - 1))
    part = share * (len(ordered) - 1) - whole
    above = ordered[min(whole + 1, len(ordered) - 1)]
    return round(ordered[whole] + part * (above - ordered[whole]), 6)
