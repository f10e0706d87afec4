"""A recording from its first list to its accounts, with or without a submission.

However it ends (by the condition, the time, the user, an error), the files are complete and contain the reason.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RequestCounts
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import MetricsPlan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.process import ControlPlane
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.attribution import Attribution
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.files import (
    NODES_SCHEMA,
    Recording,
    RecordingFiles,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.ledger import CHURNED, LOST, Ledger
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import COMPLETED, FAILED
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.recorder import Recorder, Scope
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.accounting import (
    Accounting,
    account,
    account_watched,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.collector import calm_collector
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.progress import Meter, Progress
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import Surroundings, read_nodes
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.until import Condition
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionCounts,
    SubmissionTools,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submitting import (
    SubmissionToBegin,
    Submitting,
)

CONDITION = "condition"
TIMEOUT = "timeout"
STOP = "stop"
ERROR = "error"

_TICK_S = 0.1
_PROGRESS_S = 1.0
# after the end of the last workload, the last rows of its pods and events may still arrive
_QUIET_S = 0.5
_LONGEST_SETTLING_S = 3.0
# a created workload that no watch has shown for this time counts as lost
_UNSEEN_S = 10.0


@dataclass(frozen=True, slots=True)
class SessionPlan:
    """The scopes and the end of a recording; times in seconds.

    Attributes:
        planned: The expected number of workloads.
        related: Further kinds to watch if the user is permitted to.
        metrics: The metrics of the control plane to scrape.
        levels: Labels of the levels of the nodes' topology, the largest domains first.
    """

    run: str
    scopes: tuple[Scope, ...]
    planned: int
    timeout_s: float
    until: Condition | None
    client: Mapping[str, Any]
    related: tuple[ResourceKind, ...] = ()
    metrics: MetricsPlan | None = None
    levels: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class SessionEnd:
    """The end of a session and its results; *failure* is why the submission is incomplete, unless it was stopped."""

    ended_by: str
    accounting: Accounting
    progress: Progress
    failure: str | None = None


class Session:
    """One recording."""

    def __init__(
        self,
        client: ApiClient,
        plan: SessionPlan,
        files: RecordingFiles,
        surroundings: Surroundings,
        interrupted: Callable[[], bool],
        submission: SubmissionToBegin | None = None,
    ) -> None:
        """Prepare the recording.

        Args:
            interrupted: Returns whether the user interrupted the run.
            submission: None to record the workloads of another submitter.
        """
        self._client = client
        self._plan = plan
        self._files = files
        self._interrupted = interrupted
        self._clock = RunClock.tied()
        transitions, events = Journal(files.transitions, ("reason",)), Journal(files.events)
        self._journals = [transitions, events]
        workload_in = submission.workload_in if submission else self._seen_in
        kinds = frozenset(scope.resource.kind for scope in plan.scopes)
        attribution = Attribution(workload_in, kinds, closed=submission is not None)
        self._recorder = Recorder(client, plan.scopes, self._clock, transitions, events, attribution, plan.related)
        self._counts = SubmissionCounts()
        self._submitting = self._begun(submission) if submission else None
        self._recording = Recording(
            plan.run,
            plan.scopes,
            self._clock,
            plan.client,
            surroundings.lab,
            self._clock.now(),
        )
        self._control_plane = self._scraping(client, plan.metrics) if plan.metrics else None
        self._meter = Meter()
        self._unseen_since: float | None = None

    async def run(self) -> SessionEnd:
        """Record until the end of the session, and return its results.

        Raises:
            PerfError: If the cluster or the disk fails; the files are then complete, too.
        """
        with calm_collector():
            return await self._run()

    async def _run(self) -> SessionEnd:
        submitting: asyncio.Task[None] | None = None
        ended_by = ERROR
        try:
            self._write_progress("syncing")
            if not await self._synced():
                ended_by = STOP
            else:
                submitting = asyncio.create_task(self._submitting.run()) if self._submitting else None
                ended_by = await self._until_over(submitting)
                await self._settle(ended_by, submitting)
        except PerfError as error:
            self._recording.error = str(error)
            raise
        finally:
            await self._close(ended_by, submitting)
        accounting = self._accounts()
        return SessionEnd(ended_by, accounting, self._write_progress("done", accounting.sentence()), self._failure)

    async def _synced(self) -> bool:
        """Start the recorder; return False if the user interrupts the run before it is in sync."""
        starting = asyncio.create_task(self._start())
        while not starting.done():
            await asyncio.wait({starting}, timeout=_TICK_S)
            if self._interrupted():
                starting.cancel()
                return False
        starting.result()
        self._recording.synced_s = self._clock.now()
        self._recording.write(self._files, self._recorder, self._requests)
        return True

    def _scraping(self, client: ApiClient, plan: MetricsPlan) -> ControlPlane:
        return ControlPlane(plan, client.endpoint, self._clock, self._files.samples, self._files.control_plane)

    async def _start(self) -> None:
        levels = self._plan.levels
        nodes = await read_nodes(self._client, levels)
        content = {"levels": list(levels), "nodes": nodes or [], "listed": nodes is not None}
        write_json(self._files.nodes, {"schema": NODES_SCHEMA, **content})
        if self._control_plane is not None:
            await self._control_plane.before()
        await self._recorder.start()
        if self._control_plane is not None:
            await self._control_plane.during()

    def _begun(self, submission: SubmissionToBegin) -> Submitting:
        journal = Journal(self._files.submissions, ("error",))
        self._journals.append(journal)

        def keep(row: Mapping[str, Any]) -> None:
            journal.append(row)
            self._recorder.steps.submitted(row)

        tools = SubmissionTools(
            self._client, self._clock, keep, self._counts, ledger=self._recorder.ledger, rows_in=self._rows_in
        )
        return submission.begin(tools)

    def _rows_in(self, path: Path) -> Callable[[Mapping[str, Any]], None]:
        journal = Journal(path)
        self._journals.append(journal)
        return journal.append

    async def _until_over(self, submitting: asyncio.Task[None] | None) -> str:
        deadline = self._clock.now() + self._plan.timeout_s
        next_progress = 0.0
        while True:
            self._check(submitting)
            now = self._clock.now()
            if now >= next_progress:
                progress = self._write_progress("submitting" if submitting and not submitting.done() else "waiting")
                next_progress = now + _PROGRESS_S
            else:
                progress = self._progress("waiting")
            if self._interrupted():
                return STOP
            if self._is_over(progress, submitting):
                return CONDITION
            if now >= deadline:
                return TIMEOUT
            await asyncio.sleep(_TICK_S)

    def _check(self, submitting: asyncio.Task[None] | None) -> None:
        """Flush, and raise the error of a task."""
        for journal in self._journals:
            journal.flush()
        self._recorder.check()
        if submitting is not None and submitting.done():
            submitting.result()

    def _is_over(self, progress: Progress, submitting: asyncio.Task[None] | None) -> bool:
        if self._submitting is None:
            return self._plan.until is not None and self._plan.until(progress)
        ledger = self._recorder.ledger
        if submitting is None or not submitting.done() or ledger.running:
            return False
        return not self._unseen() or self._waited_for_unseen()

    def _unseen(self) -> bool:
        """Return whether a workload was created that no watch has shown yet."""
        if self._submitting is None:
            return False
        workloads = self._recorder.ledger.workloads
        return any(row.uid and name not in workloads for name, row in self._counts.outcomes.items())

    def _waited_for_unseen(self) -> bool:
        now = self._clock.now()
        self._unseen_since = self._unseen_since or now
        return now - max(self._unseen_since, self._recorder.last_s) > _UNSEEN_S

    async def _settle(self, ended_by: str, submitting: asyncio.Task[None] | None) -> None:
        """Wait for outstanding answers of the submission and last rows of the watches."""
        if self._submitting is not None and submitting is not None and not submitting.done():
            self._submitting.stop()
            await submitting
        if ended_by == STOP:
            return
        if self._control_plane is not None:
            await self._control_plane.after()
        began = now = self._clock.now()
        while now < began + _LONGEST_SETTLING_S and now < max(began, self._recorder.last_s) + _QUIET_S:
            await asyncio.sleep(_TICK_S)
            self._check(submitting)
            now = self._clock.now()

    async def _close(self, ended_by: str, submitting: asyncio.Task[None] | None) -> None:
        if submitting is not None and not submitting.done():
            submitting.cancel()
            await asyncio.gather(submitting, return_exceptions=True)
        await self._recorder.stop()
        if self._control_plane is not None:
            await self._control_plane.close()
        self._recording.ended_s = self._clock.now()
        self._recording.ended_by = ended_by
        failed = [error for journal in self._journals if (error := _close_failed(journal))]
        if failed:
            self._recording.ended_by = ERROR
            self._recording.error = self._recording.error or str(failed[0])
        self._recording.error = self._recording.error or self._failure
        self._recording.write(self._files, self._recorder, self._requests)
        write_json(self._files.accounting, self._accounts().document())
        if failed and ended_by != ERROR:
            raise failed[0]

    @property
    def _requests(self) -> RequestCounts:
        return self._client.counts.plus(self._submitting.requests) if self._submitting else self._client.counts

    @property
    def _failure(self) -> str | None:
        return self._submitting.failure if self._submitting else None

    def _accounts(self) -> Accounting:
        ledger = self._recorder.ledger
        if self._submitting is None:
            return account_watched(self._plan.planned, ledger)
        settled_s = (self._recording.ended_s or self._clock.now()) - _UNSEEN_S
        return account(self._plan.planned, self._counts.sent, self._counts.outcomes, ledger, settled_s=settled_s)

    def _progress(self, phase: str) -> Progress:
        ledger = self._recorder.ledger
        sent, refused = self._sent_and_refused(ledger)
        now = self._clock.now()
        ended = sum(ledger.totals[state] for state in (COMPLETED, FAILED, LOST, CHURNED))
        submitted_per_s, completed_per_s = self._meter.rates(now, sent, ledger.totals[COMPLETED])
        return Progress(
            phase=phase,
            planned=self._plan.planned,
            submitted=sent,
            running=max(0, sent - refused - ended),
            completed=ledger.totals[COMPLETED],
            failed=ledger.totals[FAILED] + refused,
            lost=ledger.totals[LOST],
            churned=ledger.totals[CHURNED],
            submitted_per_s=submitted_per_s,
            completed_per_s=completed_per_s,
            elapsed_s=round(now - self._recording.started_s, 3),
            updated_s=now,
            steps=self._recorder.steps.document(),
        )

    def _sent_and_refused(self, ledger: Ledger) -> tuple[int, int]:
        if self._submitting is None:
            return ledger.seen, 0
        return self._counts.sent, self._counts.refused

    def _write_progress(self, phase: str, summary: str | None = None) -> Progress:
        progress = replace(self._progress(phase), summary=summary)
        write_json(self._files.progress, progress.document())
        return progress

    def _seen_in(self, name: str) -> str | None:
        """Return the observed workload whose name begins this one, as controllers append to it."""
        workloads = self._recorder.ledger.workloads
        while name:
            if name in workloads:
                return name
            name = name.rpartition("-")[0]
        return None


def _close_failed(journal: Journal) -> PerfError | None:
    """Close a journal; return its error, so that the other files are completed in any case."""
    try:
        journal.close()
    except PerfError as error:
        return error
    return None
