"""Processes of a lab: started detached from the terminal, identified by more than their number."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

# the environment of every process of a lab has its folder here, so that unrecorded processes are found too
MARK = "PERFLAB_FOLDER"

# a killed process frees its memory itself, for which it needs CPU time that a busy machine does not have
_KILL_TIMEOUT_S = 60.0
_STATE_FIELD = 0
_THREADS_FIELD = 17
_START_TIME_FIELD = 19
_DEAD_STATES = ("Z", "X")


@dataclass(frozen=True, slots=True)
class Identity:
    """A process: its number, and its start in clock ticks since boot (numbers are reused)."""

    pid: int
    start_time: int

    def is_alive(self) -> bool:
        """Return whether this very process runs."""
        return identify(self.pid) == self


def identify(pid: int) -> Identity | None:
    """Return the identity of a running process; None if it does not exist, or is a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # the name in parentheses may contain blanks and parentheses itself
    fields = text.rpartition(")")[2].split()
    # while other threads of a killed process end, its ports are still in use
    if fields[_STATE_FIELD] in _DEAD_STATES and int(fields[_THREADS_FIELD]) <= 1:
        return None
    return Identity(pid, int(fields[_START_TIME_FIELD]))


def start(command: Sequence[str | Path], folder: Path, log: Path, environment: dict[str, str]) -> Identity:
    """Start a program in `folder`, in a separate session, writing to `log`.

    Neither Ctrl-C in the terminal nor the end of this command ends it.
    """
    inherited = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        with _batch_scheduling():
            process = subprocess.Popen(  # noqa: S603
                [str(part) for part in command],
                cwd=folder,
                env={**inherited, **environment, MARK: str(folder)},
                stdin=subprocess.DEVNULL,
                stdout=descriptor,
                stderr=descriptor,
                start_new_session=True,
                umask=0o077,
            )
    finally:
        os.close(descriptor)
    # it outlives this command on purpose, about which Popen would warn
    process.returncode = 0
    identity = identify(process.pid) or Identity(process.pid, 0)
    _await_mark(identity)
    return identity


@contextlib.contextmanager
def _batch_scheduling() -> Iterator[None]:
    """Make processes that this thread starts meanwhile not interrupt other programs when they wake up, to save CPU.

    See sched(7), SCHED_BATCH; docs/lab.md has its effect on a Job.
    """
    if not hasattr(os, "SCHED_BATCH"):
        yield
        return
    usual = os.sched_getscheduler(0)
    parameter = os.sched_getparam(0)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    try:
        yield
    finally:
        os.sched_setscheduler(0, usual, parameter)


def _await_mark(identity: Identity) -> None:
    """Wait until the kernel shows the program's environment, shortly after Popen returns."""
    environment = Path(f"/proc/{identity.pid}/environ")
    while identity.is_alive():
        try:
            if environment.read_bytes():
                return
        except (FileNotFoundError, ProcessLookupError):
            return
        time.sleep(0.001)


def find_marked(folder: Path) -> list[Identity]:
    """Return all running processes of this user that belong to the lab in `folder`."""
    mark = f"{MARK}={folder}".encode()
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes()
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
        if mark in environment.split(b"\0"):
            found.append(identify(int(entry.name)))
    return [identity for identity in found if identity is not None]


def kill(identities: Iterable[Identity], timeout_s: float = _KILL_TIMEOUT_S) -> list[Identity]:
    """Kill these processes (a lab saves nothing) and return those that still exist.

    A process that ended, or whose number another process uses now, is left alone.
    """
    waiting = [identity for identity in identities if identity.is_alive()]
    for identity in waiting:
        try:
            os.kill(identity.pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    deadline = time.monotonic() + timeout_s
    while waiting and time.monotonic() < deadline:
        _reap(waiting)
        waiting = [identity for identity in waiting if identity.is_alive()]
        time.sleep(0.01)
    return waiting


def _reap(identities: Iterable[Identity]) -> None:
    for identity in identities:
        try:
            os.waitpid(identity.pid, os.WNOHANG)
        except ChildProcessError:
            continue  # started by another command
