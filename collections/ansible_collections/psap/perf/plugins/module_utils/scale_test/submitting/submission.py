"""The submitter: one asyncio client, as many requests at once as it may, an arrival shape; a row for every workload."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
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

_NO_POD_GROUP = "not made: its pod group was never answered for"


class _PodGroupUnansweredError(UnansweredError):
    """Whether the pod group exists is unknown; the workload was not sent."""


@dataclass(frozen=True, slots=True)
class Submitted:
    """One row of ``submissions.jsonl``; ``status`` None means that no answer came."""

    index: int
    name: str
    sent_s: float
    answered_s: float
    status: int | None
    outcome: str
    attempts: int
    uid: str | None = None
    error: str | None = None
    # why it does not exist, where that is known although no answer says so
    absence: str | None = None

    @property
    def unanswered(self) -> bool:
        """Whether nobody knows if the workload exists."""
        return self.status is None and self.uid is None and self.absence is None


@dataclass(slots=True)
class SubmissionCounts:
    """How far the submission is; *refused* are those that are known not to exist."""

    sent: int = 0
    answered: int = 0
    refused: int = 0
    outcomes: dict[str, Submitted] = field(default_factory=dict)

    def tell(self, submitted: Submitted) -> None:
        """Count what became of one."""
        self.answered += 1
        self.refused += submitted.outcome == REFUSED and not submitted.unanswered
        self.outcomes[submitted.name] = submitted


class WorkloadsByIndex(Protocol):
    """Workloads that may differ."""

    def at(self, index: int) -> Workloads:
        """Those that the workload with this index is one of."""


def _keep_no_notice(index: int, sent_s: float) -> None:
    """For whoever needs no notice: all that is sent is counted in the same process."""


def _empty_ledger() -> Ledger:
    return Ledger({})


def _no_rows_in(path: Path) -> Callable[[Mapping[str, Any]], None]:
    raise PerfError(f"{path} is written by the process that records")


@dataclass(frozen=True, slots=True)
class SubmissionTools:
    """What a submission works with.

    *record* takes each row of ``submissions.jsonl``, *counts* are kept as it goes, *announce* hears the index of each
    workload and the moment just before it is sent, *rights* tells a server that does not know ours yet from one that
    denies them. In the process that records, the *ledger* is what the recorder saw,
    and *rows_in* begins another journal.
    """

    client: ApiClient
    clock: RunClock
    record: Callable[[dict[str, Any]], None]
    counts: SubmissionCounts = field(default_factory=SubmissionCounts)
    announce: Callable[[int, float], None] = _keep_no_notice
    rights: UnsettledRights = field(default_factory=UnsettledRights)
    ledger: Ledger = field(default_factory=_empty_ledger)
    rows_in: Callable[[Path], Callable[[Mapping[str, Any]], None]] = _no_rows_in


class Turn(Protocol):
    """A later round of a submission, whose workloads take the places of others."""

    @property
    def number(self) -> int:
        """Of the round, from 1."""

    def replaces(self, index: int) -> int | None:
        """The index of the workload whose place the one with this index takes."""

    async def make_room(self, index: int) -> None:
        """What is done just before the workload with this index is sent."""


class Submitter:
    """Submits workloads. Several submitters may share a submission, each with indices of its own."""

    def __init__(
        self,
        tools: SubmissionTools,
        workloads: WorkloadsByIndex,
        resources: Mapping[tuple[str, str], ResourceKind],
        number: int = 0,
        turn: Turn | None = None,
    ) -> None:
        """*resources* are the kinds by API version and name; *number* is this submitter's, among several; *turn* is a
        later round of a submission."""
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
        """Send all of *indices* in order, as many at once as *concurrency* says, each as long after *began_s* (by the
        clock; None: now) as *arrivals* have it.

        Returns when all are answered or refused, or soon after :meth:`stop`.
        """
        pace = Pace(self._clock, concurrency, arrivals, self._stopping)
        await pace.send(indices, self._in_turn, began_s)

    def stop(self) -> None:
        """Send no more; requests on their way may still be answered."""
        self._stopping.set()

    async def adopt(self, index: int, sent_s: float, fate: str) -> None:
        """Account for a workload whose submitter met its *fate* before it told the answer: look whether it exists."""
        workloads = self._workloads.at(index)
        found = None
        with suppress(UnansweredError):
            found = await self._look_up(workloads, workloads.name(index))
        self.give_up(index, sent_s, fate, found)

    def give_up(self, index: int, sent_s: float, fate: str, found: Answer | None = None) -> None:
        """Account for a workload that was sent and whose answer will not be known; *found* is what a look showed."""
        workloads = self._workloads.at(index)
        uid = _uid_if_ours(found, workloads, index) if found else None
        self._tell(
            Submitted(
                index=index,
                name=workloads.name(index),
                sent_s=sent_s,
                answered_s=self._clock.now(),
                status=None,
                outcome=EXISTED if uid else REFUSED,
                attempts=1,
                uid=uid,
                error=fate,
                absence=f"not made: {fate}" if found and found.status == _NOT_FOUND else None,
            )
        )

    async def _in_turn(self, index: int) -> Submitted | None:
        if self._turn is not None:
            await self._turn.make_room(index)
            if self._stopping.is_set():
                return None
        return await self._one(index)

    async def _one(self, index: int) -> Submitted:
        workloads = self._workloads.at(index)
        name = workloads.name(index)
        sent = self._clock.now()
        self._tools.announce(index, sent)
        self.counts.sent += 1
        submitted = Submitted(index, name, sent, sent, None, REFUSED, 1)
        answers: list[Answer] = []
        try:
            submitted = await self._sent(workloads, index, name, answers)
        except asyncio.CancelledError:
            status, why = unfinished(answers)
            tries = answers[-1].attempts + 1 if answers else 1
            submitted = Submitted(index, name, sent, self._clock.now(), status, REFUSED, tries, None, why)
            raise
        except UnansweredError as error:
            now, tries = self._clock.now(), error.attempts
            absence = _NO_POD_GROUP if isinstance(error, _PodGroupUnansweredError) else None
            submitted = Submitted(index, name, sent, now, None, REFUSED, tries, None, str(error), absence)
        finally:
            self._tell(submitted)
        return submitted

    async def _sent(self, workloads: Workloads, index: int, name: str, answers: list[Answer]) -> Submitted:
        """Send a workload, after its pod group where it has one, and say what became of it."""
        body, path = workloads.body(index), self._resource(workloads).collection(workloads.namespace)
        refusal = await self._refused_pod_group(workloads, index, answers)
        sent = self._clock.now()
        if refusal is not None:
            said = f"its pod group: {refusal.message()}"
            return Submitted(index, name, sent, sent, refusal.status, REFUSED, refusal.attempts, None, said)
        answers.clear()
        answer = await self._ask("POST", path, body, answers)
        return await self._judge(answer, index, name, sent)

    async def _refused_pod_group(self, workloads: Workloads, index: int, answers: list[Answer]) -> Answer | None:
        """Make a workload's pod group; the refusal when there is none afterwards."""
        group = workloads.pod_group(index)
        if group is None:
            return None
        resource = self._resources[group["apiVersion"], group["kind"]]
        try:
            path = resource.collection(workloads.namespace)
            answer = await self._ask("POST", path, json.dumps(group).encode(), answers)
            if answer.status == _CONFLICT:
                # an earlier try of ours may have made it
                path = resource.object(workloads.namespace, workloads.name(index))
                found = await self._ask("GET", path)
                return None if _uid_if_ours(found, workloads, index) else answer
        except UnansweredError as error:
            raise _PodGroupUnansweredError(str(error), error.attempts) from error
        return None if answer.succeeded else answer

    async def _judge(self, answer: Answer, index: int, name: str, sent: float) -> Submitted:
        answered = self._clock.now()
        outcome, uid, error = REFUSED, None, None
        if answer.succeeded:
            outcome, uid = CREATED, _uid(answer)
        elif answer.status == _CONFLICT:
            # an earlier try of ours may have made it
            workloads = self._workloads.at(index)
            uid = _uid_if_ours(await self._look_up(workloads, name), workloads, index)
            outcome = EXISTED if uid else REFUSED
        if outcome == REFUSED:
            error = answer.message()
        return Submitted(index, name, sent, answered, answer.status, outcome, answer.attempts, uid, error)

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
        """Wait before another try; False once no more are to be sent."""
        await self._client.policy.sleep(delay_s)
        return not self._stopping.is_set()

    def _resource(self, workloads: Workloads) -> ResourceKind:
        return self._resources[workloads.api_version, workloads.kind]

    def _tell(self, submitted: Submitted) -> None:
        self.counts.tell(submitted)
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
    """The uid, read without parsing the whole object: thousands come back a second."""
    rest = answer.body.partition(b'"uid":"')[2]
    return rest.partition(b'"')[0].decode() or None


def _uid_if_ours(found: Answer, workloads: Workloads, index: int) -> str | None:
    """The uid of the object that was found, when it is the workload with this index."""
    metadata = found.document().get("metadata") or {}
    ours = found.succeeded and workloads.submission.owns(metadata, index)
    return str(metadata["uid"]) if ours else None
