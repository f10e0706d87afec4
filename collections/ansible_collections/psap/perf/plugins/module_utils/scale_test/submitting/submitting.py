"""The session's interface of a submission: one to begin, and one in progress.

It is implemented by one submitter in this process, by several processes, and by churn.
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
    """A submission in progress. Its requests and answers are in the counts and rows of its tools."""

    @property
    def requests(self) -> RequestCounts:
        """The request counts of further clients, besides the session's."""

    @property
    def failure(self) -> str | None:
        """Why the submission is incomplete although it was not stopped, as a sentence of the command's error."""

    async def run(self) -> None:
        """Submit all workloads; return when all are answered or refused, or soon after :meth:`stop`.

        Raises:
            PerfError: If it cannot continue, and the recording of the submitted workloads should end.
        """

    def stop(self) -> None:
        """Send no more; outstanding requests may still be answered."""


class SubmissionToBegin(Protocol):
    """A submission before its start."""

    def workload_in(self, name: str) -> str | None:
        """Return the workload that an object of this name belongs to, or None."""

    def begin(self, tools: SubmissionTools) -> Submitting:
        """Return the submission, ready to run."""


@dataclass(frozen=True, slots=True)
class OwnSubmission:
    """A submission by this process.

    Attributes:
        resources: The kinds by API version and name.
        connections: Limit of concurrent requests; 0 for as many as the API server accepts.
    """

    workloads: AssortedWorkloads
    resources: Mapping[tuple[str, str], ResourceKind]
    count: int
    connections: int
    arrivals: Arrivals

    def workload_in(self, name: str) -> str | None:
        """Return the workload by the submission's names."""
        return self.workloads.submission.workload_in(name)

    def begin(self, tools: SubmissionTools) -> Submitting:
        """Return a submission by one submitter with the session's client."""
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
