"""Churn: each round replaces a share of the workloads by new ones.

A round is determined by its number: it sends the next indices, each of which replaces the oldest existing workload (of
the lowest index), so that two runs with the same settings are the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RequestCounts
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import concurrency_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.deletions import Deleter
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.pacing import reached
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionRow,
    SubmissionTools,
    Submitter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import (
    OwnSubmission,
    SubmissionToBegin,
    Submitting,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import Immediate


@dataclass(frozen=True, slots=True)
class ChurnPlan:
    """The share to replace (0 for no churn), the period, and the number of rounds."""

    percent: float = 0.0
    period_s: float = 10.0
    rounds: int = 1

    def __post_init__(self) -> None:
        """Raise UsageError if a number is out of its range."""
        if not 0 <= self.percent <= 100:
            raise UsageError(f"churn percent is {self.percent:g}; it must be from 0 to 100")
        if self.percent and self.rounds < 1:
            raise UsageError(f"churn rounds is {self.rounds}; it must be at least 1")

    def share(self, count: int) -> int:
        """Return how many of *count* workloads a round replaces: rounded, at least one."""
        return max(1, round(count * self.percent / 100)) if self.percent else 0

    def total(self, count: int) -> int:
        """Return the total number of workloads, *count* of them before the first round."""
        return count + self.rounds * self.share(count)

    def document(self) -> dict[str, Any]:
        """Return its values in ``recording.json``."""
        return {"churn": {"percent": self.percent, "period_s": self.period_s, "rounds": self.rounds}}


@dataclass(frozen=True, slots=True)
class ChurnedSubmission:
    """A *first* submission, by one process or several, then rounds of churn by this one.

    *path* is the file of the deletions.
    """

    first: SubmissionToBegin
    own: OwnSubmission
    plan: ChurnPlan
    path: Path

    def workload_in(self, name: str) -> str | None:
        """Return the workload by the submission's names."""
        return self.own.workload_in(name)

    def begin(self, tools: SubmissionTools) -> Submitting:
        """Return the first submission and its rounds."""
        return _Churning(self, tools)


class _Churning:
    def __init__(self, submission: ChurnedSubmission, tools: SubmissionTools) -> None:
        self._submission = submission
        self._tools = tools
        self._first = submission.first.begin(tools)
        self._deleter = Deleter(
            tools, submission.own.workloads, submission.own.resources, tools.rows_in(submission.path)
        )
        self._round: Submitter | None = None
        self._stopping = asyncio.Event()

    @property
    def requests(self) -> RequestCounts:
        return self._first.requests

    @property
    def failure(self) -> str | None:
        return self._first.failure

    def stop(self) -> None:
        self._stopping.set()
        self._first.stop()
        if self._round is not None:
            self._round.stop()

    async def run(self) -> None:
        """Submit the first workloads, then run a round each period, from the last answer to a first workload on.

        A round that lasts longer than the period delays the next ones. If the first submission is incomplete, there are
        no rounds.
        """
        await self._first.run()
        began, plan = self._tools.clock.now(), self._submission.plan
        for number in range(1, plan.rounds + 1):
            if self.failure is not None or not await reached(
                self._tools.clock, began + number * plan.period_s, self._stopping
            ):
                return
            await self._replace(number)

    async def _replace(self, number: int) -> None:
        own = self._submission.own
        share = self._submission.plan.share(own.count)
        beginning = own.count + (number - 1) * share
        indices = range(beginning, beginning + share)
        replaced = dict(zip(indices, self._oldest(), strict=False))
        turn = _Round(number, replaced, self._deleter)
        self._round = Submitter(self._tools, own.workloads, own.resources, turn=turn)
        await self._round.submit(indices, concurrency=concurrency_of(own.connections), arrivals=Immediate())

    def _oldest(self) -> Iterator[SubmissionRow]:
        """Return the existing workloads, the lowest index first."""
        workloads, deleted = self._tools.ledger.workloads, self._deleter.gone
        outcomes = sorted(self._tools.counts.outcomes.values(), key=lambda submitted: submitted.index)
        there = (one for one in outcomes if one.name in workloads and one.name not in deleted)
        return (one for one in there if not workloads[one.name].gone)


@dataclass(frozen=True, slots=True)
class _Round:
    """One round; *replaced* has the workloads to delete by the index of the new ones."""

    number: int
    replaced: dict[int, SubmissionRow]
    deleter: Deleter

    def replaces(self, index: int) -> int | None:
        """Return the index of the workload that this one replaces; None without one."""
        former = self.replaced.get(index)
        return former.index if former else None

    async def make_room(self, index: int) -> None:
        """Delete that workload."""
        former = self.replaced.get(index)
        if former is not None:
            await self.deleter.delete(former, self.number)
