"""Shell completion."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from perfdrv.cli import cli
from perfdrv.command_line.groups import Session
from perfdrv.project import Project


def completions_of(*words: str) -> list[str]:
    """Return the completions of the last word."""
    *before, last = words
    complete = ShellComplete(cli, {"obj": Session()}, "perfdrv", "_PERFDRV_COMPLETE")
    return [item.value for item in complete.get_completions(list(before), last)]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["r"], ["run", "runs", "report", "replot"]),
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
        (["settings", "presets", "d"], ["demo"]),
        (["settings", "preset", "q"], ["quick"]),
        (["settings", "show", "demo", "--host", "s"], ["sutest"]),
        (["run", "demo", "-s", "demo_"], ["demo_seconds=", "demo_fails=", "demo_note="]),
        (["run", "demo", "-s", "demo_fails="], ["demo_fails=true", "demo_fails=false"]),
        (["run", "demo", "-s", "demo_fails=f"], ["demo_fails=false"]),
        (["toolbox", "demo", "greet", "-s", "demo_greet_to"], ["demo_greet_token=", "demo_greet_tone="]),
        (["toolbox", "demo", "greet", "-s", "demo_greet_tone="], ["demo_greet_tone=warm", "demo_greet_tone=cool"]),
        (["settings", "show", "demo", "-s", "demo_n"], ["demo_note="]),
    ],
)
def test_names_are_completed(
    words: list[str], expected: list[str], project: Project, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project.root)
    (runs / "demo-1").mkdir()
    (runs / "demo-1" / "run.json").write_text("{}", encoding="utf-8")
    assert completions_of(*words) == expected


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["new", ""], ["flow", "command", "kpi", "package"]),
        (["new", "kpi", "kube_b"], ["kube_burner"]),
        (["new", "kpi", "skeleton", "x", "--of", "tests."], ["tests.pods", "tests.waited_s"]),
        (["new", "command", "nfd_o"], ["nfd_operator"]),
    ],
)
def test_templates_for_new_items_are_completed(
    words: list[str], expected: list[str], repository: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(repository.root)
    assert sorted(completions_of(*words)) == sorted(expected)


def test_labs_are_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.setenv("PERFLAB_HOME", str(tmp_path))
    assert completions_of("lab", "down", "--name", "o") == ["other"]


@pytest.mark.slow
def test_bash_receives_the_names_of_settings(project: Project) -> None:
    completed = "COMP_WORDS=(perfdrv run demo -s demo_s); COMP_CWORD=4; _perfdrv_completion perfdrv"
    script = f'eval "$(perfdrv completion bash)"; {completed} 2>/dev/null; echo "${{COMPREPLY[@]}}"'
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    words = ["bash", "-c", script]
    done = subprocess.run(
        words, cwd=project.root, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "demo_seconds=\n"


def test_runs_complete_outside_a_project_with_a_named_folder(
    tmp_path: Path, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (runs / "demo-1").mkdir()
    (runs / "demo-1" / "run.json").write_text("{}", encoding="utf-8")
    assert completions_of("runs", "show", "d") == ["demo-1"]


@pytest.mark.parametrize("words", [["run", ""], ["toolbox", ""], ["run", "x", "-p", ""]])
def test_nothing_is_completed_outside_a_project(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert completions_of(*words) == []
