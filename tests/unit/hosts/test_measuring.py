"""The program that measures others on a host: its proofs, its cleanup, and its leftovers."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.hosts import measuring
from ansible_collections.psap.perf.plugins.module_utils.hosts.measuring import Plan, Proof, Step
from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import HostSideError, Stopped

from tests.dead_processes import wait_until_dead

pytestmark = pytest.mark.slow


def listen() -> bool:
    return True


def shell(text: str) -> list[str]:
    return ["sh", "-c", text]


def endless_step(tmp_path: Path) -> Step:
    """Return a program that does not end by itself and writes its ID to a file."""
    return Step(shell(f"echo $$ > {tmp_path}/pid.new; mv {tmp_path}/pid.new {tmp_path}/pid; exec sleep 600"))


def pid_of(tmp_path: Path) -> int:
    """Return the ID of the program once it runs."""
    while not (tmp_path / "pid").exists():
        time.sleep(0.01)
    return int((tmp_path / "pid").read_text())


def measure(tmp_path: Path, **given: Any) -> dict[str, Any]:
    return measuring.measure(Plan(directory=str(tmp_path / "work/one"), **given), listen)


def test_each_run_is_prepared_timed_and_undone(tmp_path: Path) -> None:
    log = tmp_path / "log"
    say = {word: shell(f"echo {word} >> {log}") for word in ("setup", "prepare", "run", "undo-prepare", "undo-setup")}
    answer = measure(
        tmp_path,
        setup=[Step(say["setup"], undo=say["undo-setup"]), Step(shell("exit 1"), unless=["true"])],
        prepare=[Step(say["prepare"], undo=say["undo-prepare"])],
        measured=Step(say["run"]),
        runs=2,
    )
    assert log.read_text().split() == ["setup", *["prepare", "run", "undo-prepare"] * 2, "undo-setup"]
    assert (answer["problem"], answer["clean"], len(answer["runs"])) == (None, True, 2)
    assert answer["overhead"]["median_s"] > 0
    assert not (tmp_path / "work").exists()


def test_time_is_that_of_the_program_alone(tmp_path: Path) -> None:
    begun = time.monotonic()
    (run,) = measure(tmp_path, prepare=[Step(["sleep", "1"])], measured=Step(["sleep", "0.2"]))["runs"]
    assert 0.2 <= run["took_s"] <= time.monotonic() - begun - 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"measured": Step(["true"]), "least_s": 1.0}, "takes 1 s at least if it does its work"),
        ({"measured": Step(["echo", "done"]), "proof": [Proof("^made")]}, "true did not do its work|printed 'done'"),
        ({"measured": Step(["true"]), "proof": [Proof("x", ["echo", "y"])]}, "echo y printed 'y', not x"),
        ({"measured": Step(["echo", "0.00 MiB"]), "numbers": {"rate": "([0-9.]+) MiB"}}, "did nothing: rate is 0.00"),
        ({"measured": Step(["true"]), "numbers": {"rate": "([0-9.]+) MiB"}}, "has no rate"),
        ({"measured": Step(shell("echo why >&2; exit 3"))}, "ended with 3: why"),
        ({"measured": Step(["no-such-program"])}, "cannot start no-such-program: No such file"),
        ({"measured": Step(["sleep", "60"]), "timeout_s": 0.2}, "did not end within 0.2 s"),
        ({"setup": [Step(shell("exit 2"))], "measured": Step(["true"])}, "ended with 2: no output"),
        ({"measured": Step(["true"], undo=["true"]), "left": [["echo", "c0ffee"]]}, "still finds c0ffee"),
    ],
)
def test_exit_code_0_is_not_sufficient(tmp_path: Path, given: dict[str, Any], message: str) -> None:
    problem = measure(tmp_path, **given)["problem"]
    assert any(part in problem for part in message.split("|")), problem


def test_processes_in_other_sessions_end_with_the_program(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    starts = Step(shell(f"setsid sh -c 'echo $$ > {pid}; exec sleep 600' & wait"))
    answer = measure(tmp_path, measured=starts, timeout_s=2.0)
    assert "did not end within 2 s" in answer["problem"]
    wait_until_dead(int(pid.read_text()))


def test_input_comes_from_a_pipe_and_is_read_by_the_program(tmp_path: Path) -> None:
    secret = b"token dG9rZW4=\n"
    answer = measure(tmp_path, prepare=[Step(shell("! read line"))], measured=Step(["cat"]), stdin=secret, runs=2)
    assert (answer["problem"], answer["stdout"].encode()) == (None, secret)
    large = measure(tmp_path, measured=Step(["cat"]), stdin=b"x" * (1 << 21))
    assert "do not fit into a pipe" in large["problem"]


def test_failure_before_the_overhead_is_known_is_reported(tmp_path: Path) -> None:
    answer = measure(tmp_path, measured=Step(["true"]), timeout_s=1e-6)
    assert "did not end within 1e-06 s" in answer["problem"]
    assert (answer["overhead"], answer["clean"]) == (None, True)


def test_tolerated_failure_is_recorded_and_the_next_run_follows(tmp_path: Path) -> None:
    once = shell("test -e failed || { touch failed; echo half an image >&2; exit 125; }")
    answer = measure(tmp_path, measured=Step(once), runs=2, tolerated="half an image")
    assert [run["exit_code"] for run in answer["runs"]] == [125, 0]
    assert answer["problem"] is None


def test_step_is_repeated_until_it_succeeds(tmp_path: Path) -> None:
    thrice = shell("echo x >> tries; test $(wc -l < tries) -ge 3 && echo ready")
    assert measure(tmp_path, setup=[Step(thrice, within_s=30.0)])["setup"] == ["ready\n"]


def test_companion_program_is_awaited_and_must_succeed(tmp_path: Path) -> None:
    (run,) = measure(tmp_path, measured=Step(["true"]), beside=["sleep", "0.3"])["runs"]
    assert run["beside_s"] >= 0.3
    problem = measure(tmp_path, measured=Step(["true"]), beside=shell("echo busy >&2; exit 4"))["problem"]
    assert "ended with 4: busy" in problem


def test_lost_listener_kills_the_program_and_undoes_everything(tmp_path: Path) -> None:
    made = tmp_path / "made"
    plan = Plan(
        directory=str(tmp_path / "work/one"),
        setup=[Step(["touch", str(made)], undo=["rm", str(made)])],
        measured=Step(["sleep", "600"]),
    )
    with pytest.raises(Stopped):
        measuring.measure(plan, lambda: False)
    assert not made.exists()
    assert not (tmp_path / "work").exists()


def _measure(plan: Plan) -> None:
    measuring.measure(plan, listen)


def test_leftovers_of_a_kill_are_undone_by_the_next_call(tmp_path: Path) -> None:
    made, directory = tmp_path / "made", tmp_path / "work/one"
    step = Step(["touch", str(made)], undo=["rm", "-f", str(made)])
    plan = Plan(directory=str(directory), setup=[step], measured=endless_step(tmp_path))
    process = multiprocessing.get_context("fork").Process(target=_measure, args=(plan,))
    process.start()
    pid = pid_of(tmp_path)
    assert process.pid
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    assert json.loads((directory / measuring.UNDO).read_text()) == ["rm", "-f", str(made)]
    assert measuring.remove(str(directory), {}, [], 1.0) is None
    assert not made.exists()
    assert not directory.exists()
    wait_until_dead(pid)
    # The second call has nothing to undo.
    assert measuring.remove(str(directory), {}, [], 1.0) is None


def test_running_measurement_is_killed_by_id_before_undoing(tmp_path: Path) -> None:
    made, directory = tmp_path / "made", tmp_path / "work/one"
    step = Step(["touch", str(made)], undo=["rm", "-f", str(made)])
    plan = Plan(directory=str(directory), setup=[step], measured=endless_step(tmp_path))
    process = multiprocessing.get_context("fork").Process(target=_measure, args=(plan,))
    process.start()
    pid = pid_of(tmp_path)
    assert measuring.remove(str(directory), {}, [], 0.5) is None
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not made.exists()
    wait_until_dead(pid)


def test_directory_that_cannot_be_created_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(HostSideError, match=r"cannot work in .*file/one: Not a directory"):
        measuring.measure(Plan(directory=str(tmp_path / "file/one")), listen)


def test_files_removed_concurrently_are_no_error(tmp_path: Path) -> None:
    directory = tmp_path / "one"
    directory.mkdir()
    stream = (directory / measuring.LOCK).open("w")
    fcntl.flock(stream, fcntl.LOCK_EX)

    def end() -> None:
        shutil.rmtree(directory)
        stream.close()

    ending = threading.Timer(0.3, end)
    ending.start()
    assert measuring.remove(str(directory), {}, [["true"]], 60.0) is None
    ending.join()
