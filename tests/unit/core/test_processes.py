from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import Interrupted, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import descendants
from ansible_collections.psap.perf.plugins.module_utils.base.programs import Program, run_program


def _program(folder: Path, *argv: str, timeout_s: float = 20.0, stdin: str | None = None) -> Program:
    return Program(argv, {"ADDED": "yes"}, folder, stdin, timeout_s)


def _gone(pid: int) -> bool:
    for _ in range(100):
        stat = Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.05)
    return False


def _nothing() -> None:
    return None


def test_output_errors_and_the_environment(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = _program(tmp_path, "sh", "-c", "cat; echo $ADDED >&2; exit 3", stdin="given\n")
    ended = run_program(program, log, _nothing)
    assert ended.exit_code == 3
    assert log.read_text() == "given\nyes\n"


def _after(seconds: float, error: Exception) -> Callable[[], None]:
    end = time.monotonic() + seconds

    def check() -> None:
        if time.monotonic() > end:
            raise error

    return check


def test_a_program_and_its_children_end_when_the_user_stops(tmp_path: Path) -> None:
    log = tmp_path / "log"
    program = _program(tmp_path, "sh", "-c", "sleep 600 & echo $!; wait")
    with pytest.raises(Interrupted):
        run_program(program, log, _after(0.5, Interrupted("stop")))
    assert _gone(int(log.read_text()))


def test_a_program_that_takes_too_long_is_killed(tmp_path: Path) -> None:
    with pytest.raises(PerfError, match=r"still running after 0\.3 s"):
        run_program(_program(tmp_path, "sleep", "600", timeout_s=0.3), tmp_path / "log", _nothing)


def test_a_program_that_reads_nothing_is_killed_in_time_too(tmp_path: Path) -> None:
    # more than a pipe holds
    program = _program(tmp_path, "sleep", "600", timeout_s=0.3, stdin="x" * (1 << 20))
    with pytest.raises(PerfError, match=r"still running after 0\.3 s"):
        run_program(program, tmp_path / "log", _nothing)


def test_a_program_that_ends_without_reading_all_is_judged_by_its_exit_code(tmp_path: Path) -> None:
    ended = run_program(_program(tmp_path, "sh", "-c", "exit 3", stdin="x" * (1 << 20)), tmp_path / "log", _nothing)
    assert ended.exit_code == 3


def test_a_missing_program_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot run nosuchprogram: No such file"):
        run_program(_program(tmp_path, "nosuchprogram"), tmp_path / "log", _nothing)


def test_a_program_dies_with_the_process_that_runs_it(tmp_path: Path) -> None:
    project = Path(__file__).resolve().parents[3]
    script = (
        "import sys; from pathlib import Path; from perfdrv.collection import activate\n"
        f"activate(Path({str(project)!r}))\n"
        "from ansible_collections.psap.perf.plugins.module_utils.base.programs import Program, run_program\n"
        "folder = Path(sys.argv[1])\n"
        "run_program(Program(['sleep', '600'], {}, folder, None, 600.0), folder / 'log', lambda: None)"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)])
    try:
        for _ in range(200):
            below = descendants(process.pid)
            if below:
                break
            time.sleep(0.05)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert below
        assert all(_gone(pid) for pid in below)
    finally:
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
