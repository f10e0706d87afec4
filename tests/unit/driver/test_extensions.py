"""Entry points by which other packages extend perfdrv: commands, and functions that run after a run."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner, Result
from perfdrv import __main__ as program
from perfdrv.cli import cli
from perfdrv.command_line.groups import Session
from perfdrv.errors import DriverError, UsageError
from perfdrv.execution.after_run import EndedRun, load_hooks

from tests.unit.driver.conftest import ROOT

MODULE = """
import sys

import click
from perfdrv.command_line.groups import Lazy

COMMANDS = {"wave": Lazy("extension_of_tests.waving:wave", "Wave to the cluster.", in_project=False)}
TAKEN = {"flows": Lazy("extension_of_tests.waving:wave", "List the flows again.")}
BOTH = COMMANDS | {"greet": Lazy("extension_of_tests.waving:wave", "Greet.", in_project=False)}
NUMBER = 3


def hook(run):
    (run.directory / "hook").write_text(f"{run.exit_code} {run.finalized}")
    return 4
"""
COMMAND = """
import click


@click.command()
def wave():
    click.echo("o/")
"""
Add = Callable[[str], None]


@pytest.fixture
def add(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Install a package with these entry points."""

    def installed(entry_points: str) -> None:
        folder = tmp_path / "site"
        package = folder / "extension_of_tests"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(MODULE)
        (package / "waving.py").write_text(COMMAND)
        (folder / "extension_of_tests-1.dist-info").mkdir()
        (folder / "extension_of_tests-1.dist-info" / "METADATA").write_text("Name: extension-of-tests\nVersion: 1\n")
        (folder / "extension_of_tests-1.dist-info" / "entry_points.txt").write_text(entry_points)
        monkeypatch.syspath_prepend(str(folder))
        for name in [name for name in sys.modules if name.startswith("extension_of_tests")]:
            monkeypatch.delitem(sys.modules, name)

    return installed


def commands(value: str) -> str:
    """Return the entry point of a table of commands."""
    return f"[perfdrv.commands]\nwaving = {value}\n"


def test_added_command_is_listed_without_import_and_runs(add: Add, perfdrv: Callable[..., Result]) -> None:
    add(commands("extension_of_tests:COMMANDS"))
    assert "\n  wave        Wave to the cluster.\n" in perfdrv("--help").output
    assert "extension_of_tests.waving" not in sys.modules
    assert perfdrv("wave").output == "o/\n"


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ("extension_of_nobody:COMMANDS", "ModuleNotFoundError: No module named 'extension_of_nobody'"),
        ("extension_of_tests:MISSING", "AttributeError: module 'extension_of_tests' has no attribute 'MISSING'"),
        ("extension_of_tests:NUMBER", "it is not a Mapping"),
    ],
)
def test_broken_entry_point_is_one_error_and_other_commands_work(
    value: str, problem: str, add: Add, capsys: pytest.CaptureFixture[str]
) -> None:
    add(commands(value))
    for words in (["--help"], ["ci", "--help"], ["unknown"]):
        assert program.main(words) == 1
        text = capsys.readouterr().err
        assert f"entry point waving = {value} of extension-of-tests" in text
        assert problem in text
        assert text.count("\n") == 1
    assert program.main(["completion", "bash"]) == 0
    complete = ShellComplete(cli, {"obj": Session()}, "perfdrv", "_PERFDRV_COMPLETE")
    assert [item.value for item in complete.get_completions([], "fl")] == ["flows"]


def test_command_hides_an_added_one_of_its_name(add: Add, perfdrv: Callable[..., Result]) -> None:
    add(commands("extension_of_tests:TAKEN"))
    text = " ".join(perfdrv("--help").output.split())
    assert "List the flows. (Hides the command of the entry point waving = extension_of_tests:TAKEN of" in text
    assert "o/" not in perfdrv("flows").output


def test_name_of_two_added_commands_is_refused_and_others_work(add: Add, capsys: pytest.CaptureFixture[str]) -> None:
    add(commands("extension_of_tests:COMMANDS") + "again = extension_of_tests:BOTH\n")
    assert program.main(["wave"]) == 2
    text = capsys.readouterr().err
    assert text.startswith("Error: the entry point again = extension_of_tests:BOTH of extension-of-tests and the entry")
    assert text.endswith("of extension-of-tests add the command wave; remove one of the packages\n")
    assert program.main(["greet"]) == 0
    assert program.main(["--help"]) == 0
    assert "remove one of the packages" in " ".join(capsys.readouterr().out.split())


def test_group_lists_the_other_commands_of_a_name_used_twice(tmp_path: Path) -> None:
    (tmp_path / "ansible.cfg").touch()
    (tmp_path / "collections").symlink_to(ROOT / "collections")
    meta = tmp_path / "roles" / "nfd_has_labels" / "meta"
    meta.mkdir(parents=True)
    (meta / "main.yml").write_text("dependencies: [role: psap.perf.command]\n")
    (meta / "argument_specs.yml").write_text("argument_specs: {main: {}}\n")

    def perfdrv(*words: str) -> Result:
        return CliRunner().invoke(cli, ["--project", str(tmp_path), *words], obj=Session(), prog_name="perfdrv")

    assert "wait-gpu-nodes" in perfdrv("toolbox", "nfd", "--help").output
    assert perfdrv("toolbox", "nfd", "wait-gpu-nodes", "--help").exit_code == 0
    assert "rename one of them" in perfdrv("commands", "nfd").output
    refused = perfdrv("toolbox", "nfd", "has-labels", "--help").exception
    assert isinstance(refused, UsageError)
    assert "are commands of one name; rename one of them" in str(refused)


def test_installation_without_entry_points_is_an_error(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **_group: ())
    assert program.main(["ci", "run"]) == 1
    assert capsys.readouterr().err == "Error: no entry point in the group perfdrv.commands: install psap-perf again\n"


@pytest.mark.parametrize(("of_run", "code"), [(0, 4), (3, 3)])
def test_hook_gets_the_run_and_sets_the_exit_code(of_run: int, code: int, add: Add, tmp_path: Path) -> None:
    add("[perfdrv.after_run]\nwaving = extension_of_tests:hook\n")
    assert load_hooks()(EndedRun(tmp_path, of_run, finalized=True)) == code
    assert (tmp_path / "hook").read_text() == f"{of_run} True"


def test_broken_hook_is_reported_before_the_run(add: Add, runs: Path, perfdrv: Callable[..., Result]) -> None:
    add("[perfdrv.after_run]\nwaving = extension_of_nobody:hook\n")
    result = perfdrv("run", "demo")
    assert isinstance(result.exception, DriverError)
    assert list(runs.iterdir()) == []
