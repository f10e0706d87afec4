"""The steps of a job: all of them as one run, or one step on the run that the steps share."""

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
from perfdrv.execution.matrix import launch_matrix
from perfdrv.execution.resume import require_at_rest, start
from perfdrv.runs.outcome import Outcome, read_outcome
from perfdrv.runs.store import read_entry
from perfdrv.views.ending import conclude, make_report_of, wants_report

from perfci.exporting.deliver import Delivery, deliver
from perfci.jobs.job import Job
from perfci.jobs.records import FINISHED
from perfci.jobs.session import JobSession
from perfci.jobs.state import JobState, StepRecord, begin_step, hand_over, read_state, take_over
from perfci.jobs.steps import JobStep, failed_before, tags_left_out
from perfci.judging.ending import judge_ended, why_skipped

# part of the grace for writing files after the last finalizer
_RESERVE_SECONDS = 3.0
_RUN = "run"


@dataclass(frozen=True, slots=True)
class Plan:
    """The plan of a job, from its command line and its pull request.

    Attributes:
        state: Initial state of the job.
        request: Request for the whole run, below the job's artifacts.
        remarks: Additional lines of the summary.
    """

    state: JobState
    request: RunRequest
    jobs: int
    remarks: tuple[str, ...] = ()


def grace_for_finalizers(job: Job) -> float:
    """Return the seconds after SIGTERM for the finalizers."""
    return max(job.grace / 2, job.grace - _RESERVE_SECONDS)


def require_room(job: Job) -> None:
    """Refuse a folder of artifacts with files of another job, which would be overwritten.

    Raises:
        UsageError: The folder has such files.
    """
    if (job.artifacts / FINISHED).exists():
        raise UsageError(
            f"{job.artifacts} has the artifacts of an earlier job: remove them, or set another ARTIFACT_DIR"
        )


def run_all_steps(plan: Plan, session: JobSession) -> int:
    """Run all steps as one run, and return the exit code.

    Raises:
        UsageError: The run was refused.
    """
    job, choice = session.job, plan.state.choice
    session.remarks = plan.remarks
    session.state = plan.state
    for name in dict.fromkeys((*choice.skip, *choice.only)):
        if why := choice.left_out(name):
            session.state = session.state.with_step(StepRecord(name, "skipped", EXIT_OK, utc_now(), utc_now(), why))
    session.save(begin_step(_RUN))
    request = replace(
        plan.request, skip_tags=(*plan.request.skip_tags, *tags_left_out(choice)), grace=grace_for_finalizers(job)
    )
    if choice.left_out("test"):
        request = _may_be_idle(request)
    outcome = start(request, plan.jobs)
    finalize_on_full_disk(request, outcome)
    code = _record_outcome(session, outcome, _RUN, plan.request.flow, report=not choice.left_out("plots"))
    if not choice.left_out("judge"):
        code = _judge_run(session, code)
    session.sends_notifications = True
    return code if choice.left_out("export") else _record_export(session, deliver(outcome.directory), code)


def _judge_run(session: JobSession, code: int) -> int:
    """Judge the run by its history, and record that as the step `judge`; return the exit code of the job.

    Args:
        code: Exit code of the job, which precedes the verdict's exit code.
    """
    if session.run is None:
        return code
    begun, verdict = begin_step("judge"), judge_ended(session.run, session.job.tests_pull_request)
    if not verdict.source:
        if why := why_skipped(session.run):
            session.remarks = (*session.remarks, f"skipped: {why}")
        return code
    why = verdict.reason or verdict.lost
    status = "failed" if verdict.exit_code else "ok"
    session.save(StepRecord("judge", status, verdict.exit_code, begun.started, utc_now(), why))
    if verdict.exit_code and not code:
        session.why = why
    return code or verdict.exit_code


def _record_export(session: JobSession, delivery: Delivery, code: int) -> int:
    """Record a failed export as the error of a job that is ok otherwise, and return the exit code."""
    if delivery.lost and not code:
        session.why = f"the run was not exported: {delivery.lost}"
    return delivery.exit_code(code)


def run_step(plan: Plan, step: JobStep, session: JobSession) -> int:
    """Run one step, on the run of the steps before it, and return the exit code.

    Raises:
        UsageError: The step has other settings than those before it.
    """
    job = session.job
    known = read_state(job)
    if known is not None and known.given != plan.state.given:
        raise UsageError(
            f"{step.name} has another flow or other settings than the first step of this job: pass all steps the same"
        )
    session.remarks = plan.remarks
    state = session.state = _with_killed_steps(_with_run_of_killed(job, known)) if known else plan.state
    session.run = take_over(job, state)
    # the cleanup, even a failed one, sends the notifications
    session.sends_notifications = step.tag == CLEANUP
    why = state.choice.left_out(step.name) or plan.state.choice.left_out(step.name)
    if why:
        return _record_skipped(session, step, "skipped", EXIT_OK, why)
    former = failed_before(step, state.statuses())
    if former and not step.always:
        record = state.record_of(former)
        return _record_skipped(
            session, step, "not run", record.exit_code if record else EXIT_FAILED, f"{former} failed"
        )
    if step.name == "judge" and state.left_out:
        click.echo(f"judge: this step has the run without {state.left_out}; the test judged it")
        return EXIT_OK
    session.save(begin_step(step.name))
    if not step.tag:
        return _READ[step.name](session, step)
    outcome = _launch_step(plan, step, session, former)
    code = _record_outcome(session, outcome, step.name, plan.request.flow, step.tag == TEST)
    return _export_in_part(session, step, code)


def _export_in_part(session: JobSession, step: JobStep, code: int) -> int:
    """Export a run of which later steps get a part only; they add their files to this export."""
    state, run = session.state, session.run
    if state is None or run is None:
        return code
    left_out = state.left_out or hand_over(session.job, run)
    if not left_out:
        return code
    # only this step has the results
    if step.tag == TEST and not state.choice.left_out("judge"):
        code = _judge_run(session, code)
    delivery = deliver(run, whole=not state.left_out)
    session.record_left_out(left_out)
    return _record_export(session, delivery, code)


def _with_run_of_killed(job: Job, state: JobState) -> JobState:
    """Return the state with the run of a step that was killed before it recorded it, if its artifacts are here."""
    if state.run is not None or not any(step.status == "running" for step in state.steps):
        return state
    found = sorted(path.parent.name for path in job.artifacts.glob(f"{state.flow}-*/run.json"))
    return replace(state, run=found[-1]) if found else state


def _with_killed_steps(state: JobState) -> JobState:
    """Return the state in which running steps, whose processes are gone, are killed."""
    for step in state.steps:
        if step.status == "running":
            state = state.with_step(
                replace(step, status="killed", exit_code=EXIT_INTERRUPTED, why="the process was killed")
            )
    return state


def _launch_step(plan: Plan, step: JobStep, session: JobSession, former: str) -> Outcome:
    """Run the step's plays as a new run, or as a further attempt at the run of the job."""
    directory = session.run
    request = replace(plan.request, tags=(step.tag,), grace=grace_for_finalizers(session.job))
    if step.tag != TEST:
        request = _may_be_idle(request)
    if directory is None:
        return start(request, plan.jobs if step.tag == TEST else 1)
    require_at_rest(directory)
    if not (directory / "settings.yml").is_file():
        # a run without recorded settings changed nothing
        raise UsageError(f"{directory.name} ended before it recorded its settings: no step can continue it")
    before = read_outcome(directory)
    request = replace(
        request,
        run_directory=directory,
        extra_vars=(*request.extra_vars, json_vars({"perf_replay": str(directory)})),
    )

    def keep(outcome: Outcome) -> Mapping[str, Any]:
        cleaned = step.tag == CLEANUP and outcome.status == "ok" and before.status == "interrupted"
        finalized = {"finalized": utc_now()} if cleaned else {}
        # the run keeps the result of its first failed step
        return {**before.document(), **finalized} if former and before.status != "ok" else finalized

    if plan.jobs > 1 and step.tag == TEST:
        return launch_matrix(request, plan.jobs, keep=keep)
    return launch(request, keep)


def _may_be_idle(request: RunRequest) -> RunRequest:
    """Return the request, changed to accept plays without a command."""
    return replace(request, extra_vars=(*request.extra_vars, json_vars({"perf_expect_commands": False})))


def _record_outcome(session: JobSession, outcome: Outcome, name: str, flow: str, report: bool) -> int:
    """Record how the step ended, then generate the report; return the exit code."""
    session.run = outcome.directory if outcome.directory.is_dir() else None
    code = EXIT_OK if outcome.status == "ok" else outcome.exit_code
    reason = outcome.reason or {}
    why = ": ".join(str(reason[key]).strip().partition("\n")[0] for key in ("what", "why") if reason.get(key))
    record = session.state.record_of(name) if session.state else None
    session.save(StepRecord(name, outcome.status, code, record.started if record else utc_now(), utc_now(), why))
    if session.run is None:
        session.why = why
    # first, in case the report is interrupted
    session.write(code)
    conclude(outcome, flow, session.seconds, report_wanted=report)
    return code


def _record_skipped(session: JobSession, step: JobStep, status: str, code: int, why: str) -> int:
    """Record and print that a step does not run; return the exit code."""
    session.save(StepRecord(step.name, status, code, utc_now(), utc_now(), why))
    session.why = why if code else ""
    click.echo(f"{step.name}: {status}: {why}")
    return code


def _plots(session: JobSession, step: JobStep) -> int:
    """Generate the report of the run again."""
    if session.run is None or not read_entry(session.run).document:
        return _record_skipped(session, step, "skipped", EXIT_OK, "no run to report")
    if session.state and session.state.left_out:
        why = f"this step has the run without {session.state.left_out}; the report is in the artifacts of the test"
        return _record_skipped(session, step, "skipped", EXIT_OK, why)
    text, made = _report(session.run)
    return _record_done(session, step, "" if made else text)


def _report(run: Path) -> tuple[str, bool]:
    """Generate the report of a run; return its path or why it failed, and whether it was generated."""
    text, made = make_report_of(run)
    click.echo(f"report  {text}")
    return text, made


def _has_report(run: Path) -> bool:
    return (run / REPORT_FOLDER / "index.html").is_file()


def _judge(session: JobSession, step: JobStep) -> int:
    """Judge the run by its history."""
    if session.run is None or not read_entry(session.run).document:
        return _record_skipped(session, step, "skipped", EXIT_OK, "no run to judge")
    code = _judge_run(session, EXIT_OK)
    if session.state and session.state.statuses().get(step.name) == "running":
        return _record_skipped(session, step, "skipped", EXIT_OK, "the setting history_source is empty")
    # updates the message of the cleanup, which did not have the verdict
    session.sends_notifications = True
    return code


def _export(session: JobSession, step: JobStep) -> int:
    """Export the run as the steps before left it, with the report, which is generated here."""
    run = session.run
    if run is None or not read_entry(run).document:
        return _record_skipped(session, step, "skipped", EXIT_OK, "no run to export")
    left_out = session.state.left_out if session.state else ""
    if not left_out and wants_report(run) and not _has_report(run):
        _report(run)
    delivery = deliver(run, whole=not left_out)
    if not delivery.place and not delivery.lost:
        return _record_skipped(session, step, "skipped", EXIT_OK, "the setting export_to is empty")
    session.sends_notifications = True
    return _record_done(session, step, delivery.lost)


def _record_done(session: JobSession, step: JobStep, why: str) -> int:
    """Record how a step without plays ended, and return the exit code.

    Args:
        why: Why it failed; empty if it is ok.
    """
    status, code = ("failed", EXIT_FAILED) if why else ("ok", EXIT_OK)
    record = session.state.record_of(step.name) if session.state else None
    session.save(StepRecord(step.name, status, code, record.started if record else utc_now(), utc_now(), why))
    session.why = f"{step.name}: {why}" if why else ""
    return code


_READ: Mapping[str, Callable[[JobSession, JobStep], int]] = {"plots": _plots, "judge": _judge, "export": _export}
