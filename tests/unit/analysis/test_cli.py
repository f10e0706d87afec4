"""The command line: exit codes, one sentence per error, quick help."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from perfanalysis.__main__ import main, run

from tests.data.synthetic_runs import Shape, write_run

HEAVY = ("pandas", "numpy", "matplotlib", "pyarrow", "jinja2", "yaml")


def test_report_prints_the_page(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(small_run)]) == 0
    assert capsys.readouterr().out == f"Report: {small_run / 'report' / 'index.html'}\n"


def test_report_can_be_written_elsewhere(small_run: Path, tmp_path: Path) -> None:
    assert run(["report", str(small_run), "--output", str(tmp_path / "out")]) == 0
    assert (tmp_path / "out" / "index.html").is_file()


def test_lost_workloads_exit_with_5(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = write_run(tmp_path, [Shape(workloads=40, nodes=5, duration=1.0, lost=0.1)])
    assert run(["report", str(directory)]) == 5
    assert (directory / "report" / "index.html").is_file()
    error = capsys.readouterr().err
    assert "workloads were lost" in error
    assert "Traceback" not in error


@pytest.mark.parametrize(
    ("command", "written"), [("kpi", "kpis.json"), ("payload", "payload.json"), ("tables", "tables")]
)
def test_incomplete_data_is_written_and_exits_with_5(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, written: str
) -> None:
    directory = write_run(tmp_path, [Shape(workloads=40, nodes=5, duration=1.0, lost=0.1)])
    assert run([command, str(directory)]) == 5
    assert (directory / "report" / written).exists()
    printed = capsys.readouterr()
    assert "workloads were lost" in printed.err
    assert printed.out


@pytest.mark.parametrize("command", ["report", "kpi", "payload", "tables", "times-csv", "parse"])
def test_invalid_record_line_exits_every_command_with_5(
    small_run: Path, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    path = next(small_run.rglob("transitions.jsonl"))
    first, *others = path.read_text().splitlines()
    path.write_text("\n".join((first, "{damaged", *others)) + "\n")
    assert run([command, str(small_run)]) == 5
    assert f"{path.name}: 1 lines" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words", ["report", "kpi", "payload", "tables", "times-csv", "parse", "judge", "compare", "regress --history ."]
)
def test_no_command_writes_through_a_link_in_a_run(small_run: Path, tmp_path: Path, words: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (small_run / "report").symlink_to(outside)
    command, *options = words.split()
    assert run([command, str(small_run), *options]) == 2
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(
    "words",
    [
        ["history", "add", "{run}", "--into"],
        ["history", "list"],
        ["history", "merge", "--into", "here"],
        ["report", "{run}", "--output"],
        ["report"],
        ["payload", "{run}", "--rules"],
    ],
)
def test_url_is_not_a_path(
    words: list[str],
    small_run: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([*(word.format(run=small_run) for word in words), "https://ada:pw123@host/x"])
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert "'https://(secret)@host/x' is an address" in error
    assert not (tmp_path / "https:").exists()


def test_kpis_are_printed_in_both_formats(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["kpi", str(small_run)]) == 0
    assert json.loads(capsys.readouterr().out)["schema"] == "psap.perf/kpis/1"
    assert run(["kpi", str(small_run), "--format", "openmetrics"]) == 0
    assert capsys.readouterr().out.endswith("# EOF\n")


def test_tables_are_listed(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["tables", str(small_run)]) == 0
    names = {Path(line).name for line in capsys.readouterr().out.splitlines()}
    assert {"workloads.parquet", "latencies.parquet", "percentiles.parquet", "transitions.parquet"} <= names


@pytest.mark.parametrize("command", ["report", "kpi", "tables"])
def test_usage_error_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    assert run([command, str(tmp_path / "nowhere")]) == 2
    error = capsys.readouterr().err
    assert error.startswith("Error: ")
    assert error.count("\n") == 1
    assert not (tmp_path / "nowhere").exists()


COMMANDS = [["report"], ["kpi"], ["tables"], ["times-csv"], ["judge", "--threshold", "lost=0"]]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
def test_folder_of_runs_is_refused(small_run: Path, capsys: pytest.CaptureFixture[str], command: list[str]) -> None:
    before = sorted(small_run.parent.rglob("*"))
    assert run([*command, str(small_run.parent)]) == 2
    error = capsys.readouterr().err
    assert f"Error: {small_run.parent} is not a run directory: it contains neither run.json nor a recording" in error
    assert error.count("\n") == 1
    assert sorted(small_run.parent.rglob("*")) == before


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command[0])
@pytest.mark.parametrize("part", ["002__scale_test__submit", "002__scale_test__submit/artifacts"])
def test_part_of_a_run_is_accepted(small_run: Path, command: list[str], part: str) -> None:
    assert run([*command, str(small_run / part)]) == 0


def test_unknown_option_exits_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", "--nothing"]) == 2
    assert "No such option" in capsys.readouterr().err


def test_unexpected_error_exits_with_70(
    small_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("lost my way")

    monkeypatch.setattr("perfanalysis.reports.commands.make_report", broken)
    assert run(["report", str(small_run)]) == 70
    assert capsys.readouterr().err == "Error: internal error: RuntimeError: lost my way; run again with --debug\n"
    assert run(["report", "--debug", str(small_run)]) == 70
    assert "Traceback" in capsys.readouterr().err


def test_interrupt_exits_with_130(
    small_run: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("perfanalysis.reports.commands.make_report", interrupted)
    assert run(["report", str(small_run)]) == 130
    assert "interrupted" in capsys.readouterr().err


def test_help_imports_nothing_heavy() -> None:
    code = f"""
import sys
from perfanalysis.__main__ import main, run
assert run(["--help"]) == 0
assert run(["import", "--help"]) == 0
assert run(["history", "--help"]) == 0
print([name for name in {HEAVY} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of three runs, the newest of which was refused."""
    folder = tmp_path / "runs"
    small = write_run(tmp_path, [Shape(workloads=5, nodes=2, duration=1.0)])
    for name, status in (
        ("tune-20260101T000000Z-aaa111", "ok"),
        ("scale-20260102T000000Z-bbb222", "failed"),
        ("scale-20260103T000000Z-ccc333", "refused"),
    ):
        shutil.copytree(small, folder / name)
        document = json.loads((folder / name / "run.json").read_text())
        (folder / name / "run.json").write_text(json.dumps({**document, "id": name, "status": status}))
    monkeypatch.setenv("PERF_RUNS_DIR", str(folder))
    monkeypatch.chdir(tmp_path)
    return folder


@pytest.mark.parametrize(
    ("name", "meant"),
    [("latest", "scale-20260102T000000Z-bbb222"), ("tune", "tune-20260101T000000Z-aaa111")],
)
def test_run_is_found_by_its_driver_name(runs: Path, name: str, meant: str) -> None:
    assert run(["kpi", name]) == 0
    assert (runs / meant / "report" / "kpis.json").is_file()


def test_ambiguous_run_name_is_refused(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["kpi", "scale-2026"]) == 2
    errors = capsys.readouterr().err
    assert "scale-2026 is the beginning of 2 runs: scale-20260103T000000Z-ccc333, scale-20260102" in errors
    assert run(["kpi", str(runs / "scale")]) == 2


def test_runs_are_compared_by_id(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", "tune-20260101T000000Z-aaa111", "latest"]) == 0
    assert (runs / "scale-20260102T000000Z-bbb222" / "report" / "comparison.json").is_file()
    assert run(["compare", "tune", "latest"]) == 2
    assert "tune" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.usefixtures("runs")
def test_shell_completes_commands_and_runs() -> None:
    def offered(*words: str) -> list[str]:
        environment = {**os.environ, "_PERFANALYSIS_COMPLETE": "bash_complete", "COMP_CWORD": str(len(words))}
        environment["COMP_WORDS"] = " ".join(("perfanalysis", *words))
        command = [sys.executable, "-m", "perfanalysis"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        return done.stdout.split()

    assert offered("rep") == ["plain,report"]
    assert offered("report", "sc") == ["plain,scale-20260103T000000Z-ccc333", "plain,scale-20260102T000000Z-bbb222"]
    assert offered("compare", "tune-20260101T000000Z-aaa111", "lat") == ["plain,latest"]
    assert offered("report", "./x") == ["file,./x"]


def test_shell_script_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["completion", "bash"]) == 0
    assert "_PERFANALYSIS_COMPLETE=bash_complete" in capsys.readouterr().out
