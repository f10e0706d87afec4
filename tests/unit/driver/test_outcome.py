"""The outcome of a run, regardless of Ansible's end."""

from __future__ import annotations

import json
from dataclasses import dataclass
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
from perfdrv.ansible.request import RunRequest
from perfdrv.ansible.workers import Finished
from perfdrv.errors import UsageError
from perfdrv.execution.settle import error_text, settle
from perfdrv.project import Project
from perfdrv.runs.outcome import read_outcome
from perfdrv.views.ending import ending_lines

FACTS = {"flow": "demo", "argv": ["perfdrv", "run", "demo"]}
ERROR = ("[WARNING]: something", "[ERROR]: preset_a extends itself", "Origin: presets/a.yml:2:3", "", "1 preset_a:")


@dataclass(frozen=True)
class Stop:
    """The user's request to stop."""

    interrupted: bool = False
    killed: bool = False


def finished(directory: Path, code: int | None, tail: tuple[str, ...] = ()) -> Finished:
    """Return an Ansible process that ended with a code."""
    request = RunRequest(Project(directory), "demo", directory / "demo.yml", directory.parent, directory)
    return Finished(request, code, tail)


def run_json(directory: Path) -> Any:
    """Return the run's document."""
    return json.loads((directory / "run.json").read_text())


def test_ansible_failure_before_its_start_leaves_a_run(tmp_path: Path) -> None:
    outcome = settle(finished(tmp_path, 4, ERROR), FACTS, Stop())
    assert (outcome.status, outcome.exit_code) == ("refused", 2)
    assert run_json(tmp_path)["flow"] == "demo"
    assert run_json(tmp_path)["reason"]["what"].startswith("[ERROR]: preset_a extends itself\nOrigin: presets/a.yml")


@pytest.mark.parametrize(
    ("code", "stop", "expected"),
    [
        (None, Stop(), ("interrupted", 130)),
        (None, Stop(interrupted=True, killed=True), ("interrupted", 130)),
        (143, Stop(), ("interrupted", 130)),
        (250, Stop(), ("failed", 70)),
        (4, Stop(), ("refused", 2)),
    ],
)
def test_unfinished_run_gets_its_real_outcome(
    code: int | None, stop: Stop, expected: tuple[str, int], tmp_path: Path
) -> None:
    begin_attempt(tmp_path, FACTS)
    outcome = settle(finished(tmp_path, code, ERROR), FACTS, stop)
    assert (outcome.status, outcome.exit_code) == expected
    assert run_json(tmp_path)["ended"] is not None
    assert run_json(tmp_path)["attempts"][0]["status"] == expected[0]


def test_outcome_written_by_the_collection_is_kept(tmp_path: Path) -> None:
    begin_attempt(tmp_path, FACTS)
    reason = {"what": "Lost workloads", "directory": None}
    end_attempt(tmp_path, "failed", 5, reason)
    outcome = settle(finished(tmp_path, 2), FACTS, Stop())
    assert (outcome.status, outcome.exit_code, outcome.reason) == ("failed", 5, reason)


def test_ansible_that_aborts_is_not_interrupted(tmp_path: Path) -> None:
    begin_attempt(tmp_path, FACTS)
    end_attempt(tmp_path, "interrupted", 130, {"what": "ended before its last play", "kind": ""})
    assert settle(finished(tmp_path, 4, ERROR), FACTS, Stop()).status == "refused"


@pytest.mark.parametrize("stop", [Stop(interrupted=True), Stop()])
def test_run_asked_to_stop_is_interrupted(stop: Stop, tmp_path: Path) -> None:
    begin_attempt(tmp_path, FACTS)
    end_attempt(tmp_path, "interrupted", 130, {"what": "asked to stop", "kind": "Interrupted"})
    assert settle(finished(tmp_path, 2), FACTS, stop).status == "interrupted"


def test_error_begins_at_ansibles_message() -> None:
    assert error_text(ERROR).splitlines()[0] == "[ERROR]: preset_a extends itself"
    assert error_text(("ok: [localhost]",)) == ""


def test_last_lines_state_what_why_where_and_directory(tmp_path: Path) -> None:
    begin_attempt(tmp_path, FACTS)
    end_attempt(tmp_path, "failed", 1, {"what": "a", "why": "b\nc", "where": "d:1", "directory": "001__x"})
    outcome = settle(finished(tmp_path, 2), FACTS, Stop())
    assert ending_lines(outcome, "demo", 61.2) == [
        "demo: failed after 1m01s",
        "  what  a",
        "  why   b",
        "        c",
        "  where d:1",
        f"  see   {tmp_path / '001__x'}",
    ]


def interrupted_run(directory: Path, flow: str = "demo") -> list[str]:
    """Return the last lines of an interrupted run of *flow* with settings."""
    begin_attempt(directory, {**FACTS, "flow": flow})
    end_attempt(directory, "interrupted", 130, None)
    (directory / "settings.yml").write_text("{}", encoding="utf-8")
    return ending_lines(read_outcome(directory), flow, 1.0)


def test_interrupted_run_prints_how_to_resume_and_clean_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_RUNS_DIR", str(tmp_path.parent))
    line = interrupted_run(tmp_path)[-1]
    assert f"perfdrv run --resume {tmp_path.name} completes it" in line
    assert f"perfdrv runs finalize {tmp_path.name} cleans up" in line
    update_run(tmp_path, {"finalized": "2026-01-01T00:00:00.000Z"})
    assert "finalize" not in ending_lines(read_outcome(tmp_path), "demo", 1.0)[-1]


def test_run_elsewhere_is_printed_with_its_path(tmp_path: Path) -> None:
    directory = tmp_path / "of a job" / "demo-1"
    directory.mkdir(parents=True)
    line = interrupted_run(directory)[-1]
    assert line == (
        f"  next  perfdrv run --resume '{directory}' completes it; "
        f"perfdrv runs finalize '{directory}' cleans up after it"
    )


def test_single_command_offers_cleanup_but_no_resume(tmp_path: Path) -> None:
    assert interrupted_run(tmp_path, "toolbox")[1:] == [f"  next  perfdrv runs finalize {tmp_path} cleans up after it"]


def test_run_of_another_process_is_left_unchanged(tmp_path: Path) -> None:
    begin_attempt(tmp_path, FACTS)
    before = run_json(tmp_path)
    hold(tmp_path)
    try:
        with pytest.raises(UsageError, match="is still running"):
            settle(finished(tmp_path, 2), FACTS, Stop())
    finally:
        release(tmp_path)
    assert run_json(tmp_path) == before
