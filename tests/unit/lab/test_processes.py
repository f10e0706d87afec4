"""Processes of a lab are identified by more than their ID, and no other process is ever killed."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from perflab.processes import process
from perflab.processes.process import Identity, identify, kill

SLEEP = (sys.executable, "-c", "import time; time.sleep(60)")


@pytest.fixture
def sleeper(tmp_path: Path) -> Iterator[Identity]:
    identity = process.start(SLEEP, tmp_path, tmp_path / "log", {})
    yield identity
    kill([identity])


def test_started_process_is_alive_until_killed(sleeper: Identity) -> None:
    assert sleeper.is_alive()
    assert kill([sleeper]) == []
    assert not sleeper.is_alive()


def test_process_is_alive_until_its_last_thread_ends(tmp_path: Path) -> None:
    # The rest of a killed server holds its port while its other threads end.
    leave = "import ctypes, threading, time; threading.Thread(target=time.sleep, args=(60,)).start();"
    leave += "ctypes.CDLL(None).pthread_exit(None)"
    left = process.start((sys.executable, "-c", leave), tmp_path, tmp_path / "log", {})
    stat = Path(f"/proc/{left.pid}/stat")
    while stat.read_text().rpartition(")")[2].split()[0] != "Z":
        time.sleep(0.01)
    assert left.is_alive()
    assert kill([left]) == []
    assert not left.is_alive()


def test_process_has_its_own_session(sleeper: Identity) -> None:
    assert os.getsid(sleeper.pid) == sleeper.pid
    assert os.getsid(sleeper.pid) != os.getsid(0)


def test_process_log_is_private(sleeper: Identity, tmp_path: Path) -> None:
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_other_process_with_the_same_id_is_left_unchanged(sleeper: Identity) -> None:
    earlier = dataclasses.replace(sleeper, start_time=sleeper.start_time - 1)
    assert not earlier.is_alive()
    assert kill([earlier]) == []
    assert sleeper.is_alive()


def test_zombie_counts_as_dead() -> None:
    child = subprocess.Popen([sys.executable, "-c", "pass"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert identify(child.pid) is None
    child.wait()


def test_process_name_with_blanks_and_parentheses_is_read(tmp_path: Path) -> None:
    program = tmp_path / "a) (b"
    program.symlink_to("/bin/sleep")
    identity = process.start((program, "60"), tmp_path, tmp_path / "log", {})
    assert identity.is_alive()
    assert kill([identity]) == []


def test_unrecorded_process_is_found_by_its_mark(sleeper: Identity, tmp_path: Path) -> None:
    assert process.find_marked(tmp_path) == [sleeper]
    assert process.find_marked(tmp_path / "other") == []
