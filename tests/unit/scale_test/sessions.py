"""Run a whole session against the fake API server."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.files import RecordingFiles
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.recorder import Scope
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import (
    Session,
    SessionEnd,
    SessionPlan,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import Surroundings
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.until import condition
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.gathering import (
    GatheredSubmission,
    SubmitterStarter,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.process import LocalProcesses
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.churn import ChurnedSubmission, ChurnPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import (
    OwnSubmission,
    SubmissionToBegin,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.arrivals import arrivals_at
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import AssortedWorkloads
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import WorkloadPlan, Workloads

from .fake_api import FakeApi, fake_api

JOBS = "/apis/batch/v1/namespaces/test/jobs"
PODS = "/api/v1/namespaces/test/pods"
EVENTS = "/api/v1/namespaces/test/events"
JOB = ResourceKind("batch/v1", "Job", "jobs")
JOBS_BY_KIND = {(JOB.api_version, JOB.kind): JOB}
SUBMISSION = Submission.of("run-1", "001__a")
QUICK = RetryPolicy(give_up_after_s=1.0, first_delay_s=0.01, longest_delay_s=0.05)
TEMPLATE = """
apiVersion: batch/v1
kind: Job
spec: {template: {spec: {containers: [{name: a, resources: {limits: {nvidia.com/gpu: 1}}}]}}}
"""

Deed = Callable[[FakeApi], Awaitable[None]]


def complete_all(api: FakeApi) -> None:
    """Complete every Job."""
    api.complete_jobs = True


def job_workloads() -> AssortedWorkloads:
    """Return workloads of one-GPU Jobs."""
    return AssortedWorkloads.alike(Workloads(WorkloadPlan(TEMPLATE, "test", "test", 1, {}, {}), SUBMISSION))


def own_process(folder: Path, *, before: str = "", **scene: int) -> list[str]:
    """Return the command of a process that plays a separate Scene, after the statements *before*."""
    arguments = ", ".join(f"{name}={value}" for name, value in scene.items())
    program = f"""
import pathlib, sys
from perfdrv.collection import activate
activate(pathlib.Path.cwd())
sys.path.insert(0, str(pathlib.Path.cwd()))
from {__name__} import Scene
{before}
Scene(pathlib.Path(sys.argv[1]), {arguments}).play()
"""
    return [sys.executable, "-c", program, str(folder)]


@dataclass
class Scene:
    """A session: *count* submitted Jobs (0 only watches), and the changes of the server meanwhile."""

    folder: Path
    count: int = 3
    connections: int = 2
    submitters: int = 1
    rate: float = 0.0
    until: str = "all_completed"
    planned: int | None = None
    timeout_s: float = 60.0
    meanwhile: Deed | None = None
    stop: asyncio.Event = field(default_factory=asyncio.Event)
    policy: RetryPolicy = QUICK
    api: FakeApi | None = None
    churn: ChurnPlan = field(default_factory=ChurnPlan)
    related: tuple[ResourceKind, ...] = ()
    metrics: MetricsPlan | None = None

    async def run(self, api: FakeApi) -> SessionEnd:
        """Run the session to its end."""
        self.api = api
        endpoint = ApiEndpoint(server=api.server)
        async with ApiClient(endpoint, policy=self.policy, request_timeout_s=2.0) as client:
            session = Session(
                client,
                self._plan(),
                RecordingFiles(self.folder),
                Surroundings(lab=Lab("default", simulated=("nodes", "pods")), openshift=False),
                self.stop.is_set,
                self._submission(),
            )
            running = asyncio.create_task(session.run())
            if self.meanwhile is not None:
                await asyncio.gather(self.meanwhile(api), running)
            return await running

    def play(self, prepare: Callable[[FakeApi], None] | None = None) -> SessionEnd:
        """Serve the simulated API, let *prepare* change it, and run the session."""

        async def played() -> SessionEnd:
            async with fake_api() as api:
                if prepare is not None:
                    prepare(api)
                return await self.run(api)

        return asyncio.run(played())

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Return the rows of a journal."""
        return [json.loads(line) for line in (self.folder / f"{name}.jsonl").read_text().splitlines()]

    def document(self, name: str) -> dict[str, Any]:
        """Return a JSON document."""
        document: dict[str, Any] = json.loads((self.folder / f"{name}.json").read_text())
        return document

    def _plan(self) -> SessionPlan:
        return SessionPlan(
            run="run-1",
            scopes=(Scope("test", JOB, lifecycle_of("Job"), SUBMISSION.selector),),
            planned=self.churn.total(self.count) if self.planned is None else self.planned,
            timeout_s=self.timeout_s,
            until=None if self.count else condition(self.until),
            client={"connections": self.connections, "rate": self.rate, "submitters": self.submitters},
            related=self.related,
            metrics=self.metrics,
        )

    def _submission(self) -> SubmissionToBegin | None:
        if not self.count:
            return None
        own = OwnSubmission(job_workloads(), JOBS_BY_KIND, self.count, self.connections, arrivals_at(self.rate))
        submission: SubmissionToBegin = own
        if self.submitters > 1:
            submission = GatheredSubmission(own, self.submitters, self.folder / "submitters", self.starter())
        if self.churn.percent:
            submission = ChurnedSubmission(submission, own, self.churn, RecordingFiles(self.folder).churn)
        return submission

    def starter(self) -> SubmitterStarter:
        """The object that starts submitting processes."""
        assert self.api is not None
        return LocalProcesses(ApiEndpoint(self.api.server))


async def eventually(what: Callable[[], bool]) -> None:
    """Wait until *what* returns true.

    Raises:
    """
    async with asyncio.timeout(60):
        while not what():
            await asyncio.sleep(0.01)
