"""The states of workloads, updated by the recorder's transitions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import (
    COMPLETED,
    DELETED,
    DISRUPTIONS,
    FAILED,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Transition

RUNNING = "running"
LOST = "lost"
# deleted by the test while it ran, and replaced by another workload
CHURNED = "churned"


@dataclass(slots=True)
class WorkloadState:
    """The state of one workload, its cause, and the number of objects with its name (more than one is suspect)."""

    uid: str
    state: str = RUNNING
    cause: str | None = None
    pod_failure: str | None = None
    objects: int = 1
    # while it runs, the reason of the last warning, or that a pod runs
    reason: str | None = None
    # whether its object no longer exists
    gone: bool = False
    # during its deletion: the state that it reached, and the cause, which count if the deletion fails
    claimed: bool = False
    waiting: tuple[str, str | None] | None = None


class Ledger:
    """The observed workloads by name, with totals that are updated by each transition."""

    def __init__(self, ends: Mapping[str, str]) -> None:
        """Store the words that end a workload (of any of its kinds), each with the end, completed or failed."""
        self._ends = ends
        self.workloads: dict[str, WorkloadState] = {}
        self.totals: Counter[str] = Counter()
        self.pods: Counter[str] = Counter()

    @property
    def seen(self) -> int:
        """The number of observed workloads."""
        return len(self.workloads)

    @property
    def running(self) -> int:
        """The number of observed workloads that have not ended."""
        return self.seen - sum(self.totals[state] for state in (COMPLETED, FAILED, LOST, CHURNED))

    def workload_reached(self, transition: Transition) -> None:
        """Record a transition of a workload object."""
        entry = self.workloads.get(transition.name)
        if entry is None:
            entry = self.workloads[transition.name] = WorkloadState(transition.uid)
        elif entry.uid != transition.uid:
            self._replaced(entry, transition.uid)
        entry.gone = transition.transition == DELETED
        end = self._ends.get(transition.transition)
        if end is not None and entry.state == RUNNING:
            self._end(entry, end, transition.reason)
        elif transition.transition == DELETED and entry.state == RUNNING:
            self._end(entry, LOST, "deleted before its end")

    def claim(self, name: str) -> None:
        """Record that the test deletes this workload; if it runs now, it counts as churned after that."""
        entry = self.workloads[name]
        entry.claimed = entry.state == RUNNING

    def settle(self, name: str, *, deleted: bool) -> None:
        """Record whether the deletion succeeded; if not, the state that the workload reached meanwhile counts."""
        entry = self.workloads[name]
        if not entry.claimed:
            return
        entry.claimed = False
        if deleted:
            self._end(entry, CHURNED, None)
        elif entry.waiting is not None:
            self._end(entry, *entry.waiting)

    def pod_reached(self, transition: Transition) -> None:
        """Record a transition of a pod; the first failure is the workload's cause, preferably not a disruption."""
        self.pods[transition.transition] += 1
        entry = self.workloads.get(transition.workload or "")
        if entry is not None and transition.transition == RUNNING:
            entry.reason = RUNNING
        if entry is None or transition.transition != FAILED:
            return
        if entry.pod_failure is None or entry.pod_failure in DISRUPTIONS:
            entry.pod_failure = transition.reason

    def warned(self, workload: str, hindrance: str) -> None:
        """Record the reason of a warning about a workload or its pod."""
        entry = self.workloads.get(workload)
        if entry is not None:
            entry.reason = hindrance

    def _replaced(self, entry: WorkloadState, uid: str) -> None:
        """Record that another object has the name; if the first one was running, it counts as lost."""
        entry.objects += 1
        entry.uid = uid
        if entry.state == RUNNING:
            self._end(entry, LOST, "replaced by another object of its name")

    def _end(self, entry: WorkloadState, state: str, cause: str | None) -> None:
        if entry.claimed:
            entry.waiting = entry.waiting or (state, cause)
            return
        entry.state = state
        entry.cause = cause
        self.totals[state] += 1
