"""The root of the command line: help, suggestions, errors as sentences and exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from ansible_collections.psap.perf.plugins.module_utils.settings import project as content
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import read_flow
from click.testing import Result
from perfdrv import __main__ as program
from perfdrv.cli import COMMANDS, cli
from perfdrv.command_line.groups import LazyGroup
from perfdrv.command_line.tables import column_widths, print_table
from perfdrv.errors import UsageError
from perfdrv.project import Project

HEAVY = ("ansible_runner", "kubernetes", "matplotlib", "pandas", "perfanalysis.workloads", "perflab", "rich", "yaml")


@pytest.fixture
def main(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Return a function that runs the program; it returns the exit code and stderr."""

    def call(*words: str) -> tuple[int, str]:
        code = program.main(list(words))
        return code, capsys.readouterr().err

    return call


def test_help_lists_every_command(perfdrv: Callable[..., Result]) -> None:
    result = perfdrv("--help")
    assert result.exit_code == 0
    assert all(f"\n  {name} " in result.output for name in COMMANDS)


def test_help_imports_nothing_heavy() -> None:
    code = (
        f"import sys\nfrom perfdrv.__main__ import main\nmain(['--help'])\nassert not set({HEAVY}) & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str, perfdrv: Callable[..., Result]) -> None:
    result = perfdrv(name, "--help")
    assert result.exit_code == 0
    assert "Usage: perfdrv" in result.output


def test_every_command_of_a_group_has_a_summary() -> None:
    context = click.Context(cli)
    groups = [cli.get_command(context, name) for name in ("runs", "settings")]
    for group in groups:
        assert isinstance(group, click.Group)
        assert all(command.help for command in group.commands.values())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["rum"], "unknown command 'rum'; did you mean run"),
        (["settings", "expalin"], "did you mean explain?"),
        (["run", "--jbos", "2"], "No such option '--jbos'"),
        (["run", "demo", "--jobs", "0"], "is not in the range x>=1"),
        (["run"], "no flow: name one"),
        (["run", "dmo"], "unknown flow 'dmo'; did you mean demo?"),
        (["run", "demo", "-p", "qick"], "unknown preset 'qick'; did you mean quick?"),
        (["run", "demo", "-i", "elsewere"], "unknown site 'elsewere'; did you mean elsewhere?"),
        (["run", "demo", "-s", "demo_seconds"], "write KEY=VALUE"),
        (["run", "demo", "-e", "@nowhere.yml"], "does not exist"),
        (["run", "demo", "-e", "{demo_seconds: [1"], "not YAML"),
        (["run", "demo", "-e", "[1, 2]"], "must be a mapping"),
        (["run", "--resume", "x", "--replay", "y"], "give one of them"),
        (["run", "--resume", "x"], "no runs in "),
        (["runs", "show", "x"], "no runs in "),
        (["report", "x"], "no runs in "),
        (["toolbox", "dmo"], "unknown command 'dmo'; did you mean demo?"),
        (["toolbox", "demo", "gret"], "unknown command 'gret'; did you mean greet?"),
        (["toolbox", "demo", "greet", "--nam", "x"], "No such option '--nam'. Did you mean '--name'?"),
        (["toolbox", "demo", "greet", "--count", "x"], "must be an int"),
        (["toolbox", "demo", "greet", "--tone", "loud"], "must be one of warm, cool"),
        (["commands", "dmo"], "unknown group 'dmo'; did you mean demo?"),
        (["settings", "show", "dmo"], "unknown flow 'dmo'"),
        (["settings", "explain", "demo_secnds"], "did you mean demo_seconds?"),
        (["settings", "explain", "demo_seconds", "--host", "nope"], "the site has no host nope; its hosts are"),
        (["settings", "preset", "qick"], "did you mean quick?"),
        (["settings", "diff", "quick", "nothing"], "neither a preset nor a run"),
    ],
)
def test_invalid_input_is_one_sentence_and_exits_with_2(
    words: list[str],
    sentence: str,
    project: Project,
    runs: Path,
    main: Callable[..., tuple[int, str]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(project.root)
    code, text = main(*words)
    assert (code, "Traceback" in text) == (2, False)
    assert sentence in text
    assert list(runs.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (
            ["settings", "show", "-e", "@{tmp}"],
            2,
            "-e @{tmp}: it is a folder; write @ and the path of a YAML or JSON file",
        ),
        (["settings", "show", "-e", "@{tmp}/pipe"], 2, "-e @{tmp}/pipe: it is not a regular file"),
        (["settings", "show", "-e", "@{tmp}/none"], 2, "-e @{tmp}/none: the file does not exist"),
        (["report", "{tmp}"], 2, "{tmp} is not a run directory: it has no run.json"),
        (["report", "{tmp}/pipe"], 2, "{tmp}/pipe is not a run directory: it is a file"),
        (["replot", "--from-file", "{tmp}/none"], 2, "cannot read the list of runs {tmp}/none: No such file"),
        (["runs", "list", "--runs-dir", "https://ada:pw123@host/x"], 2, "'https://(secret)@host/x' is an address"),
        (["report", "-o", "https://ada:pw123@host/x"], 2, "is an address; pass a folder of this machine"),
        (["replot", "https://ada:pw123@host/x"], 2, ""),
    ],
)
def test_path_of_the_wrong_type_is_named(
    words: list[str],
    code: int,
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.setenv("PERF_RUNS_DIR", str(tmp_path / "runs"))
    assert program.main([word.format(tmp=tmp_path) for word in words]) == code
    printed = capsys.readouterr()
    assert sentence.format(tmp=tmp_path) in printed.err
    assert "pw123" not in printed.out + printed.err
    assert not (tmp_path / "https:").exists()


RUN = ("scale_test-20261120T093000Z-5f3a1c", "interrupted", "2026-11-20 09:29:29", "12m31s")


@pytest.mark.parametrize(
    ("row", "width", "columns"),
    [
        ((*RUN, "too far away"), 120, 5),
        ((*RUN, "cannot reach https://api.example.com:6443/: no route to host"), 80, 4),
        ((*RUN, "gone"), 60, 2),
        ((*RUN, "gone"), 20, 1),
        (("scale_test_count", "[10, 20]", "default (playbooks/scale_test/settings.yml)"), 80, 3),
        (("", "", ""), 80, 3),
    ],
)
def test_terminal_columns_break_no_word(row: tuple[str, ...], width: int, columns: int) -> None:
    widths = column_widths([row], width)
    assert len(widths) == columns
    assert sum(widths) + 2 * (columns - 1) <= width
    assert all(wide >= min(len(cell), 19) for wide, cell in zip(widths, row, strict=False))


def test_settings_show_reads_each_file_once(perfdrv: Callable[..., Result], monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []

    def counted(path: Path, *arguments: Any) -> Any:
        read.append(path)
        return read_flow(path, *arguments)

    monkeypatch.setattr(content, "read_flow", counted)
    assert perfdrv("settings", "show", "demo").exit_code == 0
    assert sorted(read) == sorted(set(read))


def test_settings_are_those_of_the_flows_host(perfdrv: Callable[..., Result], tmp_path: Path) -> None:
    site = tmp_path / "site"
    (site / "host_vars").mkdir(parents=True)
    hosts = "all: {hosts: {localhost: {}}, children: {clusters: {hosts: {sutest: {}}}}}\n"
    (site / "hosts.yml").write_text(hosts, encoding="utf-8")
    (site / "host_vars" / "sutest.yml").write_text("demo_seconds: 17\n", encoding="utf-8")
    explain = ("settings", "explain", "demo_seconds", "-i", str(site))
    assert perfdrv(*explain).output.startswith("demo_seconds = 17\n")
    assert "17" not in perfdrv(*explain, "--host", "localhost").output.splitlines()[0]


def test_unreadable_inventory_is_an_error_with_the_reason(perfdrv: Callable[..., Result], tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("all: [a\n", encoding="utf-8")

    error = perfdrv("settings", "show", "demo", "-i", str(tmp_path)).exception

    assert isinstance(error, UsageError)
    assert f"Ansible cannot read the inventory of the site {tmp_path}" in str(error)
    assert "YAML parsing failed" in str(error)


def test_settings_presets_lists_those_of_a_flow(perfdrv: Callable[..., Result]) -> None:
    names = [line.split()[0] for line in perfdrv("settings", "presets", "demo").output.splitlines()[1:]]

    assert names == ["long", "quick"]
    assert "demo_seconds" in perfdrv("settings", "preset", "quick").output


def test_long_value_does_not_widen_other_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "value", "origin"), [("a", "x" * 400, "file"), ("b", "short", "file")])
    heading, long, short = capsys.readouterr().out.splitlines()
    assert (heading, short) == ("name  value  origin", "b     short  file")
    assert len(long) > 400


@pytest.mark.parametrize("words", [["flows"], ["run", "demo"], ["toolbox", "demo", "greet"], ["runs", "list"]])
def test_command_outside_a_project_is_refused(
    words: list[str], tmp_path: Path, main: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = main(*words)
    assert code == 2
    assert text.startswith(f"Error: no psap.perf project at or above {tmp_path}:")


def test_package_is_created_outside_a_project(
    tmp_path: Path, main: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main("new", "package", "waves")[0] == 0
    assert (tmp_path / "waves/src/ansible_collections/waves/toolbox/playbooks/waves.yml").is_file()
    code, text = main("new", "flow", "waves")
    assert code == 2
    assert text.startswith(f"Error: no psap.perf project at or above {tmp_path}:")


def test_folder_that_is_no_project_is_refused(tmp_path: Path, main: Callable[..., tuple[int, str]]) -> None:
    code, text = main("--project", str(tmp_path), "flows")
    assert code == 2
    assert "is not a psap.perf project" in text


def test_internal_error_is_one_line_and_exits_with_70(
    main: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_words: object) -> None:
        raise ZeroDivisionError("by nought")

    monkeypatch.setattr(LazyGroup, "get_command", broken)
    code, text = main("flows")
    assert code == 70
    assert text == "Error: internal error: ZeroDivisionError: by nought; for the traceback: perfdrv --debug …\n"
    with pytest.raises(ZeroDivisionError):
        main("--debug", "flows")


def test_ctrl_c_outside_a_run_exits_with_130(
    main: Callable[..., tuple[int, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LazyGroup, "get_command", interrupted)
    code, text = main("flows")
    assert (code, "Error: interrupted" in text) == (130, True)


def test_version_is_that_of_the_distribution(perfdrv: Callable[..., Result]) -> None:
    assert perfdrv("--version").output.startswith("perfdrv 0.")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script(shell: str, perfdrv: Callable[..., Result]) -> None:
    result = perfdrv("completion", shell)
    assert result.exit_code == 0
    assert "_PERFDRV_COMPLETE" in result.output
