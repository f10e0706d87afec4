"""The coordinator, which starts the processes together and merges their submissions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Follower
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RequestCounts
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import (
    STOPPED,
    Folder,
    SubmitterStatus,
    write_go,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.plan import write_plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionRow,
    SubmissionTools,
    Submitter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import (
    OwnSubmission,
    Submitting,
)
from ansible_collections.psap.perf.plugins.module_utils.starting.barrier import StartBarrier, StartPlan

_TICK_S = 0.05
_READY_WITHIN_S = 60.0
# a process that is being stopped waits for last answers, ten seconds at most
_END_WITHIN_S = 15.0
# the API server may still process the requests of a dead process
_AFTER_DEATH_S = 1.0
_COLUMNS = tuple(field.name for field in fields(SubmissionRow) if field.name != "absence")


class SubmitterHandle(Protocol):
    """A submitting process on any machine."""

    def fate(self) -> str | None:
        """Return how it ended, as a phrase that follows its name; None while it runs."""

    def kill(self) -> None:
        """End it immediately."""


class SubmitterStarter(Protocol):
    """Starts submitting processes."""

    def start(self, folder: Folder, number: int) -> SubmitterHandle:
        """Start a process.

        Raises:
            PerfError: If it cannot be started.
        """


@dataclass(frozen=True, slots=True)
class GatheredSubmission:
    """The submission *own* by several processes that share its connections; *folder* is created for them."""

    own: OwnSubmission
    submitters: int
    folder: Path
    starter: SubmitterStarter

    def workload_in(self, name: str) -> str | None:
        """Return the workload by the submission's names."""
        return self.own.workload_in(name)

    def begin(self, tools: SubmissionTools) -> Submitting:
        """Return the submission; its ``run`` starts the processes."""
        return _Gathering(self, tools)


def shares(connections: int, submitters: int) -> list[int]:
    """Return the number of connections of each submitter, as equal as possible; 0 for each if it is not limited."""
    each, more = divmod(connections, submitters)
    return [each + (number < more) for number in range(submitters)]


class _Member:
    """One process and its known requests."""

    def __init__(self, folder: Folder, number: int, started: SubmitterHandle, share: range) -> None:
        self.number = number
        self.started = started
        self.share = share
        self.ended = False
        self.answered = 0
        # the times of sent requests without a known answer, by index
        self.open: dict[int, float] = {}
        self.own = folder.of(number)
        self._rows = Follower(self.own.submissions)
        self._sending = Follower(self.own.sending)

    def news(self) -> tuple[int, list[dict[str, Any]]]:
        """Return the number of requests sent since the last call, and the new rows."""
        # in this order: each row was announced before
        rows = self._rows.rows()
        sent = self._sending.rows()
        self.open.update((notice["index"], notice["sent_s"]) for notice in sent)
        for row in rows:
            del self.open[row["index"]]
        self.answered += len(rows)
        return len(sent), rows

    def announced(self) -> dict[int, float]:
        """Return the times of all announced requests, by index."""
        return {notice["index"]: notice["sent_s"] for notice in Follower(self.own.sending).rows()}

    def status(self) -> SubmitterStatus | None:
        """Return its last status; None before the first."""
        return SubmitterStatus.read(self.own.done) or SubmitterStatus.read(self.own.progress)


class _Gathering:
    """All processes of one submission."""

    def __init__(self, submission: GatheredSubmission, tools: SubmissionTools) -> None:
        self._submission = submission
        self._tools = tools
        self._folder = Folder(submission.folder)
        self._connections = shares(submission.own.connections, submission.submitters)
        self._members: list[_Member] = []
        self._stopping = False
        self._failures: list[str] = []

    @property
    def requests(self) -> RequestCounts:
        """The sums over all processes, by their last statuses."""
        total = RequestCounts()
        for member in self._members:
            status = member.status()
            total = total.plus(status.requests) if status else total
        return total

    @property
    def failure(self) -> str | None:
        """The processes that died, with the missing submissions; None without any."""
        return "; ".join(self._failures) or None

    def stop(self) -> None:
        """Stop all processes; those that do not end soon are killed."""
        self._stopping = True

    async def run(self) -> None:
        """Start all processes together, and gather their rows until each has ended."""
        own = self._submission.own
        try:
            self._folder.path.mkdir()
            write_plan(self._folder.plan, own, self._connections, self._tools.clock)
            for number in range(self._submission.submitters):
                share = range(number, own.count, self._submission.submitters)
                started = self._submission.starter.start(self._folder, number)
                self._members.append(_Member(self._folder, number, started, share))
            began_s = await self._common_start()
            if began_s is not None:
                write_go(self._folder, began_s)
                await self._gather_all()
        except OSError as error:
            raise PerfError(f"cannot write {error.filename or self._folder.path}: {error.strerror}") from error
        finally:
            self._end()

    async def _common_start(self) -> float | None:
        """Wait until all are ready and return the time of the start; None if the submission is stopped before."""
        plan = StartPlan(len(self._members), _READY_WITHIN_S)
        barrier = StartBarrier(plan, self._tools.clock.now())
        while not self._stopping:
            for number in barrier.missing:
                member = self._members[number]
                if member.own.ready.exists():
                    barrier.report_ready(number)
                elif member.started.fate() is not None:
                    barrier.report_lost(number, _why(member))
            opening = barrier.decide(self._tools.clock.now())
            late = {number: _why(self._members[number]) for number in opening.late} if opening else {}
            if barrier.lost or late:
                raise PerfError(_not_ready({**barrier.lost, **late}))
            if opening:
                return opening.at_s
            await asyncio.sleep(_TICK_S)
        return None

    async def _gather_all(self) -> None:
        deadline = None
        while not all(member.ended for member in self._members):
            await asyncio.sleep(_TICK_S)
            if self._stopping and deadline is None:
                self._folder.stop.touch()
                deadline = self._tools.clock.now() + _END_WITHIN_S
            for member in self._members:
                if not member.ended:
                    await self._gather(member, overdue=deadline is not None and self._tools.clock.now() > deadline)

    async def _gather(self, member: _Member, *, overdue: bool) -> None:
        # its end first, so that all rows before its end are read
        if overdue:
            member.started.kill()
        fate = member.started.fate()
        self._read_rows(member)
        if fate is not None:
            member.ended = True
            await self._conclude(member, "did not stop in time" if overdue else _why(member))

    def _read_rows(self, member: _Member) -> None:
        sent, rows = member.news()
        self._tools.counts.sent += sent
        for row in rows:
            self._tools.counts.add(SubmissionRow(**{name: row[name] for name in _COLUMNS}))
            self._tools.record(row)

    async def _conclude(self, member: _Member, why: str) -> None:
        """Account for the requests of an ended process."""
        own = self._submission.own
        left = dict(member.open)
        if left or not member.own.done.exists():
            await asyncio.sleep(_AFTER_DEATH_S)
            unannounced = self._unannounced(member)
            self._tools.counts.sent += len(unannounced)
            left |= unannounced
        submitter = Submitter(self._tools, own.workloads, own.resources, member.number)
        for index, sent_s in left.items():
            await submitter.adopt(index, sent_s, "its submitter died")
        member.open.clear()
        unsent = len(member.share) - member.answered - len(left)
        if left or (unsent and not self._stopping):
            fates = f"{member.answered} were answered, {len(left)} looked up and {unsent} not submitted"
            self._failures.append(f"submitter {member.number} {why}: of its {len(member.share)} workloads {fates}")

    def _unannounced(self, member: _Member) -> dict[int, float]:
        """Return the workloads that exist although their announcement was lost with the pod, with the last time."""
        announced = member.announced()
        last_s = max(announced.values(), default=self._tools.clock.now())
        workloads, seen = self._submission.own.workloads, self._tools.ledger.workloads
        names = ((index, workloads.at(index).name(index)) for index in member.share if index not in announced)
        return {index: last_s for index, name in names if name in seen}

    def _end(self) -> None:
        """Kill all processes, and write a row for each remaining workload."""
        for member in self._members:
            member.started.kill()
        for member in self._members:
            if member.ended:
                continue
            self._read_rows(member)
            submitter = Submitter(
                self._tools, self._submission.own.workloads, self._submission.own.resources, member.number
            )
            for index, sent_s in member.open.items():
                submitter.give_up(index, sent_s, "stopped before the answer came")


def _not_ready(reasons: Mapping[int, str]) -> str:
    causes = "; ".join(f"submitter {number} {reason}" for number, reason in sorted(reasons.items()))
    return f"nothing was submitted, since not all submitters were ready: {causes}"


def _why(member: _Member) -> str:
    """Return why a process failed, by its own error, else by how it ended."""
    done = SubmitterStatus.read(member.own.done)
    if done and done.error:
        return f"gave up ({done.error})"
    if done and done.ended_by == STOPPED:
        return "was stopped from outside"
    return member.started.fate() or "was not ready in time"
