"""Failures come first: the first task with its message, the end of its log, and the captured files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from perfanalysis.drawing.blocks import Failure, Section
from perfanalysis.files.discovery import discover
from perfanalysis.reports.errors import MOST_LINES, error_section
from perfanalysis.reports.writing import make_report

from tests.data.synthetic_runs import Shape, write_json, write_run

SUBMIT = "002__scale_test__submit"


@pytest.fixture
def failed_run(tmp_path: Path) -> Path:
    return write_run(tmp_path, [Shape(workloads=40, nodes=4, duration=2.0, failing=0.2)], status="failed")


def section_of(run: Path) -> Section:
    section = error_section(discover(run, ("recording.json",)), None)
    assert section is not None
    return section


def failures(run: Path) -> list[Failure]:
    return [block for block in section_of(run).blocks if isinstance(block, Failure)]


def add_failure(run: Path, **changed: object) -> None:
    [first] = (run / "failures.jsonl").read_text().splitlines()[:1]
    with (run / "failures.jsonl").open("a") as stream:
        stream.write(json.dumps({**json.loads(first), **changed}) + "\n")


def test_first_failure_is_shown_with_its_files(failed_run: Path) -> None:
    [failure] = failures(failed_run)
    assert (failure.title, failure.word) == ("scale_test_submit", "failed first")
    assert failure.what == "scale_test_submit: Watch the workloads"
    assert failure.where == "roles/scale_test_submit/tasks/main.yml:14 (localhost)"
    assert failure.why.startswith("12 of 300 workloads failed: BackoffLimitExceeded\n")
    assert failure.directory is not None
    assert failure.directory.path == SUBMIT
    [log] = failure.logs
    assert log.link.path == f"{SUBMIT}/artifacts/recorder.log"
    assert len(log.lines) == MOST_LINES
    # Without the terminal's colours
    assert log.lines[-2:] == ("workload-0012 failed: OOMKilled (exit code 137)", "12 of 300 workloads failed")
    captured = {link.text for link in failure.captured}
    assert {"artifacts/recorder.log", "artifacts/transitions.jsonl", "FAILURE", "status.json"} <= captured
    assert section_of(failed_run).text == "The run is failed. 1 of 4 commands failed."


def test_failure_comes_before_results_with_the_timeline(failed_run: Path) -> None:
    text = make_report(failed_run).index.read_text()
    places = [text.index(part) for part in ('id="errors"', "Watch the workloads", "OOMKilled (exit", 'id="headlines"')]
    assert places == sorted(places)
    assert 'id="chart-errors-timeline"' in text
    assert f'href="../{SUBMIT}/artifacts/recorder.log"' in text


def test_links_lead_to_files_in_a_moved_run(failed_run: Path, tmp_path: Path) -> None:
    make_report(failed_run)
    moved = failed_run.rename(tmp_path / "elsewhere")
    here = moved / "report"
    links = [part.split('"')[0] for part in (here / "index.html").read_text().split('href="')[1:]]
    files = [link for link in links if not link.startswith(("#", "data:"))]
    assert len(files) > 15
    assert [link for link in files if not (here / link).exists()] == []


def test_later_failures_follow_but_not_of_other_attempts(failed_run: Path) -> None:
    add_failure(failed_run, what="cleanup: Delete", directory="090__scale_test__cleanup", finalizing=True)
    add_failure(failed_run, what="earlier", attempt=0)
    add_failure(failed_run, what="stop", kind="Interrupted", directory="001__nfd__wait_gpu_nodes")
    found = [(failure.word, failure.what) for failure in failures(failed_run)]
    assert found == [
        ("failed first", "scale_test_submit: Watch the workloads"),
        ("while cleaning up", "cleanup: Delete"),
        ("interrupted", "stop"),
    ]
    assert "The first failure is listed first" in section_of(failed_run).text


def test_recorded_absolute_folders_are_found_in_a_copy(failed_run: Path) -> None:
    (failed_run / "failures.jsonl").unlink()
    document = json.loads((failed_run / "run.json").read_text())
    document["reason"]["directory"] = f"/gone/{failed_run.name}/{SUBMIT}"
    write_json(failed_run / "run.json", document)
    [first] = failures(failed_run)
    assert first.directory is not None
    assert first.directory.path == SUBMIT


def test_task_recorded_with_full_path_is_listed_once(failed_run: Path) -> None:
    record = json.loads((failed_run / "failures.jsonl").read_text())
    whole = {**record, "directory": f"/there/{failed_run.name}/{SUBMIT}"}
    (failed_run / "failures.jsonl").write_text(json.dumps(whole) + "\n")
    [failure] = failures(failed_run)
    assert failure.what == "scale_test_submit: Watch the workloads"


def test_command_without_records_reports_its_failure(failed_run: Path) -> None:
    (failed_run / "failures.jsonl").unlink()
    document = json.loads((failed_run / "run.json").read_text())
    write_json(failed_run / "run.json", {**document, "reason": None})
    [failure] = failures(failed_run)
    assert failure.what == "Watch the workloads (scale_test_submit)"
    assert failure.why == "12 of 300 workloads failed: BackoffLimitExceeded"


@pytest.mark.parametrize("line", ["{", "5", "null", '{"attempt": "x", "what": 5, "directory": ["a"]}', "\x00"])
def test_damaged_record_does_not_hide_others(failed_run: Path, line: str) -> None:
    with (failed_run / "failures.jsonl").open("a") as stream:
        stream.write(line + "\n")
    assert failures(failed_run)[0].what == "scale_test_submit: Watch the workloads"


def test_ansible_output_outside_commands_is_shown(failed_run: Path) -> None:
    (failed_run / "failures.jsonl").write_text("")
    add = {"attempt": 1, "what": "Watch the workloads", "where": "flow.yml:3", "why": "no", "directory": None}
    (failed_run / "failures.jsonl").write_text(json.dumps(add) + "\n")
    [log] = failures(failed_run)[0].logs
    assert log.link.path == "ansible.log"
    assert log.lines[0] == "TASK [Watch the workloads] ****"


def test_killed_run_without_a_failure_is_reported(killed_run: Path) -> None:
    [failure] = failures(killed_run)
    assert failure.word == "interrupted"
    assert "the run was killed" in failure.why


def test_successful_run_has_no_error_report(small_run: Path) -> None:
    assert error_section(discover(small_run, ("recording.json",)), None) is None
    assert 'id="errors"' not in make_report(small_run).index.read_text()


def test_final_verdict_task_is_not_another_failure(failed_run: Path) -> None:
    why = "scale_test_submit: Watch the workloads: 12 of 300 workloads failed"
    add_failure(failed_run, what="Conclude the run and report its first error", why=why, directory=None, role=None)
    assert [failure.what for failure in failures(failed_run)] == ["scale_test_submit: Watch the workloads"]


def test_paths_are_relative_to_the_run(failed_run: Path) -> None:
    [line] = (failed_run / "failures.jsonl").read_text().splitlines()
    why = f"see (/gone/{failed_run.name}/{SUBMIT}/artifacts) and /etc/hosts"
    (failed_run / "failures.jsonl").write_text(json.dumps({**json.loads(line), "why": why}))
    assert failures(failed_run)[0].why == f"see ({SUBMIT}/artifacts) and /etc/hosts"
