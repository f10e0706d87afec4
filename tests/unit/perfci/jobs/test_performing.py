"""A job without Ansible: the plays of each step, and the job's files about its end."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import ANY

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_yaml
from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    begin_attempt,
    end_attempt,
    hold,
    release,
    update_run,
)
from perfci.exporting.deliver import Delivery
from perfci.jobs import performing
from perfci.jobs.detection import detect
from perfci.jobs.job import Job, System
from perfci.jobs.performing import Plan, require_room, run_all_steps, run_step
from perfci.jobs.session import JobSession, carry_out
from perfci.jobs.state import JobState, StepRecord, digest, read_state, write_state
from perfci.jobs.steps import Choice, step_named
from perfci.judging.record import Verdict
from perfdrv.ansible.request import RunRequest
from perfdrv.errors import UsageError
from perfdrv.project import Project
from perfdrv.runs.outcome import Outcome

RUN = "demo-20260101T000000Z-abcdef"
Keep = Callable[[Outcome], Mapping[str, Any]]


class Ansible:
    """Replace Ansible's processes: create a run that ends with the set status, and record the requests."""

    def __init__(self) -> None:
        self.requests: list[RunRequest] = []
        self.status = "ok"
        self.settings: dict[str, Any] = {"report_enabled": {"value": False}}

    def start(self, request: RunRequest, jobs: int) -> Outcome:
        """Start a new run."""
        assert jobs == 1
        return self.launch(request)

    def launch(self, request: RunRequest, keep: Keep = lambda _: {}) -> Outcome:
        """Start a new run or another attempt."""
        self.requests.append(request)
        directory = request.run_directory or request.runs_root / RUN
        if self.status == "refused":
            return Outcome(directory, "refused", 2, {"what": "a setting is wrong", "why": "no such setting: x"})
        directory.mkdir(parents=True, exist_ok=True)
        begin_attempt(directory, {"flow": request.flow})
        write_yaml(directory / "settings.yml", {"schema": "psap.perf/settings/1", "all": self.settings, "hosts": {}})
        reason = None if self.status == "ok" else {"what": "a task", "why": f"it {self.status}\nin detail"}
        outcome = Outcome(directory, self.status, {"ok": 0, "failed": 1, "interrupted": 130}[self.status], reason)
        end_attempt(directory, outcome.status, outcome.exit_code, reason, keep(outcome))
        return outcome


@pytest.fixture
def ansible(monkeypatch: pytest.MonkeyPatch) -> Ansible:
    found = Ansible()
    monkeypatch.setattr(performing, "start", found.start)
    monkeypatch.setattr(performing, "launch", found.launch)
    return found


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[System, Job]:
    monkeypatch.setenv("ARTIFACT_DIR", str(tmp_path / "artifacts"))
    return detect({"USER": "ada", "ARTIFACT_DIR": str(tmp_path / "artifacts")})


@pytest.fixture
def session(system: tuple[System, Job]) -> JobSession:
    job = system[1]
    job.artifacts.mkdir()
    return JobSession(*system, "perfdrv ci run demo")


def plan_of(project: Project, job: Job, skip: tuple[str, ...] = (), given: str = "demo") -> Plan:
    """Return the plan of `perfdrv ci … demo`."""
    request = RunRequest(project, "demo", project.playbook("demo"), job.artifacts)
    state = JobState(job.identity, "demo", None, digest([given]), choice=Choice.of(skip, ()))
    return Plan(state, request, 1, ("the pull request chose it",))


def run_one_step(project: Project, session: JobSession, name: str, **choice: Any) -> int:
    """Run one step in a separate process."""
    return run_step(plan_of(project, session.job, **choice), step_named(name), session)


def known(job: Job) -> JobState:
    """Return the state that later steps read."""
    state = read_state(job)
    assert state is not None
    return state


def text(job: Job, name: str) -> str:
    return (job.artifacts / name).read_text(encoding="utf-8")


def test_one_job_is_one_run_without_skipped_steps(project: Project, session: JobSession, ansible: Ansible) -> None:
    assert run_all_steps(plan_of(project, session.job, skip=("pre_cleanup", "test", "export")), session) == 0
    (request,) = ansible.requests
    assert request.skip_tags == ("cleanup_before", "test")
    assert json.loads(request.extra_vars[-1]) == {"perf_expect_commands": False}
    assert 0 < (request.grace or 0) < session.job.grace
    state = known(session.job)
    assert state.run == RUN
    assert state.statuses() == {"pre_cleanup": "skipped", "test": "skipped", "export": "skipped", "run": "ok"}
    assert session.sends_notifications
    assert "the pull request chose it" in text(session.job, "summary.md")


def test_failed_run_fails_its_job(project: Project, session: JobSession, ansible: Ansible) -> None:
    ansible.status = "failed"
    assert run_all_steps(plan_of(project, session.job), session) == 1
    (record,) = known(session.job).steps
    assert (record.name, record.status, record.exit_code, record.why) == ("run", "failed", 1, "a task: it failed")
    with pytest.raises(UsageError, match="has the artifacts of an earlier job"):
        require_room(session.job)


def test_refused_run_leaves_no_directory(project: Project, session: JobSession, ansible: Ansible) -> None:
    ansible.status = "refused"
    assert run_all_steps(plan_of(project, session.job), session) == 2
    assert session.run is None
    assert "a setting is wrong: no such setting: x" in text(session.job, "FAILURES")


def test_failed_export_fails_a_successful_job(
    project: Project, session: JobSession, ansible: Ansible, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    ansible.settings["export_to"] = {"value": str(tmp_path / "file" / "store")}
    assert run_all_steps(plan_of(project, session.job), session) == 1
    assert session.why.startswith("the run was not exported: failed: ")


WORSE = Verdict(status="worse", exit_code=4, reason="1 KPI worse than before: wait", source="history")


@pytest.mark.parametrize(("status", "code", "why"), [("ok", 4, WORSE.reason), ("failed", 1, "a task: it failed")])
def test_verdict_is_the_exit_code_of_a_job_that_is_ok(
    project: Project,
    session: JobSession,
    ansible: Ansible,
    monkeypatch: pytest.MonkeyPatch,
    status: str,
    code: int,
    why: str,
) -> None:
    ansible.status = status
    judged: list[tuple[str, bool]] = []

    def judge(run: Path, pull_request: bool) -> Verdict:
        judged.append((run.name, pull_request))
        return WORSE

    monkeypatch.setattr(performing, "judge_ended", judge)
    assert run_all_steps(plan_of(project, session.job), session) == code
    assert judged == [(RUN, False)]
    session.write(code)
    assert f"(exit code {code})" in text(session.job, "FINISHED")
    assert why in text(session.job, "FINISHED")
    assert known(session.job).record_of("judge") == StepRecord("judge", "failed", 4, ANY, ANY, WORSE.reason)


def test_step_judge_judges_notifies_and_is_skipped_without_a_history(
    project: Project, session: JobSession, ansible: Ansible, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_one_step(project, session, "test")
    assert run_one_step(project, session, "judge") == 0
    assert known(session.job).record_of("judge") == StepRecord(
        "judge", "skipped", 0, ANY, ANY, "the setting history_source is empty"
    )
    monkeypatch.setattr(performing, "judge_ended", lambda run, pull_request: WORSE)
    assert run_one_step(project, session, "judge") == 4
    assert session.sends_notifications
    session.record_left_out("its results")
    assert run_one_step(project, session, "judge") == 0
    assert known(session.job).statuses()["judge"] == "failed"
    assert run_one_step(project, session, "export") == 0


def test_test_judges_a_run_whose_results_later_steps_do_not_get(
    project: Project, session: JobSession, ansible: Ansible, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(performing, "hand_over", lambda job, run: "its results")
    monkeypatch.setattr(performing, "judge_ended", lambda run, pull_request: WORSE)
    assert run_one_step(project, session, "test") == 4
    assert known(session.job).statuses() == {"test": "ok", "judge": "failed"}


def test_run_with_nothing_new_is_a_remark_of_its_job(project: Project, session: JobSession, ansible: Ansible) -> None:
    plan = plan_of(project, session.job)
    run = ansible.launch(plan.request).directory
    update_run(run, {"only_if_new": {"facts": {}, "measured_by": "run-1", "why": "nothing is new: run-1"}})
    session.state, session.run = plan.state, run
    session.save(StepRecord("test", "ok", 0, "x"))
    assert run_one_step(project, session, "judge") == 0
    session.write(0)
    assert "skipped: nothing is new: run-1" in text(session.job, "summary.md")


def test_steps_are_attempts_of_one_run(project: Project, session: JobSession, ansible: Ansible) -> None:
    assert [run_one_step(project, session, name) for name in ("prepare", "test", "post_cleanup")] == [0, 0, 0]
    first, second, third = ansible.requests
    assert [request.tags for request in ansible.requests] == [("prepare",), ("test",), ("cleanup",)]
    assert first.run_directory is None
    assert second.run_directory == third.run_directory == session.job.artifacts / RUN
    replayed = {"perf_replay": str(second.run_directory)}
    assert json.loads(second.extra_vars[-1]) == replayed
    assert [json.loads(one) for one in third.extra_vars] == [{"perf_expect_commands": False}, replayed]
    assert known(session.job).statuses() == {"prepare": "ok", "test": "ok", "post_cleanup": "ok"}
    assert len(json.loads((session.job.artifacts / RUN / "run.json").read_text())["attempts"]) == 3


def test_failed_step_skips_the_test_and_cleanup_keeps_the_outcome(
    project: Project, session: JobSession, ansible: Ansible, capsys: pytest.CaptureFixture[str]
) -> None:
    ansible.status = "failed"
    assert run_one_step(project, session, "prepare") == 1
    assert run_one_step(project, session, "test") == 1
    assert "test: not run: prepare failed" in capsys.readouterr().out
    assert len(ansible.requests) == 1
    ansible.status = "ok"
    assert run_one_step(project, session, "post_cleanup") == 0
    document = json.loads((session.job.artifacts / RUN / "run.json").read_text())
    assert (document["status"], document["exit_code"], document.get("finalized")) == ("failed", 1, None)
    assert session.sends_notifications


def test_step_after_a_killed_one_finalizes_its_run(project: Project, session: JobSession, ansible: Ansible) -> None:
    ansible.status = "interrupted"
    ansible.launch(plan_of(project, session.job).request)
    write_state(session.job, plan_of(project, session.job).state.with_step(StepRecord("test", "running", 0, "x")))
    ansible.status = "ok"
    assert run_one_step(project, session, "post_cleanup") == 0
    state = known(session.job)
    assert (state.run, state.statuses()["test"], state.statuses()["post_cleanup"]) == (RUN, "killed", "ok")
    document = json.loads((session.job.artifacts / RUN / "run.json").read_text())
    assert (document["status"], bool(document["finalized"])) == ("interrupted", True)


def test_steps_with_other_settings_are_refused(project: Project, session: JobSession, ansible: Ansible) -> None:
    run_one_step(project, session, "prepare")
    with pytest.raises(UsageError, match="test has another flow or other settings than the first step"):
        run_one_step(project, session, "test", given="another")
    assert len(ansible.requests) == 1


def test_step_does_not_wait_and_continues_only_a_begun_run(
    project: Project, session: JobSession, ansible: Ansible
) -> None:
    run_one_step(project, session, "prepare")
    run = session.job.artifacts / RUN
    hold(run)
    with pytest.raises(UsageError, match="is still running"):
        run_one_step(project, session, "test")
    release(run)
    (run / "settings.yml").unlink()
    with pytest.raises(UsageError, match="ended before it recorded its settings"):
        run_one_step(project, session, "test")


@pytest.mark.parametrize(
    ("name", "why"), [("plots", "no run to report"), ("judge", "no run to judge"), ("export", "no run to export")]
)
def test_steps_that_read_a_run_are_skipped_without_one(
    project: Project, session: JobSession, capsys: pytest.CaptureFixture[str], name: str, why: str
) -> None:
    assert run_one_step(project, session, name) == 0
    assert f"{name}: skipped: {why}" in capsys.readouterr().out
    assert known(session.job).statuses() == {name: "skipped"}


def test_run_is_exported_to_the_configured_place(
    project: Project, session: JobSession, ansible: Ansible, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_one_step(project, session, "test")
    assert run_one_step(project, session, "export") == 0
    assert not session.sends_notifications
    assert known(session.job).record_of("export") == StepRecord(
        "export", "skipped", 0, ANY, ANY, "the setting export_to is empty"
    )
    monkeypatch.setattr(performing, "deliver", lambda run, whole: Delivery(place="s3://bucket/run"))
    assert run_one_step(project, session, "export") == 0
    assert session.sends_notifications
    monkeypatch.setattr(performing, "deliver", lambda run, whole: Delivery(lost="failed: no such bucket"))
    assert run_one_step(project, session, "export") == 1
    assert session.why == "export: failed: no such bucket"


def test_failed_report_fails_only_its_step(
    project: Project, session: JobSession, ansible: Ansible, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_one_step(project, session, "test")
    monkeypatch.setattr(performing, "make_report_of", lambda run: ("failed: no space is left", False))
    assert run_one_step(project, session, "plots") == 1
    assert session.why == "plots: failed: no space is left"
    assert known(session.job).statuses() == {"test": "ok", "plots": "failed"}
    session.record_left_out("its results")
    assert run_one_step(project, session, "plots") == 0
    assert known(session.job).steps[-1].why.startswith("this step has the run without its results; the report is in")


def begin_step(project: Project, session: JobSession) -> None:
    """Run a job up to the begin of its step."""
    session.state = plan_of(project, session.job).state
    session.save(StepRecord("run", "running", 0, "2026-01-01T00:00:00.000Z"))


@pytest.mark.parametrize(
    ("error", "code", "status", "why"),
    [
        (KeyboardInterrupt(), 130, "interrupted", "interrupted"),
        (UsageError("no such flow"), 2, "failed", "no such flow"),
    ],
)
def test_job_writes_its_files_however_it_ends(
    project: Project, system: tuple[System, Job], error: BaseException, code: int, status: str, why: str
) -> None:
    def perform(session: JobSession) -> int:
        begin_step(project, session)
        raise error

    job = system[1]
    assert carry_out(*system, "perfdrv ci run demo", perform) == code
    (record,) = known(job).steps
    assert (record.status, record.exit_code, record.why) == (status, code, why)
    assert f"(exit code {code})" in text(job, "FINISHED")
    assert f"Error: {why}" in text(job, "run.log")


def test_internal_error_is_raised_after_the_files_are_written(project: Project, system: tuple[System, Job]) -> None:
    def perform(session: JobSession) -> int:
        begin_step(project, session)
        raise ZeroDivisionError("a mistake")

    with pytest.raises(ZeroDivisionError):
        carry_out(*system, "perfdrv ci run demo", perform)
    assert "(exit code 70)" in text(system[1], "FINISHED")


def test_secret_in_a_job_file_fails_the_job_and_is_removed(system: tuple[System, Job]) -> None:
    secret = "planted-secret-4711"

    def perform(session: JobSession) -> int:
        (session.job.artifacts / "notes.txt").write_text(f"the token is {secret}", encoding="utf-8")
        session.hide(secret)
        return 0

    with pytest.raises(UsageError, match=r"plain-text secret found in notes\.txt"):
        carry_out(*system, "perfdrv ci run demo", perform)
    assert secret not in text(system[1], "notes.txt")


def test_run_too_large_for_the_shared_folder_fails_its_step(
    project: Project, tmp_path: Path, ansible: Ansible, capsys: pytest.CaptureFixture[str]
) -> None:
    environment = {"USER": "ada", "ARTIFACT_DIR": str(tmp_path / "one"), "SHARED_DIR": str(tmp_path / "shared")}
    system, job = detect(environment)

    def perform(session: JobSession) -> int:
        session.state = plan_of(project, session.job).state
        session.run = ansible.launch(plan_of(project, session.job).request).directory
        return 0

    assert carry_out(system, replace(job, shared_limit=1), "perfdrv ci step test demo", perform) == 1
    assert "cannot pass the run to later steps" in capsys.readouterr().err
