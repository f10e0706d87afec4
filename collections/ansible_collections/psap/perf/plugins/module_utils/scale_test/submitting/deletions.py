"""Delete workloads of a submission, in spite of temporary failures, and write a row for each."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import (
    Answer,
    UnansweredError,
    unfinished,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionRow,
    SubmissionTools,
    WorkloadsByIndex,
)

DELETED = "deleted"
ABSENT = "absent"
FAILED = "failed"

_NOT_FOUND = 404
_CONFLICT = 409


@dataclass(frozen=True, slots=True)
class _Deletion:
    """The result of a deletion; ``status`` is None without an answer."""

    status: int | None
    outcome: str
    error: str | None = None


class Deleter:
    """Deletes workloads, and records in the ledger that they are churned, not lost."""

    def __init__(
        self,
        tools: SubmissionTools,
        workloads: WorkloadsByIndex,
        resources: Mapping[tuple[str, str], ResourceKind],
        record: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Store the arguments; *record* writes a row of ``churn.jsonl``."""
        self._tools = tools
        self._workloads = workloads
        self._resources = resources
        self._ledger = tools.ledger
        self._record = record
        # by the answers; the watch may be later
        self.gone: set[str] = set()

    async def delete(self, submitted: SubmissionRow, churn_round: int) -> None:
        """Delete a workload, with its pods, its pod group and its claims, and write the result to its row."""
        workloads = self._workloads.at(submitted.index)
        resource = self._resources[workloads.api_version, workloads.kind]
        entry = self._ledger.workloads[submitted.name]
        sent, was_gone = self._tools.clock.now(), entry.gone
        self._ledger.claim(submitted.name)
        done = _Deletion(None, FAILED)
        answers: list[Answer] = []
        try:
            done = await self._deleted(resource.object(workloads.namespace, submitted.name), submitted.uid, answers)
        except asyncio.CancelledError:
            status, why = unfinished(answers)
            done = _Deletion(status, FAILED, why)
            raise
        finally:
            if not was_gone and (done.status == _NOT_FOUND or (done.outcome == FAILED and entry.gone)):
                # it existed at the first request: an earlier attempt, whose answer was lost, deleted it
                done = _Deletion(done.status, DELETED, done.error)
            if done.outcome != FAILED:
                self.gone.add(submitted.name)
            self._ledger.settle(submitted.name, deleted=done.outcome == DELETED)
            self._record(
                {
                    "round": churn_round,
                    "index": submitted.index,
                    "namespace": workloads.namespace,
                    "name": submitted.name,
                    "sent_s": sent,
                    "answered_s": self._tools.clock.now(),
                    "status": done.status,
                    "outcome": done.outcome,
                    "error": done.error,
                }
            )
        for companion in workloads.companions(submitted.index):
            resource = self._resources[companion["apiVersion"], companion["kind"]]
            # the cleanup deletes one that remains without an answer
            await self._deleted(resource.object(workloads.namespace, companion["metadata"]["name"]), None, [])

    async def _deleted(self, path: str, uid: str | None, answers: list[Answer]) -> _Deletion:
        """Delete the object at *path*, if it is the one with this uid."""
        options: dict[str, Any] = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        try:
            body = json.dumps(options).encode()
            answer = await self._tools.client.request(
                "DELETE", path, body=body, also_repeat=self._tools.rights.is_temporary, answers=answers
            )
        except UnansweredError as error:
            return _Deletion(None, FAILED, str(error))
        return _deletion(answer)


def _deletion(answer: Answer) -> _Deletion:
    if answer.succeeded:
        return _Deletion(answer.status, DELETED)
    # 409: another object has the name now, the workload is gone
    outcome = ABSENT if answer.status in (_NOT_FOUND, _CONFLICT) else FAILED
    return _Deletion(answer.status, outcome, None if answer.status == _NOT_FOUND else answer.message())
