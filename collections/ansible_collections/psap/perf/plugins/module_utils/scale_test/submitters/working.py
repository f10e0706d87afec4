"""The submitting process, from its plan to its last file."""

from __future__ import annotations

import asyncio
import signal
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.handover import decode_endpoint, read_line
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.folder import (
    ALL_SENT,
    FAILED,
    STOPPED,
    Folder,
    SubmitterStatus,
    read_go,
    ready_document,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitters.plan import SubmissionPlan, read_plan
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.concurrency import concurrency_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.submission import (
    SubmissionTools,
    Submitter,
)

_GO_POLL_S = 0.02
_TICK_S = 0.05
_PROGRESS_S = 0.5
_FIRST_CONTACT = RetryPolicy(give_up_after_s=10.0)


def main(folder: str, number: str) -> None:
    """Run process *number* of the submission in *folder*.

    Raises:
        PerfError: If it ends early; the error is also in ``done.json``, unless the disk failed.
    """
    asyncio.run(_Work(Folder(Path(folder)), int(number), decode_endpoint(read_line())).run())


class _Work:
    def __init__(self, folder: Folder, number: int, endpoint: ApiEndpoint) -> None:
        self._folder = folder
        self._number = number
        self._endpoint = endpoint
        self._own = folder.of(number)
        self._terminated = asyncio.Event()
        self._next_progress_s = 0.0

    async def run(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._terminated.set)
        self._own.path.mkdir(exist_ok=True)
        plan = read_plan(self._folder.plan)
        clock, shared = plan.local_clock()
        client = ApiClient(self._endpoint)
        rows, sending = Journal(self._own.submissions, ("error",)), Journal(self._own.sending, ())

        def announce(index: int, sent_s: float) -> None:
            sending.append({"index": index, "sent_s": sent_s})
            sending.flush()

        tools = SubmissionTools(client, clock, rows.append, announce=announce)
        error: PerfError | None = None
        try:
            async with client:
                # open a connection now, so that neither it nor the server's first answer delays the start
                await client.request("GET", "/version", policy=_FIRST_CONTACT)
                write_json(self._own.ready, ready_document(self._number, clock, shared=shared))
                began_s = await self._go()
                if began_s is not None:
                    await self._submit(plan, tools, began_s, rows)
        except PerfError as raised:
            error = raised
        for journal in (rows, sending):
            try:
                journal.close()
            except PerfError as raised:
                # the last rows may fail like earlier ones: report the first error
                error = error or raised
        ended_by = FAILED if error else STOPPED if self._stopped else ALL_SENT
        self._status(tools, clock, ended_by, str(error) if error else None).write(self._own.done)
        if error:
            raise error

    @property
    def _stopped(self) -> bool:
        return self._terminated.is_set() or self._folder.stop.exists()

    async def _go(self) -> float | None:
        """Return the time of the start; None if the submission is stopped before."""
        while (at_s := read_go(self._folder)) is None:
            if self._stopped:
                return None
            await asyncio.sleep(_GO_POLL_S)
        return at_s

    async def _submit(self, plan: SubmissionPlan, tools: SubmissionTools, began_s: float, rows: Journal) -> None:
        submitter = Submitter(tools, plan.workloads, plan.resources, self._number)
        submitting = asyncio.create_task(
            submitter.submit(
                plan.indices(self._number),
                concurrency=concurrency_of(plan.connections[self._number]),
                arrivals=plan.due,
                began_s=began_s,
            )
        )
        try:
            while not submitting.done():
                await asyncio.wait({submitting}, timeout=_TICK_S)
                rows.flush()
                self._write_progress(tools)
                if self._stopped:
                    submitter.stop()
        finally:
            submitting.cancel()
            await asyncio.gather(submitting, return_exceptions=True)
        submitting.result()

    def _write_progress(self, tools: SubmissionTools) -> None:
        now = tools.clock.now()
        if now >= self._next_progress_s:
            self._next_progress_s = now + _PROGRESS_S
            self._status(tools, tools.clock).write(self._own.progress)

    def _status(
        self, tools: SubmissionTools, clock: RunClock, ended_by: str | None = None, error: str | None = None
    ) -> SubmitterStatus:
        return SubmitterStatus.now(self._number, clock, tools.counts, tools.client.counts, ended_by, error)
