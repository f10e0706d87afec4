"""The start barrier, without a clock and a connection: the caller passes what it observes, and the time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

# all participants read the time of the start before it is reached
LEAD_S = 0.3


@dataclass(frozen=True, slots=True)
class StartPlan:
    """How participants start.

    Attributes:
        participants: Their number; indices begin at 0.
        ready_within_s: How long to wait for participants that are not ready.
        lead_s: Time between the decision and the start.
        batch_size: Number of participants that start at the same instant.
        batch_delay_s: Time between two batches.
    """

    participants: int
    ready_within_s: float
    lead_s: float = LEAD_S
    batch_size: int = 1
    batch_delay_s: float = 0.0

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.participants < 1 or self.batch_size < 1:
            raise UsageError(f"{self.participants} participants in batches of {self.batch_size}: both begin at 1")

    def offset_s(self, index: int) -> float:
        """Return the time from the start until participant *index* begins."""
        return index // self.batch_size * self.batch_delay_s


@dataclass(frozen=True, slots=True)
class Opening:
    """The decision to start.

    Attributes:
        at_s: The instant of the first batch.
        ready: The participants that are ready.
        lost: The reason for each lost participant.
        late: Participants that are neither ready nor lost; they begin when they are ready.
    """

    at_s: float
    ready: tuple[int, ...]
    lost: Mapping[int, str]
    late: tuple[int, ...]


class StartBarrier:
    """Collects reports until all participants have reported or the time limit is reached."""

    def __init__(self, plan: StartPlan, began_s: float) -> None:
        """Begin to wait at *began_s*, in seconds of the caller's clock."""
        self._plan = plan
        self._deadline_s = began_s + plan.ready_within_s
        self._ready: set[int] = set()
        self._lost: dict[int, str] = {}

    @property
    def lost(self) -> Mapping[int, str]:
        """The reason for each participant that was lost before it was ready."""
        return self._lost

    @property
    def missing(self) -> tuple[int, ...]:
        """The participants that have not reported."""
        return tuple(
            index for index in range(self._plan.participants) if index not in self._ready and index not in self._lost
        )

    def report_ready(self, index: int) -> None:
        """Record that a participant is ready, also if it was considered lost."""
        self._lost.pop(index, None)
        self._ready.add(index)

    def report_lost(self, index: int, reason: str) -> None:
        """Record that a participant will not become ready; one that was ready stays in its place.

        The reason is a phrase that follows the participant's name, such as ``was evicted``.
        """
        if index not in self._ready:
            self._lost.setdefault(index, reason)

    def decide(self, now_s: float) -> Opening | None:
        """Return the start once all have reported or the time limit is reached; None before.

        Without any ready participant, ``ready`` is empty: the caller decides what to do.
        """
        missing = self.missing
        if missing and now_s < self._deadline_s:
            return None
        return Opening(now_s + self._plan.lead_s, tuple(sorted(self._ready)), dict(self._lost), missing)
