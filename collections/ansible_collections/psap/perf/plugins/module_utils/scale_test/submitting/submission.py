"""The submitter: sends workloads concurrently by a shape of arrival, and writes a row for each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import (
    Answer,
    ApiClient,
    UnansweredError,
    unfinished,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.unsettled import UnsettledRights
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.ledger import Ledger
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import Concurrency
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.pacing import Pace
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import Arrivals
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import Workloads

CREATED = "created"
EXISTED = "existed"
REFUSED = "failed"

_NOT_FOUND = 404
_CONFLICT = 409

# the words of errors for objects that are created before a workload
_COMPANIONS = MappingProxyType({"PodGroup": "pod group", "ResourceClaim": "claim"})


class _CompanionUnansweredError(UnansweredError):
    """It is unknown whether an object that the workload needs exists; the workload was not sent."""

    def __init__(self, kind: str, error: UnansweredError) -> None:
        super().__init__(str(error), error.attempts)
        self.absence = f"not created: the request for its {_COMPANIONS[kind]} was never answered"


@dataclass(frozen=True, slots=True)
class SubmissionRow:
    """One row of ``submissions.jsonl``; ``status`` is None without an answer."""

    index: int
    name: str
    sent_s: float
    answered_s: float
    status: int | None
    outcome: str
    attempts: int
    uid: str | None = None
    error: str | None = None
    # why it does not exist, if that is known without an answer
    absence: str | None = None

    @property
    def unanswered(self) -> bool:
        """Whether it is unknown if the workload exists."""
        return self.status is None and self.uid is None and self.absence is None


@dataclass(slots=True)
class SubmissionCounts:
    """The progress of the submission; *refused* workloads are known not to exist."""

    sent: int = 0
    answered: int = 0
    refused: int = 0
    outcomes: dict[str, SubmissionRow] = field(default_factory=dict)

    def add(self, submitted: SubmissionRow) -> None:
        """Count the result of one workload."""
        self.answered += 1
        self.refused += submitted.outcome == REFUSED and not submitted.unanswered
        self.outcomes[submitted.name] = submitted


class WorkloadsByIndex(Protocol):
    """Workloads that may differ."""

    def at(self, index: int) -> Workloads:
        """Return the workloads that include the one with this index."""


def _announce_nothing(index: int, sent_s: float) -> None:
    """Do nothing, as the same process counts the requests."""


def _empty_ledger() -> Ledger:
    return Ledger({})


def _no_rows_in(path: Path) -> Callable[[Mapping[str, Any]], None]:
    raise PerfError(f"{path} is written by the process that records")


@dataclass(frozen=True, slots=True)
class SubmissionTools:
    """The dependencies of a submission.

    Attributes:
        record: Writes a row of ``submissions.jsonl``.
        counts: The progress, which the submission updates.
        announce: Called with the index of each workload and the time just before it is sent.
        rights: Distinguishes temporary refusals from permanent ones.
        ledger: The recorder's observations, in the process that records.
        rows_in: Creates another journal, in the process that records.
    """

    client: ApiClient
    clock: RunClock
    record: Callable[[dict[str, Any]], None]
    counts: SubmissionCounts = field(default_factory=SubmissionCounts)
    announce: Callable[[int, float], None] = _announce_nothing
    rights: UnsettledRights = field(default_factory=UnsettledRights)
    ledger: Ledger = field(default_factory=_empty_ledger)
    rows_in: Callable[[Path], Callable[[Mapping[str, Any]], None]] = _no_rows_in


class Turn(Protocol):
    """A later round of a submission, whose workloads replace others."""

    @property
    def number(self) -> int:
        """Number of the round, from 1."""

    def replaces(self, index: int) -> int | None:
        """Return the index of the workload that the one with this index replaces."""

    async def make_room(self, index: int) -> None:
        """Delete the replaced workload, just before the one with this index is sent."""


class Submitter:
    """Submits workloads. Several submitters may share a submission, each with different indices."""

    def __init__(
        self,
        tools: SubmissionTools,
        workloads: WorkloadsByIndex,
        resources: Mapping[tuple[str, str], ResourceKind],
        number: int = 0,
        turn: Turn | None = None,
    ) -> None:
        """Store the arguments.

        Args:
            resources: The kinds by API version and name.
            number: Number of this submitter among several.
            turn: A later round of a submission.
        """
        self._tools = tools
        self._client = tools.client
        self._clock = tools.clock
        self.counts = tools.counts
        self._workloads = workloads
        self._resources = resources
        self._number = number
        self._turn = turn
        self._stopping = asyncio.Event()
        self._policy = replace(tools.client.policy, sleep=self._pause)

    async def submit(
        self, indices: range, *, concurrency: Concurrency, arrivals: Arrivals, began_s: float | None = None
    ) -> None:
        """Send all of *indices* in order; return when all are answered or refused, or soon after :meth:`stop`.

        Args:
            concurrency: The limit of concurrent requests.
            arrivals: When each is due after *began_s*.
            began_s: Start by the clock, by default now.
        """
        pace = Pace(self._clock, concurrency, arrivals, self._stopping)
        await pace.send(indices, self._in_turn, began_s)

    def stop(self) -> None:
        """Send no more; outstanding requests may still be answered."""
        self._stopping.set()

    async def adopt(self, index: int, sent_s: float, fate: str) -> None:
        """Account for a workload whose submitter ended (*fate*) before it reported the answer, by reading it."""
        workloads = self._workloads.at(index)
        found = None
        with suppress(UnansweredError):
            found = await self._look_up(workloads, workloads.name(index))
        self.give_up(index, sent_s, fate, found)

    def give_up(self, index: int, sent_s: float, fate: str, found: Answer | None = None) -> None:
        """Account for a workload that was sent without a known answer; *found* is the answer of a later GET."""
        workloads = self._workloads.at(index)
        uid = _uid_if_ours(found, workloads, index) if found else None
        self._record(
            SubmissionRow(
                index=index,
                name=workloads.name(index),
                sent_s=sent_s,
                answered_s=self._clock.now(),
                status=None,
                outcome=EXISTED if uid else REFUSED,
                attempts=1,
                uid=uid,
                error=fate,
                absence=f"not created: {fate}" if found and found.status == _NOT_FOUND else None,
            )
        )

    async def _in_turn(self, index: int) -> SubmissionRow | None:
        if self._turn is not None:
            await self._turn.make_room(index)
            if self._stopping.is_set():
                return None
        return await self._one(index)

    async def _one(self, index: int) -> SubmissionRow:
        workloads = self._workloads.at(index)
        name = workloads.name(index)
        sent = self._clock.now()
        self._tools.announce(index, sent)
        self.counts.sent += 1
        submitted = SubmissionRow(index, name, sent, sent, None, REFUSED, 1)
        answers: list[Answer] = []
        try:
            submitted = await self._sent(workloads, index, name, answers)
        except asyncio.CancelledError:
            status, why = unfinished(answers)
            tries = answers[-1].attempts + 1 if answers else 1
            submitted = SubmissionRow(index, name, sent, self._clock.now(), status, REFUSED, tries, None, why)
            raise
        except UnansweredError as error:
            now, tries = self._clock.now(), error.attempts
            absence = error.absence if isinstance(error, _CompanionUnansweredError) else None
            submitted = SubmissionRow(index, name, sent, now, None, REFUSED, tries, None, str(error), absence)
        finally:
            self._record(submitted)
        return submitted

    async def _sent(self, workloads: Workloads, index: int, name: str, answers: list[Answer]) -> SubmissionRow:
        """Send a workload, after its pod group and its claims if it has any, and return the result."""
        body, path = workloads.body(index), self._resource(workloads).collection(workloads.namespace)
        for companion in workloads.companions(index):
            refusal = await self._refused(companion, workloads, index, answers)
            if refusal is not None:
                now, error = self._clock.now(), f"its {_COMPANIONS[companion['kind']]}: {refusal.message()}"
                return SubmissionRow(index, name, now, now, refusal.status, REFUSED, refusal.attempts, None, error)
            answers.clear()
        sent = self._clock.now()
        answer = await self._ask("POST", path, body, answers)
        return await self._judge(answer, index, name, sent)

    async def _refused(
        self, companion: Mapping[str, Any], workloads: Workloads, index: int, answers: list[Answer]
    ) -> Answer | None:
        """Create an object that a workload needs; return the refusal if it does not exist afterwards."""
        kind = companion["kind"]
        resource = self._resources[companion["apiVersion"], kind]
        try:
            path = resource.collection(workloads.namespace)
            answer = await self._ask("POST", path, json.dumps(companion).encode(), answers)
            if answer.status == _CONFLICT:
                # an earlier attempt may have created it
                path = resource.object(workloads.namespace, companion["metadata"]["name"])
                found = await self._ask("GET", path)
                return None if _uid_if_ours(found, workloads, index) else answer
        except UnansweredError as error:
            raise _CompanionUnansweredError(kind, error) from error
        return None if answer.succeeded else answer

    async def _judge(self, answer: Answer, index: int, name: str, sent: float) -> SubmissionRow:
        answered = self._clock.now()
        outcome, uid, error = REFUSED, None, None
        if answer.succeeded:
            outcome, uid = CREATED, _uid(answer)
        elif answer.status == _CONFLICT:
            # an earlier attempt may have created it
            workloads = self._workloads.at(index)
            uid = _uid_if_ours(await self._look_up(workloads, name), workloads, index)
            outcome = EXISTED if uid else REFUSED
        if outcome == REFUSED:
            error = answer.message()
        return SubmissionRow(index, name, sent, answered, answer.status, outcome, answer.attempts, uid, error)

    async def _look_up(self, workloads: Workloads, name: str) -> Answer:
        path = self._resource(workloads).object(workloads.namespace, name)
        return await self._ask("GET", path)

    async def _ask(
        self, method: str, path: str, body: bytes | None = None, answers: list[Answer] | None = None
    ) -> Answer:
        also_repeat = self._tools.rights.is_temporary
        return await self._client.request(
            method, path, body=body, policy=self._policy, also_repeat=also_repeat, answers=answers
        )

    async def _pause(self, delay_s: float) -> bool:
        """Wait before another attempt; return False after :meth:`stop`."""
        await self._client.policy.sleep(delay_s)
        return not self._stopping.is_set()

    def _resource(self, workloads: Workloads) -> ResourceKind:
        return self._resources[workloads.api_version, workloads.kind]

    def _record(self, submitted: SubmissionRow) -> None:
        self.counts.add(submitted)
        workloads = self._workloads.at(submitted.index)
        self._tools.record(
            {
                "index": submitted.index,
                "kind": workloads.kind,
                "namespace": workloads.namespace,
                "name": submitted.name,
                "queue": workloads.queue,
                "gpus": workloads.size.gpus,
                "pods": workloads.size.pods,
                "sent_s": submitted.sent_s,
                "answered_s": submitted.answered_s,
                "status": submitted.status,
                "outcome": submitted.outcome,
                "attempts": submitted.attempts,
                "uid": submitted.uid,
                "error": submitted.error,
                "submitter": self._number,
                "priority": workloads.plan.priority,
                "round": self._turn.number if self._turn else 0,
                "replaces": self._turn.replaces(submitted.index) if self._turn else None,
            }
        )


def _uid(answer: Answer) -> str | None:
    """Return the uid without parsing the whole object: there are thousands of answers a second."""
    rest = answer.body.partition(b'"uid":"')[2]
    return rest.partition(b'"')[0].decode() or None


def _uid_if_ours(found: Answer, workloads: Workloads, index: int) -> str | None:
    """Return the uid of the object in the answer if it is the workload with this index."""
    metadata = found.document().get("metadata") or {}
    ours = found.succeeded and workloads.submission.owns(metadata, index)
    return str(metadata["uid"]) if ours else None
