"""Programs end in time, can be interrupted, and leave no processes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import (
    Interrupted,
    PerfError,
    UsageError,
    WaitTimeoutError,
)
from ansible_collections.psap.perf.plugins.module_utils.base.program import Program, run

from tests.dead_processes import wait_until_dead

pytestmark = pytest.mark.slow
FOREVER = "import time; print('at it', flush=True); time.sleep(3600)"


def ignore(*_: str) -> None:
    """Replace the check and the listener of a program that is not interrupted."""


def python(folder: Path, text: str) -> Program:
    return Program((sys.executable, "-c", text), folder, {"WORD": "given"})


def test_program_runs_in_its_folder_with_its_environment(tmp_path: Path) -> None:
    text = "import os, pathlib; pathlib.Path('left').write_text(os.environ['WORD']); print('done')"
    run(python(tmp_path, text), tmp_path / "logs" / "run.log", 60, ignore, ignore)
    assert (tmp_path / "left").read_text() == "given"
    assert (tmp_path / "logs" / "run.log").read_text() == "done\n"


def test_failure_has_the_last_output(tmp_path: Path) -> None:
    with pytest.raises(PerfError, match=r"failed, exit code 3: no such data set; see its complete output in run\.log"):
        text = "import sys; print('no such data set'); sys.exit(3)"
        run(python(tmp_path, text), tmp_path / "run.log", 60, ignore, ignore)


def test_program_exceeding_its_time_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(WaitTimeoutError, match="did not end within 1 s"):
        run(python(tmp_path, FOREVER), tmp_path / "run.log", 1, ignore, ignore)


def test_interrupt_stops_a_running_program(tmp_path: Path) -> None:
    log = tmp_path / "run.log"

    def check() -> None:
        if "at it" in log.read_text():
            raise Interrupted("stop")

    with pytest.raises(Interrupted):
        run(python(tmp_path, FOREVER), log, 3600, check, ignore)
    # The program received SIGTERM and printed this.
    assert "KeyboardInterrupt" in log.read_text()


def test_stopped_program_leaves_no_background_job_of_its_shell(tmp_path: Path) -> None:
    log, job = tmp_path / "run.log", tmp_path / "job"

    def check() -> None:
        if "at it" in log.read_text():
            raise Interrupted("stop")

    # A shell's background jobs ignore the signal that ends the shell.
    shell = Program(("sh", "-c", f"sleep 3600 & echo $! > {job}; echo at it; wait"), tmp_path, {})
    with pytest.raises(Interrupted):
        run(shell, log, 3600, check, ignore)
    wait_until_dead(int(job.read_text()))


def test_program_that_cannot_start_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the folder .* does not exist"):
        run(Program(("python3",), tmp_path / "nowhere", {}), tmp_path / "log", 1, ignore, ignore)
    with pytest.raises(UsageError, match="the program no-such-program does not exist"):
        run(Program(("no-such-program",), tmp_path, {}), tmp_path / "log", 1, ignore, ignore)
