"""Steps of a job: which ones run, the state that they share, and the report about them."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import write_json
from ansible_collections.psap.perf.plugins.module_utils.run.directory import begin_attempt, end_attempt
from ansible_collections.psap.perf.plugins.module_utils.run.failures import Failure, append_failure
from perfci.jobs.detection import detect
from perfci.jobs.job import Job
from perfci.jobs.records import Report, failure_lines, write_files
from perfci.jobs.state import (
    ARCHIVE_FILE,
    STATE_FILE,
    JobState,
    StepRecord,
    digest,
    hand_over,
    read_state,
    take_over,
    write_state,
)
from perfci.jobs.steps import Choice, failed_before, step_named, tags_left_out
from perfci.judging.record import Verdict, record
from perfdrv.errors import UsageError

from tests.schemas import check_file

STATE = JobState(build="shell-manual", flow="demo", site=None, given=digest(["demo"]))


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """Return a job whose steps have separate artifact folders."""
    _system, found = detect({"USER": "ada", "ARTIFACT_DIR": str(tmp_path / "one"), "SHARED_DIR": str(tmp_path / "all")})
    found.artifacts.mkdir()
    return found


def run_in(job: Job, status: str = "failed") -> Path:
    """Return a run below the artifacts."""
    run = job.artifacts / "demo-20260101T000000Z-abcdef"
    (run / "001__demo__fail" / "artifacts").mkdir(parents=True)
    begin_attempt(run, {"flow": "demo"})
    (run / "settings.yml").write_text("schema: psap.perf/settings/1\nall: {}\nhosts: {}\n", encoding="utf-8")
    write_json(run / "001__demo__fail" / "status.json", {"status": status, "error": "no <moon> & 'stars'"})
    (run / "001__demo__fail" / "artifacts" / "measured.bin").write_bytes(os.urandom(1 << 16))
    return run


def failure(at: str, what: str, why: str = "it broke", kind: str = "", attempt: int = 1) -> Failure:
    """Return a failed task."""
    return Failure(at, attempt, "sutest", None, what, "tasks/main.yml:2", why, 1, kind, None)


def test_steps_are_selected_by_skip_and_only() -> None:
    assert Choice.of(["test"], []).left_out("test") == "test is skipped on request"
    assert Choice.of([], ["prepare"]).left_out("test") == "only prepare requested"
    assert Choice.of([], ["prepare"]).left_out("prepare") == ""
    assert tags_left_out(Choice.of(["pre_cleanup"], ["prepare", "test"])) == ("cleanup_before", "cleanup")
    with pytest.raises(UsageError, match=r"unknown step 'tets'; did you mean test"):
        Choice.of(["tets"], [])


def test_skips_of_two_sources_are_combined() -> None:
    both = Choice.of(["plots"], ["prepare", "test"]).with_those_of(Choice.of([], ["test", "post_cleanup"]))
    assert [
        name for name in ("pre_cleanup", "prepare", "test", "post_cleanup", "plots") if not both.left_out(name)
    ] == ["test"]


@pytest.mark.parametrize(
    ("statuses", "first"),
    [({}, ""), ({"prepare": "ok"}, ""), ({"prepare": "skipped"}, ""), ({"prepare": "failed"}, "prepare"),
     ({"pre_cleanup": "killed", "prepare": "not run"}, "pre_cleanup"), ({"post_cleanup": "failed"}, "")],
)  # fmt: skip
def test_step_knows_which_earlier_step_failed(statuses: dict[str, str], first: str) -> None:
    assert failed_before(step_named("test"), statuses) == first


def test_state_of_a_step_round_trips_to_the_next(job: Job) -> None:
    state = replace(STATE, run="demo-1", choice=Choice.of(["plots"], []))
    state = state.with_step(StepRecord("prepare", "running", 0, "2026-01-01T00:00:00.000Z"))
    state = state.with_step(
        StepRecord("prepare", "failed", 3, "2026-01-01T00:00:00.000Z", "2026-01-01T00:00:01.000Z", "no")
    )
    assert read_state(job) is None
    write_state(job, state)
    check_file(job.shared / STATE_FILE)
    assert read_state(job) == state
    assert [step.status for step in state.steps] == ["failed"]


def test_state_of_another_build_is_ignored(job: Job) -> None:
    write_state(job, STATE)
    with pytest.raises(UsageError, match="is the state of shell-manual, not of shell-manual-7"):
        read_state(replace(job, build="7"))
    (job.shared / STATE_FILE).write_text('{"schema": "psap.perf/job/1", "build": 3}', encoding="utf-8")
    with pytest.raises(UsageError, match="is not the state of a job"):
        read_state(job)


@pytest.mark.parametrize(("limit", "measured", "message"), [(None, True, ""), (30_000, False, "its results")])
def test_run_is_passed_between_steps_as_space_permits(
    job: Job, tmp_path: Path, limit: int | None, measured: bool, message: str
) -> None:
    run = run_in(job)
    assert hand_over(replace(job, shared=tmp_path, shared_limit=limit), run) == message
    assert (tmp_path / ARCHIVE_FILE).stat().st_size <= (limit or 1 << 20)
    taken = take_over(replace(job, shared=tmp_path, artifacts=tmp_path / "two"), replace(STATE, run=run.name))
    assert taken == tmp_path / "two" / run.name
    assert (taken / "settings.yml").read_bytes() == (run / "settings.yml").read_bytes()
    assert (taken / "001__demo__fail" / "status.json").is_file()
    assert (taken / "001__demo__fail" / "artifacts" / "measured.bin").is_file() == measured


def test_missing_run_is_reported(job: Job) -> None:
    with pytest.raises(UsageError, match=r"is neither in .* nor in"):
        take_over(job, replace(STATE, run="demo-1"))
    assert take_over(job, STATE) is None


def test_failures_are_ordered_by_time_across_cells(job: Job) -> None:
    run = run_in(job)
    cell = run / "002__cell__0"
    cell.mkdir()
    append_failure(run, failure("2026-01-01T00:00:02.000Z", "prepare b"))
    append_failure(run, failure("2026-01-01T00:00:04.000Z", "Report the result", "cell a: it broke (see cell)"))
    append_failure(run, failure("2026-01-01T00:00:03.000Z", "a task", "stopped", "Interrupted"))
    append_failure(cell, failure("2026-01-01T00:00:01.000Z", "cell a", "it broke\nin many words"))
    end_attempt(run, "failed", 1, {"what": "cell a", "why": "it broke\nin many words"})
    lines = failure_lines(Report("perfdrv ci run demo", 1, 1.0, run))
    assert [line.split(" | ")[:3] for line in lines] == [
        ["2026-01-01T00:00:01.000Z", "cell a", "it broke"],
        ["2026-01-01T00:00:02.000Z", "prepare b", "it broke"],
    ]


@pytest.mark.parametrize("code", [1, 2, 3, 130])
def test_job_without_a_run_reports_why(job: Job, code: int) -> None:
    report = Report("perfdrv ci run demo", code, 1.0, None, "there is no setting x")
    write_files(job, report)
    assert "there is no setting x" in (job.artifacts / "FAILURES").read_text(encoding="utf-8")
    words = {1: "failed", 2: "refused", 3: "cluster unreachable or unfit", 130: "interrupted"}
    (line,) = (job.artifacts / "FINISHED").read_text(encoding="utf-8").splitlines()
    assert f"perfdrv ci run demo: {words[code]} (exit code {code})" in line


def test_all_files_of_a_job_agree(job: Job) -> None:
    run = run_in(job)
    append_failure(run, failure("2026-01-01T00:00:01.000Z", "Fail", "no <moon> | no ``` and token-9876"))
    end_attempt(run, "failed", 1, {"what": "Fail", "why": "no <moon> and token-9876"})
    steps = (
        StepRecord("prepare", "skipped", 0, "x", "x", "skipped on request"),
        StepRecord("test", "failed", 1, "x", "x", "no"),
    )
    links, summary = write_files(
        replace(job, artifacts_url="https://ci.example.com/7/"),
        Report("perfdrv ci step test demo", 1, 61.0, run, steps=steps, remarks=("said <b>so</b>",)),
        lambda text: text.replace("token-9876", "(secret)"),
    )
    files = {path.name: path.read_text(encoding="utf-8") for path in job.artifacts.iterdir() if path.is_file()}
    assert files.keys() == {"FINISHED", "FAILURES", "index.html", "junit_manual.xml", "summary.md"}
    assert not any("token-9876" in text for text in (*files.values(), summary))
    assert "<moon>" not in files["index.html"] + summary.partition("```")[0]
    assert "<b>" not in files["index.html"] + summary
    tests = {
        case.get("name"): [child.tag for child in case]
        for case in ElementTree.fromstring(files["junit_manual.xml"]).iter("testcase")
    }
    assert tests == {
        "perfdrv ci step test demo": ["failure"],
        "step prepare": ["skipped"],
        "step test": ["failure"],
        "001__demo__fail": ["failure"],
    }
    assert links[0].target == "https://ci.example.com/7/index.html"
    assert f"https://ci.example.com/7/{run.name}" in [link.target for link in links]


def test_summary_and_index_of_a_job_show_the_verdict(job: Job) -> None:
    run = run_in(job, "ok")
    end_attempt(run, "ok", 0, None)
    report = Report("perfdrv ci run demo", 4, 61.0, run)
    _links, summary = write_files(job, report)
    assert "Verdict" not in summary
    record(run, Verdict("worse", exit_code=4, reason="1 KPI worse than before: wait <s>", source="history", runs=6))
    _links, summary = write_files(job, report)
    line = "worse: 1 KPI worse than before: wait {} (compared with 6 runs of the history)"
    assert f"**Verdict** {line.format(chr(92) + '<s' + chr(92) + '>')}" in summary.splitlines()
    assert line.format("&lt;s&gt;") in (job.artifacts / "index.html").read_text(encoding="utf-8")


def test_unreachable_cluster_is_not_a_failed_test(job: Job) -> None:
    write_files(job, Report("perfdrv ci run demo", 3, 1.0, None, "no route to host"))
    document = ElementTree.fromstring((job.artifacts / "junit_manual.xml").read_text(encoding="utf-8"))
    assert [child.tag for case in document.iter("testcase") for child in case] == ["error"]
