"""The list of runs, the page of a run, and the ways to name one."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.run.directory import (
    begin_attempt,
    end_attempt,
    hold,
    release,
    update_run,
)
from click.testing import CliRunner, Result
from perfci.judging.record import Verdict, record
from perfci.notifying.message import message_of
from perfdrv import __main__ as program
from perfdrv.cli import cli
from perfdrv.command_line.groups import Session
from perfdrv.errors import UsageError
from perfdrv.execution.launch import Attempt
from perfdrv.project import Project
from perfdrv.runs.outcome import Outcome
from perfdrv.runs.store import find_run, former_site, list_runs, read_entry

REASON = {"what": "demo_fail: Out of reach", "why": "too far away", "where": "x.yml:3", "directory": "001__demo__fail"}


@pytest.fixture
def make_run(runs: Path) -> Callable[..., Path]:
    """Return a function that creates a run with the collection's own functions."""

    def make(name: str, status: str | None = "ok", reason: dict[str, Any] | None = None) -> Path:
        directory = runs / name
        (directory / "001__demo__fail").mkdir(parents=True)
        state = {"status": "running" if status is None else status, "started": "2026-01-01T00:00:00.000Z"}
        (directory / "001__demo__fail" / "status.json").write_text(json.dumps(state), encoding="utf-8")
        begin_attempt(directory, {"flow": "demo", "site": "local", "argv": []})
        if status is not None:
            end_attempt(directory, status, {"ok": 0}.get(status, 1), reason)
        return directory

    return make


def test_empty_folder_has_no_runs(runs: Path, perfdrv: Callable[..., Result]) -> None:
    assert perfdrv("runs", "list").output == f"No runs in {runs}.\n"
    assert perfdrv("runs", "list", "--status", "ok").output == f"No such runs in {runs}.\n"


def test_runs_of_a_named_folder_are_shown_outside_a_project(
    make_run: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_run("demo-1")
    monkeypatch.chdir(tmp_path)

    def outside(*words: str) -> Result:
        return CliRunner().invoke(cli, ["runs", *words], obj=Session())

    assert "demo-1" in outside("list").output
    assert "demo-1" in outside("show", "latest").output
    assert "no psap.perf project" in str(outside("finalize", "latest").exception)
    monkeypatch.delenv("PERF_RUNS_DIR")
    assert "no psap.perf project" in str(outside("list").exception)


def test_list_shows_status_and_first_failure(make_run: Callable[..., Path], perfdrv: Callable[..., Result]) -> None:
    make_run("demo-1")
    make_run("demo-2", "failed", REASON)
    make_run("demo-3", None)
    rows = [line.split() for line in perfdrv("runs", "list").output.splitlines()[1:]]
    assert [(row[0], row[1]) for row in rows] == [("demo-1", "ok"), ("demo-2", "failed"), ("demo-3", "interrupted")]
    assert rows[1][-3:] == ["too", "far", "away"]


def test_list_and_page_of_a_run_show_its_verdict(make_run: Callable[..., Path], perfdrv: Callable[..., Result]) -> None:
    judged, plain = make_run("demo-1"), make_run("demo-2")
    record(judged, Verdict("worse", exit_code=4, reason="1 KPI worse than before: wait", source="history", runs=6))
    record(plain, Verdict("ok", counts={"no_change": 3, "better": 0}, source="history", runs=6))
    make_run("demo-3")
    headings, *lines = perfdrv("runs", "list").output.splitlines()
    rows = [line[headings.index("verdict") : headings.index("started")].strip() for line in lines]
    assert rows == ["worse", "ok", ""]
    assert "verdict   worse: 1 KPI worse than before: wait\n" in perfdrv("runs", "show", "demo-1").output
    assert "verdict   ok: 3 no change\n" in perfdrv("runs", "show", "demo-2").output
    assert "verdict" not in perfdrv("runs", "show", "demo-3").output


@pytest.mark.parametrize("odd", [{"started": 17}, {"attempts": 3}, {"attempts": [3]}, {"presets": "a"}])
def test_run_json_with_wrong_types_hides_no_other_run(
    odd: dict[str, Any], make_run: Callable[..., Path], perfdrv: Callable[..., Result]
) -> None:
    make_run("demo-1")
    update_run(make_run("demo-2"), odd)
    rows = [line.split() for line in perfdrv("runs", "list").output.splitlines()[1:]]
    assert {row[0] for row in rows} == {"demo-1", "demo-2"}
    [name] = odd
    shown = perfdrv("runs", "show", "demo-2").output
    assert "damaged" in shown
    assert f"run.json: the field {name} has a wrong type" in shown


@pytest.mark.parametrize(
    "odd",
    [
        {"presets": [1, None]},
        {"reason": "text", "status": "failed"},
        {"exit_code": [1]},
        {"attempts": [{"started": 17, "ended": {}}]},
        {"started": "0001-01-01T00:00:00+14:00"},
    ],
)
def test_unexpected_values_in_run_json_are_shown(
    odd: dict[str, Any], make_run: Callable[..., Path], perfdrv: Callable[..., Result]
) -> None:
    directory = make_run("demo-1")
    update_run(directory, odd)
    assert perfdrv("runs", "list").exit_code == 0
    assert perfdrv("runs", "show", "demo-1").exit_code == 0
    assert message_of(directory, (), "").run == "demo-1"


@pytest.mark.parametrize("number", [10**400, "x", [1]])
def test_invalid_numbers_in_progress_are_left_out(
    number: object, make_run: Callable[..., Path], perfdrv: Callable[..., Result]
) -> None:
    artifacts = make_run("demo-1") / "001__demo__fail" / "artifacts"
    artifacts.mkdir()
    progress = {"numbers": {"sent": {"value": 1, "per_s": number}}, "durations": {"d": {"count": 1, "p50_s": number}}}
    (artifacts / "progress.json").write_text(json.dumps(progress))
    result = perfdrv("runs", "show", "demo-1")
    assert result.exit_code == 0
    assert "1 sent" in result.output


@pytest.mark.parametrize("text", ["[" * 200_000, '{"a":' * 200_000, '{"a":' + "[" * 900 + "]" * 900 + "}"])
def test_deeply_nested_run_json_hides_no_other_run(
    text: str, make_run: Callable[..., Path], perfdrv: Callable[..., Result]
) -> None:
    make_run("demo-1")
    (make_run("demo-2") / "run.json").write_text(text)
    result = perfdrv("runs", "list")
    assert result.exit_code == 0
    assert "demo-1" in result.output
    assert "nested more than 100 levels deep" in result.output


@pytest.mark.parametrize("name", ["report", "run.lock", ".reserve", "stop", "001__demo__fail", "timeline.csv"])
def test_run_with_links_is_not_written(
    name: str, make_run: Callable[..., Path], tmp_path: Path, perfdrv: Callable[..., Result]
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    directory = make_run("demo-1", None)
    (directory / "settings.yml").write_text("all: {export_to: {value: 's3://bucket/x'}}")
    shutil.rmtree(directory / name, ignore_errors=True)
    (directory / name).unlink(missing_ok=True)
    (directory / name).symlink_to(outside / "file" if "." in name or name == "stop" else outside)
    for words in (("runs", "finalize"), ("run", "--resume"), ("export",)):
        assert f"{name} is a symbolic link; remove it" in str(perfdrv(*words, "demo-1").exception)
    assert list(outside.iterdir()) == []
    assert (directory / name).is_symlink()


def test_run_that_captured_links_can_be_finalized(
    make_run: Callable[..., Path], tmp_path: Path, perfdrv: Callable[..., Result]
) -> None:
    artifacts = make_run("demo-1", None) / "001__demo__fail" / "artifacts"
    artifacts.mkdir()
    (artifacts / "current").symlink_to(tmp_path)
    assert perfdrv("runs", "finalize", "demo-1").exit_code == 0


def test_locked_run_is_running(make_run: Callable[..., Path], perfdrv: Callable[..., Result]) -> None:
    directory = make_run("demo-1", None)
    hold(directory)
    try:
        (entry,) = json.loads(perfdrv("runs", "list", "--json").output)
    finally:
        release(directory)
    assert entry["status"] == "running"


def test_list_can_be_filtered(make_run: Callable[..., Path], perfdrv: Callable[..., Result]) -> None:
    for number in range(4):
        make_run(f"demo-{number}", "failed" if number % 2 else "ok")
    assert [run["id"] for run in json.loads(perfdrv("runs", "list", "--json", "--status", "ok").output)] == [
        "demo-0",
        "demo-2",
    ]
    assert [run["id"] for run in json.loads(perfdrv("runs", "list", "--json", "-n", "1").output)] == ["demo-3"]
    assert json.loads(perfdrv("runs", "list", "--json", "--flow", "other").output) == []


def test_damaged_run_does_not_hide_others(
    make_run: Callable[..., Path], runs: Path, perfdrv: Callable[..., Result]
) -> None:
    make_run("demo-1")
    (runs / "demo-2").mkdir()
    (runs / "demo-2" / "run.json").write_text("{", encoding="utf-8")
    (runs / "no-run").mkdir()
    result = perfdrv("runs", "list")
    assert result.exit_code == 0
    assert "damaged" in result.output
    assert "no-run" not in result.output
    assert "cannot be read" in perfdrv("runs", "show", "demo-2").output
    assert "run.json cannot be read" in str(perfdrv("run", "--resume", "demo-2").exception)


def test_run_is_found_by_id_prefix_path_and_latest(make_run: Callable[..., Path], runs: Path) -> None:
    first, second = make_run("demo-1a"), make_run("other-2")
    assert find_run(runs, "demo-1a") == first
    assert find_run(runs, "oth") == second
    assert find_run(runs, str(first)) == first
    assert find_run(runs, "latest") == list_runs(runs)[-1].directory
    make_run("demo-zzz", "refused")
    assert find_run(runs, "latest") == list_runs(runs)[-2].directory


@pytest.mark.parametrize(
    ("name", "sentence"), [("demo", "beginning of 2 runs: demo-2, demo-1"), ("dem0-1", "did you mean demo-1")]
)
def test_ambiguous_name_is_refused(name: str, sentence: str, make_run: Callable[..., Path], runs: Path) -> None:
    make_run("demo-1")
    make_run("demo-2")
    with pytest.raises(UsageError, match=sentence):
        find_run(runs, name)


def test_complete_id_wins_over_a_longer_one(make_run: Callable[..., Path], runs: Path) -> None:
    short = make_run("demo-1")
    make_run("demo-12")
    assert find_run(runs, "demo-1") == short


def test_run_page_shows_steps_and_reason(make_run: Callable[..., Path], perfdrv: Callable[..., Result]) -> None:
    directory = make_run("demo-1", "failed", REASON)
    text = perfdrv("runs", "show", "demo-1").output
    for part in ("status    failed", "site      local", "why   too far away", "where x.yml:3", str(directory)):
        assert part in text
    document = json.loads(perfdrv("runs", "show", "demo-1", "--json").output)
    assert document["reason"]["what"] == REASON["what"]
    assert [step["directory"] for step in document["steps"]] == ["001__demo__fail"]


def test_page_of_a_killed_run_shows_nothing_running(
    make_run: Callable[..., Path], perfdrv: Callable[..., Result]
) -> None:
    make_run("demo-1", None)
    assert perfdrv("runs", "show").output.splitlines()[-1] == "interrupted 001__demo__fail"


def test_page_is_only_named_without_a_display(
    make_run: Callable[..., Path], perfdrv: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = make_run("demo-1")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    result = perfdrv("runs", "open")
    assert (result.exit_code, result.stdout.strip()) == (0, str(directory))
    assert "no display" in result.stderr


def test_open_prints_the_report_or_the_folder(make_run: Callable[..., Path], perfdrv: Callable[..., Result]) -> None:
    directory = make_run("demo-1")
    assert perfdrv("runs", "open", "--print").output.strip() == str(directory)
    (directory / "report").mkdir()
    (directory / "report" / "index.html").write_text("", encoding="utf-8")
    assert perfdrv("runs", "open", "--print").output.strip() == str(directory / "report" / "index.html")


def test_running_run_is_neither_finalized_nor_resumed(
    make_run: Callable[..., Path], perfdrv: Callable[..., Result]
) -> None:
    directory = make_run("demo-1", None)
    hold(directory)
    try:
        results = [perfdrv("runs", "finalize", "demo-1"), perfdrv("run", "--resume", "demo-1")]
    finally:
        release(directory)
    assert all("is still running" in str(result.exception) for result in results)


def test_run_without_settings_cannot_be_resumed(make_run: Callable[..., Path], perfdrv: Callable[..., Result]) -> None:
    make_run("demo-1", None)
    assert "start a new run" in str(perfdrv("run", "--resume", "demo-1").exception)
    assert "keeps its settings" in str(perfdrv("run", "--resume", "demo-1", "-p", "quick").exception)


def test_run_without_changes_is_only_marked_ended(
    demo: Path, make_run: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    directory = make_run("demo-1", None)
    code = program.main(["--project", str(demo), "runs", "finalize", "demo-1"])
    assert (code, "finalizing demo-1: ok" in capsys.readouterr().out) == (0, True)
    document = json.loads((directory / "run.json").read_text())
    assert (document["reason"]["what"], "finalized" in document) == ("the run was killed", True)
    assert (document["status"], document["exit_code"]) == ("interrupted", 130)
    assert document["ended"] is not None
    assert document["attempts"][0]["status"] == "interrupted"


def test_site_of_a_run_is_found_again_without_a_substitute(
    demo: Path, make_run: Callable[..., Path], tmp_path: Path
) -> None:
    (tmp_path / "hosts.yml").touch()
    directory = make_run("demo-1")

    def found(site: str) -> str | None:
        update_run(directory, {"site": site})
        return former_site(Project(demo), read_entry(directory))

    assert [found(site) for site in ("elsewhere", f"{tmp_path}/hosts.yml", "default")] == [
        "elsewhere",
        f"{tmp_path}/hosts.yml",
        None,
    ]
    for gone in (f"{tmp_path}/gone.yml", "gone"):
        with pytest.raises(UsageError, match=r"demo-1 used the site .*gone.*restore it"):
            found(gone)


def test_duration_of_a_run_excludes_time_between_attempts(
    make_run: Callable[..., Path], perfdrv: Callable[..., Result]
) -> None:
    spans = [("10:00:00", "10:00:20"), ("14:00:00", "14:00:05")]
    attempts = [
        {"number": number, "status": "ok", "started": f"2026-01-01T{start}Z", "ended": f"2026-01-01T{end}Z"}
        for number, (start, end) in enumerate(spans, 1)
    ]
    update_run(make_run("demo-1"), {"attempts": attempts})
    assert "took      25 s\n" in perfdrv("runs", "show", "demo-1").output


@pytest.mark.parametrize("cleaned", [True, False])
def test_finalized_run_keeps_its_status_and_is_not_ok(
    cleaned: bool, make_run: Callable[..., Path], perfdrv: Callable[..., Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = make_run("demo-1", None)
    (directory / "settings.yml").write_text("all: {report_enabled: {value: false}}\n", encoding="utf-8")
    written: list[Mapping[str, Any]] = []

    def write(path: Path, document: Mapping[str, Any]) -> None:
        if path.name == "run.json":
            written.append(document)
        path.write_text(json.dumps(document), encoding="utf-8")

    def join(attempt: Attempt, tags: tuple[str, ...]) -> Outcome:
        assert tags == ("cleanup", "conclude")
        reason = None if cleaned else {"what": "no cluster", "where": "", "directory": None}
        return Outcome(attempt.request.directory, *(("ok", 0) if cleaned else ("failed", 3)), reason)

    monkeypatch.setattr(f"{update_run.__module__}.write_json", write)
    monkeypatch.setattr(Attempt, "join", join)
    assert ("no cluster" in perfdrv("runs", "finalize", "demo-1").output) is not cleaned
    # After a kill at any moment, run.json has one of these; "running" without a lock means interrupted.
    assert {document["status"] for document in written} == {"running", "interrupted"}
    assert all(document["reason"] for document in written if len(document["attempts"]) == 2 and document != written[1])
    document = written[-1]
    assert (document["status"], document["exit_code"]) == ("interrupted", 130)
    assert [attempt["status"] for attempt in document["attempts"]] == ["interrupted", "ok" if cleaned else "failed"]
    assert ("finalized" in document) is cleaned


def test_page_of_a_running_run_shows_progress_and_percentiles(
    make_run: Callable[..., Path], perfdrv: Callable[..., Result]
) -> None:
    directory = make_run("demo-1", None)
    artifacts = directory / "001__demo__fail" / "artifacts"
    artifacts.mkdir()
    few = {"count": 3, "p50_s": 12.345, "p90_s": None, "p99_s": None}
    steps = {
        "time_to_scheduled": {"count": 120, "p50_s": 0.0214, "p90_s": 0.9994, "p99_s": 1.5},
        "time_to_completed": few,
        "time_to_running": {"count": 0, "p50_s": None, "p90_s": None, "p99_s": None},
    }
    numbers = {"submitted": {"value": 120, "of": 300, "per_s": 41.0}, "completed": {"value": 3}}
    counts = {"phase": "submitting", "numbers": numbers}
    (artifacts / "progress.json").write_text(json.dumps({**counts, "durations": steps}), encoding="utf-8")
    hold(directory)
    try:
        lines = perfdrv("runs", "show", "demo-1").output.splitlines()
    finally:
        release(directory)
    assert any("submitting: 120 of 300 submitted (41.0/s), 3 completed" in line for line in lines)
    assert lines[-4] == "001__demo__fail so far"
    assert [line.split() for line in lines[-3:]] == [
        ["count", "p50", "p90", "p99"],
        ["time", "to", "scheduled", "120", "21", "ms", "999", "ms", "1.50", "s"],
        ["time", "to", "completed", "3", "12.3", "s", "-", "-"],
    ]
    assert max(map(len, lines[-3:])) <= 80
    ended = perfdrv("runs", "show", "demo-1").output.splitlines()
    assert ended[-4] == "001__demo__fail"
