"""The demo project, and its command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from perfdrv.cli import cli
from perfdrv.command_line.groups import Session
from perfdrv.project import Project

ROOT = Path(__file__).resolve().parents[3]

Perfdrv = Callable[..., Result]


@pytest.fixture
def repository() -> Project:
    """Return the project of this repository."""
    return Project(ROOT)


@pytest.fixture
def project(demo: Path) -> Project:
    """Return a small project with commands and a flow that need no cluster."""
    return Project(demo)


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of all runs, empty."""
    root = tmp_path / "runs"
    root.mkdir()
    monkeypatch.setenv("PERF_RUNS_DIR", str(root))
    return root


@pytest.fixture
def perfdrv(demo: Path) -> Perfdrv:
    """Return a function that runs the command line on the demo project; the result's `exception` has any error."""

    def call(*words: str) -> Result:
        return CliRunner().invoke(cli, ["--project", str(demo), *words], obj=Session(), prog_name="perfdrv")

    return call
