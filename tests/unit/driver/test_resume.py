"""The cells that a resumed run still runs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from perfdrv.ansible.request import RunRequest
from perfdrv.errors import UsageError
from perfdrv.execution import resume
from perfdrv.execution.launch import Keep
from perfdrv.execution.matrix import matrix_cells
from perfdrv.project import Project
from perfdrv.runs.outcome import Outcome


@pytest.fixture
def run(runs: Path) -> Path:
    """Return a run of six cells, one of them skipped, two complete; cell 1 took two attempts."""
    directory = runs / "demo-1"
    values = {
        "demo_seconds": [1.0, 2.0, 3.0],
        "demo_fails": [False, True],
        "matrix_skip_if": ["demo_seconds > 2.5 and demo_fails"],
    }
    recorded = {name: {"value": value, "origin": "command line"} for name, value in values.items()}
    reached = {"ansible_host": "bench.example.com"}
    directory.mkdir()
    (directory / "run.json").write_text('{"status": "failed", "exit_code": 1}', encoding="utf-8")
    (directory / "settings.yml").write_text(yaml.safe_dump({"all": recorded, "connection": reached}), encoding="utf-8")
    for number, (index, status) in enumerate([(0, "ok"), (1, "failed"), (2, "interrupted"), (1, "ok"), (3, "running")]):
        cell = directory / f"{number + 1:03d}__cell__{index}"
        cell.mkdir()
        (cell / "cell.json").write_text(json.dumps({"index": index, "status": status}), encoding="utf-8")
    return directory


def resume_request(project: Project, run: Path) -> RunRequest:
    """Return a request to resume a run."""
    return RunRequest(project, "demo", project.playbook("demo"), run.parent, run, extra_vars=("a=1",))


def test_cells_of_a_run_follow_from_its_settings(project: Project, run: Path) -> None:
    assert [cell.index for cell in matrix_cells(project, "demo", run)] == [0, 1, 2, 3, 4]


def test_resume_runs_only_incomplete_cells(project: Project, run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    launched: list[RunRequest] = []

    def launch(given: RunRequest, _keep: Keep | None) -> Outcome:
        launched.append(given)
        return Outcome(run, "ok", 0)

    monkeypatch.setattr(resume, "launch", launch)
    resume.resume(resume_request(project, run), jobs=1)
    resume_vars = {"ansible_host": "bench.example.com", "perf_replay": str(run)}
    assert launched[0].extra_vars == (json.dumps(resume_vars), "a=1", json.dumps({"perf_cells": [2, 3, 4]}))
    assert resume.completed_cells(run) == {0, 1}


def test_run_without_settings_is_refused(project: Project, runs: Path) -> None:
    empty = runs / "demo-2"
    empty.mkdir()
    with pytest.raises(UsageError, match="start a new run"):
        resume.resume(resume_request(project, empty), jobs=1)
