"""What the shell offers."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from perfdrv.cli import cli
from perfdrv.command_line.groups import Session
from perfdrv.project import Project


def offered(*words: str) -> list[str]:
    """The completions of the last word."""
    *before, last = words
    complete = ShellComplete(cli, {"obj": Session()}, "perfdrv", "_PERFDRV_COMPLETE")
    return [item.value for item in complete.get_completions(list(before), last)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["r"], ["run", "runs", "report"]),
        (["run", "d"], ["demo"]),
        (["run", "demo", "-p", ""], ["long", "quick"]),
        (["run", "demo", "-i", "e"], ["elsewhere"]),
        (["run", "--resume", ""], ["demo-1", "latest"]),
        (["runs", "show", "de"], ["demo-1"]),
        (["toolbox", ""], ["demo"]),
        (["toolbox", "demo", "s"], ["sleep"]),
        (["toolbox", "demo", "greet", "--to"], ["--tone", "--token"]),
        (["toolbox", "demo", "greet", "--tone", ""], ["warm", "cool"]),
        (["settings", "explain", "demo_s"], ["demo_seconds", "demo_sleep_seconds"]),
        (["settings", "diff", "q"], ["quick"]),
    ],
)
def test_names_complete(
    words: list[str], expected: list[str], project: Project, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    (runs / "demo-1").mkdir()
    (runs / "demo-1" / "run.json").write_text("{}", encoding="utf-8")
    assert offered(*words) == expected


@pytest.mark.parametrize("words", [["run", ""], ["toolbox", ""], ["run", "x", "-p", ""]])
def test_outside_a_project_nothing_is_offered(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert offered(*words) == []
