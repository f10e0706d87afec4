"""Ctrl-C once and twice, and what is true after a kill -9 of the driver or of Ansible."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import time

import pytest

from .conftest import DEADLINE_SECONDS, PERFDRV, Driver, Gone

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
JOBS = pytest.mark.parametrize("jobs", ["1", "2"])
LONG = ("run", "demo", "-s", "demo_seconds=[60, 61]", "--jobs")


@JOBS
def test_the_first_ctrl_c_lets_finalizers_run(jobs: str, driver: Driver, gone: Gone) -> None:
    process = driver.start(*LONG, jobs)
    driver.wait_for_sleep()
    process.send_signal(signal.SIGINT)
    ended = driver.end(process)
    assert ended.code == 130, ended.out + ended.err
    assert "stopping: finalizers run; Ctrl-C again to stop at once" in ended.out
    assert driver.document()["status"] == "interrupted"
    assert driver.document()["attempts"][0]["status"] == "interrupted"
    steps = driver.steps()
    assert [status for name, status in steps.items() if name.endswith("demo__sleep")] == ["interrupted"] * int(jobs)
    assert driver.cleaned() == ["ok"]
    gone("sleep")


def test_sigterm_is_a_request_to_stop_too(driver: Driver) -> None:
    process = driver.start(*LONG, "1")
    driver.wait_for_sleep()
    process.send_signal(signal.SIGTERM)
    assert driver.end(process).code == 130
    assert driver.cleaned() == ["ok"]


def test_ctrl_c_while_ansible_starts_is_not_lost(driver: Driver) -> None:
    process = driver.start(*LONG, "1")
    driver.runs.mkdir(exist_ok=True)
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not any(driver.runs.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert driver.end(process).code == 130
    assert not any("cell" in name for name in driver.steps())
    assert driver.document()["status"] == "interrupted"


@JOBS
def test_the_second_ctrl_c_stops_at_once(jobs: str, driver: Driver, gone: Gone) -> None:
    process = driver.start(*LONG, jobs)
    driver.wait_for_sleep()
    process.send_signal(signal.SIGINT)
    driver.wait_for("stop", "asked")
    process.send_signal(signal.SIGINT)
    ended = driver.end(process)
    assert ended.code == 130
    document = driver.document()
    assert (document["status"], document["attempts"][0]["status"]) == ("interrupted", "interrupted")
    assert document["ended"] is not None
    gone("")


@JOBS
def test_after_kill_9_of_the_driver_nothing_goes_on(jobs: str, driver: Driver, gone: Gone) -> None:
    process = driver.start(*LONG, jobs)
    driver.wait_for_sleep()
    process.kill()
    process.wait()
    gone("")
    (shown,) = json.loads(driver("runs", "list", "--json").out)
    assert shown["status"] == "interrupted"
    assert not any(driver.temporary.iterdir())
    assert driver("runs", "finalize", "latest").code == 0
    document = driver.document()
    assert (document["status"], document["exit_code"]) == ("interrupted", 130)
    assert [attempt["status"] for attempt in document["attempts"]] == ["interrupted", "ok"]
    assert document["finalized"]
    assert driver.cleaned() == ["ok"]


def test_after_kill_9_of_all_of_it_the_next_run_sweeps_up(driver: Driver) -> None:
    process = driver.start(*LONG, "1")
    driver.wait_for_sleep()
    for pid in (*driver.processes("perfdrv.worker"), process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    assert [path.name for path in driver.temporary.iterdir() if path.name.startswith("perfdrv-private-")]
    driver("toolbox", "demo", "tidy")
    assert not any(path.name.startswith("perfdrv-private-") for path in driver.temporary.iterdir())


def test_after_kill_9_of_ansible_the_run_can_be_resumed(driver: Driver, gone: Gone) -> None:
    process = driver.start("run", "demo", "-s", "demo_seconds=3")
    driver.wait_for_sleep()
    os.kill(min(driver.processes("bin/ansible-playbook")), signal.SIGKILL)
    ended = driver.end(process)
    assert ended.code == 130
    assert "ansible-playbook was killed by a signal" in ended.out
    assert driver.document()["status"] == "interrupted"
    gone("sleep")
    resumed = driver("run", "--resume", "latest")
    assert resumed.code == 0, resumed.out + resumed.err
    assert driver.document()["status"] == "ok"
    assert [attempt["status"] for attempt in driver.document()["attempts"]] == ["interrupted", "ok"]


def test_the_live_picture_on_a_terminal(driver: Driver) -> None:
    """Ctrl-C is typed, as a user does it: the terminal sends it to the driver's whole process group."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(driver.project)
        variables = {"PERF_RUNS_DIR": str(driver.runs), "TMPDIR": str(driver.folder), "TERM": "xterm-256color"}
        os.environ.update(variables, COLUMNS="120", LINES="40")
        os.execv(PERFDRV, ["perfdrv", *LONG, "1"])
    seen = b""
    text = ""
    typed = False
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        try:
            seen += os.read(terminal, 1 << 16)
        except OSError:
            break
        text = ESCAPES.sub("", seen.decode(errors="replace"))
        if not typed and "● 001 demo sleep" in text:
            typed = True
            os.write(terminal, b"\x03")
    os.close(terminal)
    _pid, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 130, text
    assert "stopping: finalizers run" in text
    assert "demo: interrupted after" in text
    assert driver.cleaned() == ["ok"]
