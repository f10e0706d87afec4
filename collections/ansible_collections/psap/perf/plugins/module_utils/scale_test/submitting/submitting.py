"""A submission as the session sees it: to be begun, and then at work, whoever carries it out.

One submitter in this process is one, gathered processes are another, and one that deletes and submits again a third.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RequestCounts
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import concurrency_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionTools,
    Submitter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import Arrivals
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import AssortedWorkloads


class Submitting(Protocol):
    """A submission at work. What it sent and what came back stands in the counts and rows of its tools."""

    @property
    def requests(self) -> RequestCounts:
        """What clients of its own met, beside the session's."""

    @property
    def failure(self) -> str | None:
        """Why not all was submitted although nobody asked to stop, as a sentence; the command fails with it."""

    async def run(self) -> None:
        """Submit everything; returns when all is answered or refused, or soon after :meth:`stop`.

        :raises PerfError: when it cannot go on, and what was submitted is not worth following to its end.
        """

    def stop(self) -> None:
        """Send no more; requests on their way may still be answered."""


class SubmissionToBegin(Protocol):
    """What is submitted, before it begins."""

    def workload_in(self, name: str) -> str | None:
        """The workload that an object of this name belongs to, or None."""

    def begin(self, tools: SubmissionTools) -> Submitting:
        """The submission, ready to run."""


@dataclass(frozen=True, slots=True)
class OwnSubmission:
    """Submitted by this process: *resources* are the kinds by API version and name; *connections* 0 is as many as the
    API server takes."""

    workloads: AssortedWorkloads
    resources: Mapping[tuple[str, str], ResourceKind]
    count: int
    connections: int
    arrivals: Arrivals

    def workload_in(self, name: str) -> str | None:
        """By the names that the submission gives."""
        return self.workloads.submission.workload_in(name)

    def begin(self, tools: SubmissionTools) -> Submitting:
        """One submitter, over the session's client."""
        return _InThisProcess(self, Submitter(tools, self.workloads, self.resources))


@dataclass(frozen=True, slots=True)
class _InThisProcess:
    own: OwnSubmission
    submitter: Submitter

    @property
    def requests(self) -> RequestCounts:
        return RequestCounts()

    @property
    def failure(self) -> str | None:
        return None

    async def run(self) -> None:
        own = self.own
        await self.submitter.submit(
            range(own.count), concurrency=concurrency_of(own.connections), arrivals=own.arrivals
        )

    def stop(self) -> None:
        self.submitter.stop()
