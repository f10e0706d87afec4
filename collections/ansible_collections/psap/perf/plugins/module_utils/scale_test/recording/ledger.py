"""What became of each workload, kept while the recorder hears of it."""

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
# deleted by us while it ran, for another to take its place
CHURNED = "churned"


@dataclass(slots=True)
class WorkloadState:
    """One workload: how it stands, why, and how many objects bore its name (more than one is suspect)."""

    uid: str
    state: str = RUNNING
    cause: str | None = None
    pod_failure: str | None = None
    objects: int = 1
    # while it runs, what the last warning says, or that a pod runs
    standing: str | None = None
    # whether its object is no longer there
    gone: bool = False
    # while we delete it, what it came to meanwhile waits for the answer: a state and its cause
    claimed: bool = False
    waiting: tuple[str, str | None] | None = None


class Ledger:
    """The workloads seen, by name, with running totals counted as the transitions come."""

    def __init__(self, ends: Mapping[str, str]) -> None:
        """*ends* are the words that end a workload (of any of its kinds), and whether as completed or as failed."""
        self._ends = ends
        self.workloads: dict[str, WorkloadState] = {}
        self.totals: Counter[str] = Counter()
        self.pods: Counter[str] = Counter()

    @property
    def seen(self) -> int:
        """How many workloads were seen."""
        return len(self.workloads)

    @property
    def running(self) -> int:
        """How many of them are not at their end."""
        return self.seen - sum(self.totals[state] for state in (COMPLETED, FAILED, LOST, CHURNED))

    def workload_reached(self, transition: Transition) -> None:
        """A workload object reached something."""
        known = self.workloads.get(transition.name)
        if known is None:
            known = self.workloads[transition.name] = WorkloadState(transition.uid)
        elif known.uid != transition.uid:
            self._replaced(known, transition.uid)
        known.gone = transition.transition == DELETED
        end = self._ends.get(transition.transition)
        if end is not None and known.state == RUNNING:
            self._end(known, end, transition.reason)
        elif transition.transition == DELETED and known.state == RUNNING:
            self._end(known, LOST, "deleted before its end")

    def claim(self, name: str) -> None:
        """We are about to delete this workload; if it runs now, it is churned when that succeeds."""
        known = self.workloads[name]
        known.claimed = known.state == RUNNING

    def settle(self, name: str, *, deleted: bool) -> None:
        """Whether we deleted it; if not, what it came to meanwhile holds."""
        known = self.workloads[name]
        if not known.claimed:
            return
        known.claimed = False
        if deleted:
            self._end(known, CHURNED, None)
        elif known.waiting is not None:
            self._end(known, *known.waiting)

    def pod_reached(self, transition: Transition) -> None:
        """A pod reached something; the first that failed tells its workload why, one that was disrupted only when no
        other did."""
        self.pods[transition.transition] += 1
        known = self.workloads.get(transition.workload or "")
        if known is not None and transition.transition == RUNNING:
            known.standing = RUNNING
        if known is None or transition.transition != FAILED:
            return
        if known.pod_failure is None or known.pod_failure in DISRUPTIONS:
            known.pod_failure = transition.reason

    def warned(self, workload: str, hindrance: str) -> None:
        """A warning says what keeps a workload, or a pod of it, from running."""
        known = self.workloads.get(workload)
        if known is not None:
            known.standing = hindrance

    def _replaced(self, known: WorkloadState, uid: str) -> None:
        """Another object took the name: what became of the first stays counted, unless it was alive."""
        known.objects += 1
        known.uid = uid
        if known.state == RUNNING:
            self._end(known, LOST, "replaced by another object of its name")

    def _end(self, known: WorkloadState, state: str, cause: str | None) -> None:
        if known.claimed:
            known.waiting = known.waiting or (state, cause)
            return
        known.state = state
        known.cause = cause
        self.totals[state] += 1
