"""Processes that must not outlive the one that needs them; the user of this one."""

from __future__ import annotations

import ctypes
import getpass
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_CHILD_PROGRAM = Path(__file__).with_name("child_process.py")


def child_command(module: str, *arguments: str) -> list[str]:
    """Return the command line of a process that calls ``main`` of a *module* in ``module_utils`` and dies with us."""
    # -P: do not import from the program's own folder
    return [sys.executable, "-P", str(_CHILD_PROGRAM), module, str(os.getpid()), *arguments]


def die_with_parent() -> None:
    """Ask the kernel to kill this process as soon as its parent dies (Linux ``prctl(2)``).

    Without it a worker of a killed ansible-playbook goes on for hours, and so does a program that a plugin started.
    """
    parent = os.getppid()
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    # the parent may have died between the fork and the call, which the kernel does not report afterwards
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def name_process(name: str) -> None:
    """Set the name that ``ps`` and ``top`` show for this process, of at most 15 letters."""
    ctypes.CDLL(None).prctl(_PR_SET_NAME, name.encode())


def descendants(pid: int) -> list[int]:
    """Return the IDs of all live processes below *pid*, parents first."""
    children: dict[int, list[int]] = {}
    for child, parent in _parents():
        children.setdefault(parent, []).append(child)
    found: list[int] = []
    waiting = [pid]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found += below
        waiting += below
    return found


def kill_descendants(pid: int) -> None:
    """Kill all processes below *pid*, including those that start meanwhile."""
    for _round in range(5):
        living = descendants(pid)
        if not living:
            return
        for child in living:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue


def _parents() -> Iterator[tuple[int, int]]:
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        # the name in parentheses may contain any character, so count from its end: state, parent, …
        fields = stat.rpartition(")")[2].split()
        if fields and fields[0] != "Z":
            yield int(entry.name), int(fields[1])


def user_name() -> str:
    """Return the name of the user on this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        # the user of a container may have no name
        return str(os.getuid())
