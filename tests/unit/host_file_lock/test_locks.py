"""The lock in a folder: its owner, its queue, and its state when processes, clocks and disks fail."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock import file_lock
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.file_lock import FileLock
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.moments import Moment
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.state import (
    LockHeldError,
    LockLostError,
    Requester,
    State,
)

PROJECT = Path(__file__).parents[3]
START = Moment(1_800_000_000.0, "boot", 1000.0)


def who(owner: str, run: str = "") -> Requester:
    return Requester(owner, run or f"run-of-{owner}", "test", "ada", "bastion")


def moment_after(seconds: float, step: float = 0.0) -> Moment:
    """Return the moment some seconds after the start, after a change of the wall clock by *step*."""
    return Moment(START.wall + seconds + step, START.boot_id, START.boot + seconds)


class Clock:
    """A host's clock that a test sets."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> Moment:
        return self.now


@pytest.fixture(name="clock")
def _clock() -> Clock:
    return Clock()


@pytest.fixture(name="lock")
def _lock(tmp_path: Path, clock: Clock) -> FileLock:
    return FileLock(tmp_path / "lock", clock)


def test_lock_belongs_to_its_owner_until_its_end(lock: FileLock, clock: Clock) -> None:
    assert lock.take(who("ada"), 60)[1]
    clock.now = moment_after(60)
    state, taken = lock.take(who("bob"), 60)
    assert not taken
    assert state.describe(who("bob")) == "is locked for ada (test), by ada on bastion, until 2027-01-15T08:01:00Z"
    clock.now = moment_after(61)
    assert lock.take(who("bob"), 60)[1]
    with pytest.raises(LockLostError, match="has bob"):
        lock.renew("ada")


def test_owner_extends_the_lock_from_any_process(lock: FileLock, clock: Clock) -> None:
    lock.take(who("ada"), 60)
    clock.now = moment_after(50)
    state, taken = lock.take(who("ada", "another-run"), 100)
    assert taken and state.holder and (state.holder.since, state.holder.renewed) == (START, moment_after(50))
    clock.now = moment_after(140)
    renewed = lock.renew("ada").holder
    assert renewed and renewed.renewed == moment_after(140) and renewed.duration_s == 100


@pytest.mark.parametrize("step", [-3600.0, 3600.0])
def test_clock_change_neither_ends_nor_extends_the_lock(lock: FileLock, clock: Clock, step: float) -> None:
    lock.take(who("ada"), 60)
    clock.now = moment_after(59, step)
    assert not lock.take(who("bob"), 60)[1]
    clock.now = moment_after(61, step)
    assert lock.take(who("bob"), 60)[1]


def test_wall_clock_decides_after_a_restart_of_the_host(lock: FileLock, clock: Clock) -> None:
    lock.take(who("ada"), 600)
    clock.now = Moment(START.wall + 300, "next boot", 5.0)
    assert not lock.take(who("bob"), 60)[1]
    clock.now = Moment(START.wall + 300, "next boot", 310.0)
    assert lock.take(who("bob"), 60)[1]


def test_clock_ahead_before_a_restart_blocks_at_most_the_duration(lock: FileLock, clock: Clock) -> None:
    lock.take(who("ada"), 600)
    clock.now = Moment(START.wall - 1_000_000, "next boot", 5.0)
    assert not lock.take(who("bob"), 60)[1]
    clock.now = replace(clock.now, boot=606.0)
    assert lock.take(who("bob"), 60)[1]


def test_queue_is_fair(lock: FileLock, clock: Clock) -> None:
    lock.take(who("ada"), 60)
    for number, owner in enumerate(("bob", "cy")):
        clock.now = moment_after(number)
        assert not lock.take(who(owner), 60, stays=True)[1]
    lock.release("ada")
    state, taken = lock.take(who("dan"), 60)
    assert not taken and state.describe(who("dan")) == "is free, but for bob and 1 more in the queue"
    state, taken = lock.take(who("cy"), 60, stays=True)
    assert not taken and state.describe(who("cy")) == "is free, but for bob in the queue"
    assert lock.take(who("bob"), 60)[1]
    lock.release("bob")
    assert lock.take(who("cy"), 60)[1]
    assert lock.read().waiting == ()


def test_unrenewed_place_is_skipped(lock: FileLock, clock: Clock) -> None:
    lock.take(who("ada"), 50)
    lock.take(who("bob"), 60, stays=True)
    clock.now = moment_after(40)
    lock.take(who("cy"), 60, stays=True)
    clock.now = moment_after(61)
    assert lock.take(who("cy"), 60)[1]


def test_leaving_gives_up_the_place_or_the_acquired_lock(lock: FileLock) -> None:
    lock.take(who("ada"), 60)
    lock.take(who("bob"), 60, stays=True)
    lock.leave(who("bob"))
    assert lock.read().waiting == ()
    lock.leave(who("ada", "another-run"))
    assert lock.read().holder
    lock.leave(who("ada"))
    assert lock.read() == State()


def test_only_the_owner_releases_and_any_user_can_break(lock: FileLock) -> None:
    assert not lock.release("ada")
    lock.take(who("ada"), 60)
    with pytest.raises(LockHeldError, match="is locked for ada"):
        lock.release("bob")
    before = lock.break_lock().holder
    assert before and before.who.owner == "ada"
    assert lock.read() == State()
    with pytest.raises(LockLostError, match="is free"):
        lock.renew("ada")


def test_invalid_state_is_refused_and_not_free(lock: FileLock, tmp_path: Path) -> None:
    lock.take(who("ada"), 60)
    for text in ("", "{", '{"version": 2}', '{"version": 1, "holder": null}'):
        (tmp_path / "lock/state.json").write_text(text)
        with pytest.raises(UsageError, match="is not the state of a lock"):
            lock.take(who("bob"), 60)


def test_files_have_the_folders_rights_and_partial_ones_are_replaced(lock: FileLock, tmp_path: Path) -> None:
    folder = tmp_path / "lock"
    folder.mkdir()
    folder.chmod(0o775)
    (folder / "state.json.new").write_text('{"half')
    umask = os.umask(0o077)
    try:
        lock.take(who("ada"), 60)
    finally:
        os.umask(umask)
    assert {path.name: stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()} == {
        "flock": 0o664,
        "state.json": 0o664,
    }


def test_process_stopped_during_a_write_is_named(
    lock: FileLock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_lock, "_GUARDED_WITHIN_S", 0.1)
    lock.take(who("ada"), 60)
    with (tmp_path / "lock/flock").open() as guard:
        fcntl.flock(guard, fcntl.LOCK_EX)
        with pytest.raises(PerfError, match=r"has held .*/flock for more than 0\.1 s"):
            lock.read()
    assert lock.read().holder


@pytest.fixture(name="full")
def _full(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fail later writes for lack of space; tests/integration/driver/test_locks.py fills a real disk."""

    def refuse(_descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", refuse)
        yield


def test_full_disk_changes_nothing_but_permits_release(lock: FileLock, full: None) -> None:
    with pytest.raises(PerfError, match="No space left on device; free space there"):
        lock.take(who("ada"), 60)
    assert lock.read() == State()


def test_lock_taken_before_the_disk_was_full_is_released(lock: FileLock, request: pytest.FixtureRequest) -> None:
    lock.take(who("ada"), 60)
    lock.take(who("bob"), 60, stays=True)
    request.getfixturevalue("full")
    with pytest.raises(PerfError, match="No space left on device"):
        lock.renew("ada")
    assert lock.read().holder
    assert lock.release("ada")
    assert lock.read() == State()


HOLDS = """
import os, sys, time
from pathlib import Path
sys.path[:0] = [sys.argv[1]]
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock import file_lock, state
state.PLACE_S, state.RENEWED_EVERY_S, file_lock._READ_EVERY_S = 0.5, 0.1, 0.01
owner = sys.argv[3]
log = os.open(Path(sys.argv[2], "holds"), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
lock = file_lock.FileLock(Path(sys.argv[2], "lock"))
def note(what, at):
    os.write(log, f"{at} {owner} {what}\\n".encode())
for _round in range(10_000):
    found, ours = lock.take(state.Requester(owner, str(os.getpid()), "", "", ""), 0.6, 5.0)
    if not ours:
        continue
    note("has", found.holder.renewed.boot)
    try:
        for _each in range(5):
            time.sleep(0.01)
            note("renews", lock.renew(owner).holder.renewed.boot)
    except state.LockLostError:
        continue
    note("ends", time.clock_gettime(time.CLOCK_BOOTTIME))
    lock.release(owner)
"""


def holds_of(lines: list[str]) -> list[tuple[float, float, str]]:
    """Return start, end (at the latest the expiry) and owner of each hold."""
    holds: list[tuple[float, float, str]] = []
    last: dict[str, int] = {}
    for at, owner, what in (line.split() for line in lines):
        if owner in last:
            begun, end, _owner = holds[last[owner]]
            holds[last[owner]] = begun, min(end, float(at)), owner
        if what == "ends":
            del last[owner]
        else:
            last[owner] = len(holds)
            holds.append((float(at), float(at) + 0.6, owner))
    return sorted(holds)


def overlaps(holds: list[tuple[float, float, str]]) -> list[str]:
    """Return the holds that start before the end of another owner's."""
    return [
        f"{owner} from {begun} on, {other} until {end}"
        for number, (begun, _end, owner) in enumerate(holds)
        for _begun, end, other in holds[:number]
        if other != owner and begun < end
    ]


@pytest.mark.slow
def test_three_processes_killed_repeatedly_exclude_each_other(tmp_path: Path) -> None:
    def start(owner: str) -> subprocess.Popen[bytes]:
        words = [sys.executable, "-c", HOLDS, str(PROJECT / "collections"), str(tmp_path), owner]
        return subprocess.Popen(words)

    def noted() -> list[str]:
        return (tmp_path / "holds").read_text().splitlines() if (tmp_path / "holds").exists() else []

    living = {f"first-{number}": start(f"first-{number}") for number in range(3)}
    killed = []
    try:
        for kill in range(10):
            before, deadline = len(noted()), time.monotonic() + 60
            # a killed owner is succeeded by the next
            while len(noted()) < before + 3 or noted()[-1].endswith("ends"):
                assert time.monotonic() < deadline, noted()
                time.sleep(0.005)
            killed.append(noted()[-1].split()[1])
            living[killed[-1]].kill()
            living.pop(killed[-1]).wait()
            living[f"next-{kill}"] = start(f"next-{kill}")
    finally:
        for process in living.values():
            process.kill()
            process.wait()
    holds = holds_of(noted())
    assert overlaps(holds) == []
