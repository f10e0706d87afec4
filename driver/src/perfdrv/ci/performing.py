"""Carrying out a job, whole or one step of it, so that whatever happens its files say what came of it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, TEST
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import (
    Redactor,
    credentials_of_environment,
    scan_directory,
)
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import remembered_values

from perfdrv.ansible.request import RunRequest, json_vars
from perfdrv.ci.job import Job, System
from perfdrv.ci.records import FINISHED, Report, leave
from perfdrv.ci.run_log import RUN_LOG, logged
from perfdrv.ci.state import JobState, StepRecord, begun, hand_over, read_state, take_over, write_state
from perfdrv.ci.steps import JobStep, failed_before, tags_left_out
from perfdrv.errors import EXIT_FAILED, EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_OK, UsageError, exit_code_of
from perfdrv.execution.deliver import deliver
from perfdrv.execution.finalize import finalize_on_full_disk
from perfdrv.execution.launch import launch
from perfdrv.execution.matrix import launch_side_by_side
from perfdrv.execution.resume import require_at_rest, start
from perfdrv.runs.outcome import Outcome, read_outcome
from perfdrv.runs.store import read_entry
from perfdrv.views.ending import conclude, report_of

# of the grace, for what is written after the last finalizer
_RESERVE_SECONDS = 3.0
_RUN = "run"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class Plan:
    """What the command line asks for.

    Attributes:
        state: of a job that begins with it.
        request: of the whole run, below the job's artifacts.
        remarks: what is to be said of it beside how it ends.
    """

    state: JobState
    request: RunRequest
    jobs: int
    remarks: tuple[str, ...] = ()


def grace_for_finalizers(job: Job) -> float:
    """Seconds after SIGTERM that the finalizers have."""
    return max(job.grace / 2, job.grace - _RESERVE_SECONDS)


class Ongoing:
    """A job at work: what it knows so far, from which its files are written whenever it ends."""

    def __init__(self, system: System, job: Job, words: str) -> None:
        self.system = system
        self.job = job
        self.words = words
        self.state: JobState | None = None
        self.run: Path | None = None
        self.why = ""
        self.remarks: tuple[str, ...] = ()
        self._started = time.monotonic()
        self._redactor = Redactor(credentials_of_environment())
        self._own_secrets: tuple[str, ...] = ()

    @property
    def seconds(self) -> float:
        """How long it has been at work."""
        return time.monotonic() - self._started

    def redact(self, text: str) -> str:
        """A text without the secrets that are known so far."""
        shown: str = self._redactor.redact(text)
        return shown

    def hide(self, *values: str) -> None:
        """Hide these secrets in all that is written from now on."""
        self._own_secrets += values
        for value in values:
            self._redactor.add(value)

    def hide_secrets_of_run(self) -> list[str]:
        """Have the secrets that the run used hidden too; returns them."""
        of_run = remembered_values(self.run, _no_vault) if self.run else ()
        values = [*credentials_of_environment(), *self._own_secrets, *of_run]
        for value in values:
            self._redactor.add(value)
        return values

    def save(self, record: StepRecord) -> None:
        """Leave for later steps what became of this one."""
        if self.state is not None:
            self.state = replace(self.state.with_step(record), run=self.run.name if self.run else self.state.run)
            write_state(self.job, self.state)

    def write(self, exit_code: int) -> None:
        """Write all files of the job as it stands."""
        self.hide_secrets_of_run()
        steps = self.state.steps if self.state else ()
        report = Report(self.words, exit_code, self.seconds, self.run, self.why, steps, self.remarks)
        links, summary = leave(self.job, report, self.redact)
        self.links, self.summary = links, summary

    def show(self) -> None:
        """Show links and summary where the CI system does."""
        self.system.show(self.job, self.links, self.summary, os.environ)


def _no_vault(_name: str) -> None:
    """A vault's values are Ansible's alone to read; it searched the run for them."""


def carry_out(system: System, job: Job, words: str, perform: Callable[[Ongoing], int]) -> int:
    """Carry out a job or a step, and leave its files, however it ends; returns the exit code.

    Raises:
        Exception: an error that is ours, when the files say so.
    """
    job.artifacts.mkdir(parents=True, exist_ok=True)
    ongoing = Ongoing(system, job, words)
    with logged(job.artifacts / RUN_LOG, ongoing.redact):
        unexpected: Exception | None = None
        try:
            code = perform(ongoing)
        except (KeyboardInterrupt, click.exceptions.Abort):
            code, ongoing.why = EXIT_INTERRUPTED, "interrupted"
        except Exception as error:
            known = exit_code_of(error)
            code, ongoing.why = EXIT_INTERNAL if known is None else known, str(error)
            unexpected = error if known is None else None
        with _undisturbed():
            if ongoing.why:
                click.echo(f"Error: {ongoing.why}", err=True)
            code = _end(ongoing, code)
            click.echo(f"{words}: exit code {code}; files in {job.artifacts}")
    _refuse_leaks(ongoing)
    if unexpected is not None:
        raise unexpected
    return code


def _end(ongoing: Ongoing, code: int) -> int:
    """Close what is open in the state, and write the files."""
    state = ongoing.state
    for record in state.steps if state else ():
        if record.status == "running":
            status = "interrupted" if code == EXIT_INTERRUPTED else "failed"
            ongoing.save(replace(record, status=status, exit_code=code, ended=utc_now(), why=ongoing.why))
    try:
        if ongoing.run is not None:
            left_out = hand_over(ongoing.job, ongoing.run)
            if left_out:
                click.echo(f"later steps get the run without {left_out}: it is too large for {ongoing.job.shared}")
    except (OSError, UsageError) as error:
        click.echo(f"Error: later steps cannot go on with the run: {error}", err=True)
        code = code or EXIT_FAILED
    ongoing.write(code)
    ongoing.show()
    return code


def _refuse_leaks(ongoing: Ongoing) -> None:
    """Fail a job in whose own files a secret stands.

    Raises:
        UsageError: one does; what it stands in is named, and removed where it is the log.
    """
    values = ongoing.hide_secrets_of_run()
    artifacts = ongoing.job.artifacts
    # the run itself was searched by its conclusion
    mine = {path for path in artifacts.iterdir() if path.is_file()}
    hits = sorted({hit.path for hit in scan_files(mine, values)})
    for path in hits:
        path.write_text(ongoing.redact(path.read_text(encoding="utf-8", errors="replace")), encoding="utf-8")
    if hits:
        names = ", ".join(path.name for path in hits)
        raise UsageError(f"A secret stood in clear in {names} and was taken out; find out what printed it.")


def scan_files(paths: set[Path], values: Sequence[str]) -> Iterator[Any]:
    """Every place in these files where one of the values stands."""
    for folder in {path.parent for path in paths}:
        yield from (hit for hit in scan_directory(folder, values) if hit.path in paths)


@contextlib.contextmanager
def _undisturbed() -> Iterator[None]:
    """Let no signal interrupt the last writing; a CI system has sent what it had to say."""
    former = {number: signal.signal(number, signal.SIG_IGN) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def require_room(job: Job) -> None:
    """Refuse a folder that has the files of another job, which would be overwritten.

    Raises:
        UsageError: it has.
    """
    if (job.artifacts / FINISHED).exists():
        raise UsageError(
            f"{job.artifacts} has the artifacts of an earlier job: remove them, or set another ARTIFACT_DIR."
        )


def whole(plan: Plan, ongoing: Ongoing) -> int:
    """Do all steps as one run.

    Raises:
        UsageError: the run was refused.
    """
    job, choice = ongoing.job, plan.state.choice
    ongoing.remarks = plan.remarks
    ongoing.state = plan.state
    for name in dict.fromkeys((*choice.skip, *choice.only)):
        if why := choice.left_out(name):
            ongoing.state = ongoing.state.with_step(StepRecord(name, "skipped", EXIT_OK, utc_now(), utc_now(), why))
    ongoing.save(begun(_RUN))
    request = replace(
        plan.request, skip_tags=(*plan.request.skip_tags, *tags_left_out(choice)), grace=grace_for_finalizers(job)
    )
    if choice.left_out("test"):
        request = _may_be_idle(request)
    outcome = start(request, plan.jobs)
    finalize_on_full_disk(request, outcome)
    code = _concluded(ongoing, outcome, _RUN, plan.request.flow, report=not choice.left_out("plots"))
    return deliver(outcome, code)


def one_step(plan: Plan, step: JobStep, ongoing: Ongoing) -> int:
    """Do one step, on the run that the steps before it began.

    Raises:
        UsageError: the step was given other settings than those before it.
    """
    job = ongoing.job
    known = read_state(job)
    if known is not None and known.given != plan.state.given:
        raise UsageError(
            f"{step.name} was given another flow or other settings than the first step of this job: give all steps "
            "the same ones, since the run of a job has one of each."
        )
    ongoing.remarks = plan.remarks
    state = ongoing.state = _without_living(_with_run_of_killed(job, known)) if known else plan.state
    ongoing.run = take_over(job, state)
    why = state.choice.left_out(step.name) or plan.state.choice.left_out(step.name)
    if why:
        return _not_done(ongoing, step, "skipped", EXIT_OK, why)
    former = failed_before(step, state.statuses())
    if former and not step.always:
        record = state.record_of(former)
        return _not_done(ongoing, step, "not run", record.exit_code if record else EXIT_FAILED, f"{former} failed")
    ongoing.save(begun(step.name))
    if not step.tag:
        return _plots(ongoing, step)
    return _concluded(
        ongoing, _launch_step(plan, step, ongoing, former), step.name, plan.request.flow, step.tag == TEST
    )


def _with_run_of_killed(job: Job, state: JobState) -> JobState:
    """The state with the run of a step that was killed before it could note it, where its artifacts are here."""
    if state.run is not None or not any(step.status == "running" for step in state.steps):
        return state
    found = sorted(path.parent.name for path in job.artifacts.glob(f"{state.flow}-*/run.json"))
    return replace(state, run=found[-1]) if found else state


def _without_living(state: JobState) -> JobState:
    """The state in which a step whose process is gone was killed."""
    for step in state.steps:
        if step.status == "running":
            state = state.with_step(replace(step, status="killed", exit_code=EXIT_INTERRUPTED, why="it was killed"))
    return state


def _launch_step(plan: Plan, step: JobStep, ongoing: Ongoing, former: str) -> Outcome:
    """Run the step's plays: those of a new run, or a further attempt at the one of the job."""
    directory = ongoing.run
    request = replace(plan.request, tags=(step.tag,), grace=grace_for_finalizers(ongoing.job))
    if step.tag != TEST:
        request = _may_be_idle(request)
    if directory is None:
        return start(request, plan.jobs if step.tag == TEST else 1)
    require_at_rest(directory)
    if not (directory / "settings.yml").is_file():
        # whatever ended before its settings were known touched nothing
        raise UsageError(f"{directory.name} ended before its settings were known, so there is nothing to go on with.")
    before = read_outcome(directory)
    request = replace(
        request,
        run_directory=directory,
        extra_vars=(*request.extra_vars, json_vars({"perf_replay": str(directory)})),
    )

    def keep(outcome: Outcome) -> Mapping[str, Any]:
        cleaned = step.tag == CLEANUP and outcome.status == "ok" and before.status == "interrupted"
        finalized = {"finalized": utc_now()} if cleaned else {}
        # what a step before this one came to is what the run came to
        return {**before.document(), **finalized} if former and before.status != "ok" else finalized

    if plan.jobs > 1 and step.tag == TEST:
        return launch_side_by_side(request, plan.jobs, keep=keep)
    return launch(request, keep)


def _may_be_idle(request: RunRequest) -> RunRequest:
    """A request for plays that may have nothing to do."""
    return replace(request, extra_vars=(*request.extra_vars, json_vars({"perf_expect_commands": False})))


def _concluded(ongoing: Ongoing, outcome: Outcome, name: str, flow: str, report: bool) -> int:
    """Note how it ended before anything else, then make the report."""
    ongoing.run = outcome.directory if outcome.directory.is_dir() else None
    code = EXIT_OK if outcome.status == "ok" else outcome.exit_code
    reason = outcome.reason or {}
    why = ": ".join(str(reason[key]).strip().partition("\n")[0] for key in ("what", "why") if reason.get(key))
    record = ongoing.state.record_of(name) if ongoing.state else None
    ongoing.save(StepRecord(name, outcome.status, code, record.started if record else utc_now(), utc_now(), why))
    if ongoing.run is None:
        ongoing.why = why
    # should the report be cut short, everything else is there
    ongoing.write(code)
    conclude(outcome, flow, ongoing.seconds, report_wanted=report)
    return code


def _not_done(ongoing: Ongoing, step: JobStep, status: str, code: int, why: str) -> int:
    """Say that a step is left out, or not carried out because of one before it."""
    ongoing.save(StepRecord(step.name, status, code, utc_now(), utc_now(), why))
    ongoing.why = why if code else ""
    click.echo(f"{step.name}: {status}: {why}")
    return code


def _plots(ongoing: Ongoing, step: JobStep) -> int:
    """Make the report of the run once more."""
    if ongoing.run is None or not read_entry(ongoing.run).document:
        return _not_done(ongoing, step, "skipped", EXIT_OK, "there is no run to report")
    said = report_of(ongoing.run)
    failed = not (ongoing.run / "report" / "index.html").is_file() or said.startswith("not ")
    click.echo(f"report  {said}")
    status, code = ("failed", EXIT_FAILED) if failed else ("ok", EXIT_OK)
    record = ongoing.state.record_of(step.name) if ongoing.state else None
    started = record.started if record else utc_now()
    ongoing.save(StepRecord(step.name, status, code, started, utc_now(), said if failed else ""))
    return code
