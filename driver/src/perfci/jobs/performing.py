"""What a job does: a whole run, or one step of it on the run that the steps share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.run.directory import REPORT_FOLDER
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, TEST
from perfdrv.ansible.request import RunRequest, json_vars
from perfdrv.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK, UsageError
from perfdrv.execution.finalize import finalize_on_full_disk
from perfdrv.execution.launch import launch
from perfdrv.execution.matrix import launch_side_by_side
from perfdrv.execution.resume import require_at_rest, start
from perfdrv.runs.outcome import Outcome, read_outcome
from perfdrv.runs.store import read_entry
from perfdrv.views.ending import conclude, report_of, reports

from perfci.exporting.deliver import Delivery, deliver
from perfci.jobs.job import Job
from perfci.jobs.records import FINISHED
from perfci.jobs.session import JobSession
from perfci.jobs.state import JobState, StepRecord, begun, hand_over, read_state, take_over
from perfci.jobs.steps import JobStep, failed_before, tags_left_out

# of the grace, for what is written after the last finalizer
_RESERVE_SECONDS = 3.0
_RUN = "run"


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


def require_room(job: Job) -> None:
    """Refuse a folder that has the files of another job, which would be overwritten.

    Raises:
        UsageError: it has.
    """
    if (job.artifacts / FINISHED).exists():
        raise UsageError(
            f"{job.artifacts} has the artifacts of an earlier job: remove them, or set another ARTIFACT_DIR."
        )


def run_all_steps(plan: Plan, session: JobSession) -> int:
    """Do all steps as one run.

    Raises:
        UsageError: the run was refused.
    """
    job, choice = session.job, plan.state.choice
    session.remarks = plan.remarks
    session.state = plan.state
    for name in dict.fromkeys((*choice.skip, *choice.only)):
        if why := choice.left_out(name):
            session.state = session.state.with_step(StepRecord(name, "skipped", EXIT_OK, utc_now(), utc_now(), why))
    session.save(begun(_RUN))
    request = replace(
        plan.request, skip_tags=(*plan.request.skip_tags, *tags_left_out(choice)), grace=grace_for_finalizers(job)
    )
    if choice.left_out("test"):
        request = _may_be_idle(request)
    outcome = start(request, plan.jobs)
    finalize_on_full_disk(request, outcome)
    code = _concluded(session, outcome, _RUN, plan.request.flow, report=not choice.left_out("plots"))
    session.to_tell = True
    return code if choice.left_out("export") else _exported(session, deliver(outcome.directory), code)


def _exported(session: JobSession, delivery: Delivery, code: int) -> int:
    """Have the files of the job say it where only the export failed; returns the exit code."""
    if delivery.lost and not code:
        session.why = f"the run was not exported: {delivery.lost}"
    return delivery.exit_code(code)


def run_step(plan: Plan, step: JobStep, session: JobSession) -> int:
    """Do one step, on the run that the steps before it began.

    Raises:
        UsageError: the step was given other settings than those before it.
    """
    job = session.job
    known = read_state(job)
    if known is not None and known.given != plan.state.given:
        raise UsageError(
            f"{step.name} was given another flow or other settings than the first step of this job: give all steps "
            "the same ones, since the run of a job has one of each."
        )
    session.remarks = plan.remarks
    state = session.state = _without_living(_with_run_of_killed(job, known)) if known else plan.state
    session.run = take_over(job, state)
    # whatever becomes of it, it is the one that says what came of the run
    session.to_tell = step.tag == CLEANUP
    why = state.choice.left_out(step.name) or plan.state.choice.left_out(step.name)
    if why:
        return _not_done(session, step, "skipped", EXIT_OK, why)
    former = failed_before(step, state.statuses())
    if former and not step.always:
        record = state.record_of(former)
        return _not_done(session, step, "not run", record.exit_code if record else EXIT_FAILED, f"{former} failed")
    session.save(begun(step.name))
    if not step.tag:
        return _READ[step.name](session, step)
    outcome = _launch_step(plan, step, session, former)
    code = _concluded(session, outcome, step.name, plan.request.flow, step.tag == TEST)
    return _exported_in_part(session, code)


def _exported_in_part(session: JobSession, code: int) -> int:
    """Export a run that later steps get only a part of; whatever they export is put to that."""
    state, run = session.state, session.run
    if state is None or run is None:
        return code
    left_out = state.left_out or hand_over(session.job, run)
    if not left_out:
        return code
    delivery = deliver(run, whole=not state.left_out)
    session.note_left_out(left_out)
    return _exported(session, delivery, code)


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


def _launch_step(plan: Plan, step: JobStep, session: JobSession, former: str) -> Outcome:
    """Run the step's plays: those of a new run, or a further attempt at the one of the job."""
    directory = session.run
    request = replace(plan.request, tags=(step.tag,), grace=grace_for_finalizers(session.job))
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


def _concluded(session: JobSession, outcome: Outcome, name: str, flow: str, report: bool) -> int:
    """Note how it ended before anything else, then make the report."""
    session.run = outcome.directory if outcome.directory.is_dir() else None
    code = EXIT_OK if outcome.status == "ok" else outcome.exit_code
    reason = outcome.reason or {}
    why = ": ".join(str(reason[key]).strip().partition("\n")[0] for key in ("what", "why") if reason.get(key))
    record = session.state.record_of(name) if session.state else None
    session.save(StepRecord(name, outcome.status, code, record.started if record else utc_now(), utc_now(), why))
    if session.run is None:
        session.why = why
    # should the report be cut short, everything else is there
    session.write(code)
    conclude(outcome, flow, session.seconds, report_wanted=report)
    return code


def _not_done(session: JobSession, step: JobStep, status: str, code: int, why: str) -> int:
    """Say that a step is left out, or not carried out because of one before it."""
    session.save(StepRecord(step.name, status, code, utc_now(), utc_now(), why))
    session.why = why if code else ""
    click.echo(f"{step.name}: {status}: {why}")
    return code


def _plots(session: JobSession, step: JobStep) -> int:
    """Make the report of the run once more."""
    if session.run is None or not read_entry(session.run).document:
        return _not_done(session, step, "skipped", EXIT_OK, "there is no run to report")
    if session.state and session.state.left_out:
        why = f"the run is here without {session.state.left_out}; its report is in the artifacts of the test"
        return _not_done(session, step, "skipped", EXIT_OK, why)
    said, made = _report(session.run)
    return _done(session, step, "" if made else said)


def _report(run: Path) -> tuple[str, bool]:
    """Make the report of a run; what is said of that, and whether it is made."""
    said = report_of(run)
    click.echo(f"report  {said}")
    return said, _has_report(run) and not said.startswith("not ")


def _has_report(run: Path) -> bool:
    return (run / REPORT_FOLDER / "index.html").is_file()


def _export(session: JobSession, step: JobStep) -> int:
    """Export the run as the steps before left it, with the report, which does not come from their folders."""
    run = session.run
    if run is None or not read_entry(run).document:
        return _not_done(session, step, "skipped", EXIT_OK, "there is no run to export")
    left_out = session.state.left_out if session.state else ""
    if not left_out and reports(run) and not _has_report(run):
        _report(run)
    delivery = deliver(run, whole=not left_out)
    if not delivery.place and not delivery.lost:
        return _not_done(session, step, "skipped", EXIT_OK, "the setting export_to is empty")
    session.to_tell = True
    return _done(session, step, delivery.lost)


def _done(session: JobSession, step: JobStep, why: str) -> int:
    """Note how a step that runs no plays ended: it failed where there is something to say."""
    status, code = ("failed", EXIT_FAILED) if why else ("ok", EXIT_OK)
    record = session.state.record_of(step.name) if session.state else None
    session.save(StepRecord(step.name, status, code, record.started if record else utc_now(), utc_now(), why))
    session.why = f"{step.name}: {why}" if why else ""
    return code


_READ: Mapping[str, Callable[[JobSession, JobStep], int]] = {"plots": _plots, "export": _export}
