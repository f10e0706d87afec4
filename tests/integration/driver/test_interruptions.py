"""Ctrl-C once and twice, and the state after kill -9 of the driver or of Ansible."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.demo_project import make_demo_project

from .conftest import DEADLINE_SECONDS, JOBS, PERFDRV, Driver, WaitGone

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
LONG = ("run", "demo", "-s", "demo_seconds=[60, 61]", "--jobs")


@JOBS
def test_first_ctrl_c_lets_finalizers_run(jobs: str, driver: Driver, wait_gone: WaitGone) -> None:
    process = driver.start(*LONG, jobs)
    driver.wait_for_sleep(int(jobs))
    process.send_signal(signal.SIGINT)
    ended = driver.end(process)
    assert ended.code == 130, ended.out + ended.err
    assert "stopping: finalizers run; Ctrl-C again to stop immediately" in ended.out
    assert "what  the run was asked to stop" in ended.out
    assert "runs finalize" not in ended.out
    assert driver.document()["status"] == "interrupted"
    assert driver.document()["attempts"][0]["status"] == "interrupted"
    steps = driver.steps()
    assert steps["002__cell__0"] == "interrupted"
    assert [status for name, status in steps.items() if name.endswith("demo__sleep")] == ["interrupted"] * int(jobs)
    assert driver.finalizer_statuses() == ["ok"]
    assert driver.document()["finalized"]
    wait_gone("sleep")


def test_sigterm_is_a_stop_request(driver: Driver) -> None:
    process = driver.start(*LONG, "1")
    driver.wait_for_sleep()
    process.send_signal(signal.SIGTERM)
    assert driver.end(process).code == 130
    assert driver.finalizer_statuses() == ["ok"]


@pytest.mark.deep
def test_repeated_sigterm_exits_with_130_and_complete_documents(driver: Driver, wait_gone: WaitGone) -> None:
    process = driver.start(*LONG, "1")
    driver.wait_for_sleep()
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
        time.sleep(0.02)
    assert driver.end(process).code == 130
    document = driver.document()
    assert (document["status"], document["attempts"][0]["status"]) == ("interrupted", "interrupted")
    wait_gone("")


@pytest.mark.deep
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


@pytest.mark.deep
@JOBS
def test_second_ctrl_c_stops_immediately(jobs: str, driver: Driver, wait_gone: WaitGone) -> None:
    process = driver.start(*LONG, jobs)
    driver.wait_for_sleep()
    process.send_signal(signal.SIGINT)
    driver.wait_for("stop", "requested")
    process.send_signal(signal.SIGINT)
    ended = driver.end(process)
    assert ended.code == 130
    document = driver.document()
    assert (document["status"], document["attempts"][0]["status"]) == ("interrupted", "interrupted")
    assert document["ended"] is not None
    wait_gone("")


@JOBS
def test_kill_9_of_the_driver_leaves_no_process(jobs: str, driver: Driver, wait_gone: WaitGone) -> None:
    process = driver.start(*LONG, jobs)
    driver.wait_for_sleep()
    process.kill()
    process.wait()
    wait_gone("")
    (shown,) = json.loads(driver("runs", "list", "--json").out)
    assert shown["status"] == "interrupted"
    assert not any(driver.temporary.iterdir())
    assert driver("runs", "finalize", "latest").code == 0
    document = driver.document()
    assert (document["status"], document["exit_code"]) == ("interrupted", 130)
    assert [attempt["status"] for attempt in document["attempts"]] == ["interrupted", "ok"]
    assert document["finalized"]
    assert driver.finalizer_statuses() == ["ok"]


@pytest.mark.deep
def test_run_killed_before_ansible_begins_is_listed(driver: Driver, wait_gone: WaitGone) -> None:
    process = driver.start(*LONG, "1")
    driver.wait_for("run.json", '"running"')
    process.kill()
    process.wait()
    assert not (driver.run() / "ansible.log").exists()
    wait_gone("")
    (shown,) = json.loads(driver("runs", "list", "--json").out)
    assert (shown["flow"], shown["status"]) == ("demo", "interrupted")
    assert driver("runs", "finalize", "latest").code == 0


@pytest.mark.deep
def test_next_run_cleans_up_after_kill_9_of_all_processes(driver: Driver) -> None:
    process = driver.start(*LONG, "1")
    driver.wait_for_sleep()
    for pid in (*driver.processes("perfdrv.ansible.worker"), process.pid):
        os.kill(pid, signal.SIGKILL)
    process.wait()
    assert [path.name for path in driver.temporary.iterdir() if path.name.startswith("perfdrv-private-")]
    driver("toolbox", "demo", "tidy")
    assert not any(path.name.startswith("perfdrv-private-") for path in driver.temporary.iterdir())


def test_run_can_be_resumed_after_kill_9_of_ansible(driver: Driver, wait_gone: WaitGone) -> None:
    process = driver.start("run", "demo", "-s", "demo_seconds=6")
    driver.wait_for_sleep()
    os.kill(min(driver.processes("bin/ansible-playbook")), signal.SIGKILL)
    ended = driver.end(process)
    assert ended.code == 130
    assert "ansible-playbook was killed by a signal" in ended.out
    document = driver.document()
    assert (document["status"], "finalized" in document) == ("interrupted", True)
    assert driver.finalizer_statuses() == ["ok"]
    wait_gone("sleep")
    resumed = driver("run", "--resume", "latest")
    assert resumed.code == 0, resumed.out + resumed.err
    assert driver.document()["status"] == "ok"
    assert [attempt["status"] for attempt in driver.document()["attempts"]] == ["interrupted", "ok"]


def kill_sleeping_worker(driver: Driver) -> None:
    """Kill the process that Ansible forked for the task that sleeps."""
    deadline = time.monotonic() + DEADLINE_SECONDS
    while not (sleeping := driver.processes("sleep")) and time.monotonic() < deadline:
        time.sleep(0.05)
    (pid,) = sleeping
    parent = int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    os.kill(parent, signal.SIGKILL)


def add_sleeping_lane(driver: Driver) -> None:
    """Add a second lane of preparation to the demo project, which runs longer than the first."""
    driver.project = make_demo_project(driver.folder / "project")
    playbooks = driver.project / "playbooks"
    flow = (playbooks / "demo.yml").read_text(encoding="utf-8")
    (playbooks / "demo.yml").write_text(flow.replace("prepare: [folder]", "prepare: [folder, slow]"), encoding="utf-8")
    role = {"name": "psap.perf.demo_sleep"}
    task = {"name": "Sleep", "ansible.builtin.include_role": role, "vars": {"demo_sleep_seconds": 60}}
    (playbooks / "demo" / "prepare_slow.yml").write_text(json.dumps([task]), encoding="utf-8")


@pytest.mark.deep
@pytest.mark.parametrize(
    ("lanes", "jobs"),
    [
        (True, "1"),
        pytest.param(False, "1"),
        pytest.param(False, "2"),
    ],
)
def test_finalizers_run_after_kill_9_of_an_ansible_worker(
    lanes: bool, jobs: str, driver: Driver, wait_gone: WaitGone
) -> None:
    if lanes:
        add_sleeping_lane(driver)
        process = driver.start("run", "demo")
        driver.wait_for("*prepare/*lane__slow/*demo__sleep/status.json", '"running"')
    else:
        process = driver.start("run", "demo", "-s", "demo_seconds=60", "--jobs", jobs)
        driver.wait_for_sleep()
    kill_sleeping_worker(driver)
    ended = driver.end(process)
    assert ended.code == 1, ended.out + ended.err
    assert "what  demo_sleep: Sleep" in ended.out
    assert "the process of this task was killed by signal 9" in ended.out
    document = driver.document()
    assert (document["status"], document["exit_code"], document["reason"]["kind"]) == ("failed", 1, "WorkerDied")
    assert driver.finalizer_statuses() == ["ok"]
    assert [status for name, status in driver.steps().items() if name.endswith("demo__sleep")] == ["failed"]
    wait_gone("")


@dataclass
class Terminal:
    """perfdrv on a pseudo-terminal."""

    pid: int
    descriptor: int
    seen: bytes = b""

    @property
    def text(self) -> str:
        """The displayed text, without colours and cursor movements."""
        return ESCAPES.sub("", self.seen.decode(errors="replace"))

    def read_until(self, text: str) -> None:
        """Read until a text is displayed or perfdrv ends."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while text not in self.text and time.monotonic() < deadline:
            try:
                self.seen += os.read(self.descriptor, 1 << 16)
            except OSError:
                return

    def exit_code(self) -> int:
        """Wait for the end; return the exit code."""
        _pid, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def on_terminal(driver: Driver, *words: str) -> Terminal:
    """Start perfdrv on a pseudo-terminal."""
    pid, descriptor = pty.fork()
    if pid == 0:
        os.chdir(driver.project)
        # nohup, under which these tests may run, ignores it
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        variables = {"PERF_RUNS_DIR": str(driver.runs), "TMPDIR": str(driver.folder), "TERM": "xterm-256color"}
        os.environ.update(variables, COLUMNS="120", LINES="40")
        os.execv(PERFDRV, ["perfdrv", *words])
    return Terminal(pid, descriptor)


@pytest.mark.deep
def test_ctrl_c_works_in_the_live_view(driver: Driver) -> None:
    terminal = on_terminal(driver, *LONG, "1")
    terminal.read_until("● 001 demo sleep")
    os.write(terminal.descriptor, b"\x03")
    terminal.read_until("the end of the terminal")
    assert terminal.exit_code() == 130, terminal.text
    os.close(terminal.descriptor)
    assert "stopping: finalizers run" in terminal.text
    assert "demo: interrupted after" in terminal.text
    assert driver.finalizer_statuses() == ["ok"]


@pytest.mark.deep
def test_terminal_hangup_lets_finalizers_run(driver: Driver) -> None:
    terminal = on_terminal(driver, *LONG, "1")
    terminal.read_until("● 001 demo sleep")
    os.close(terminal.descriptor)
    terminal.exit_code()
    assert driver.document()["status"] == "interrupted"
    assert driver.finalizer_statuses() == ["ok"]


@pytest.mark.deep
def test_closed_output_pipe_does_not_end_the_run(driver: Driver) -> None:
    process = driver.start("run", "demo", "-s", "demo_seconds=1", "-s", "demo_fails=true")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 1
    assert driver.document()["status"] == "failed"
    assert driver.finalizer_statuses() == ["ok"]
