"""Processes that must not outlive the process that needs them; the user of this process."""

from __future__ import annotations

import ctypes
import getpass
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_CHILD_PROGRAM = Path(__file__).with_name("child_process.py")
_FORK = multiprocessing.get_context("fork")


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


def fork_companion(main: Callable[..., None], *arguments: Any) -> tuple[BaseProcess, Connection]:
    """Start a copy of this process that dies with it, ignores Ctrl-C and has no output; return it and a pipe to it.

    Args:
        main: Called in the process with the other end of the pipe and *arguments*.
    """
    ours, theirs = _FORK.Pipe()
    process = _FORK.Process(target=_run_companion, args=(ours, theirs, main, arguments), daemon=True)
    process.start()
    theirs.close()
    return process, ours


def _run_companion(parent_end: Connection, pipe: Connection, main: Callable[..., None], arguments: Any) -> None:
    # a terminal's Ctrl-C reaches every process of its group; this one is ended by the process that started it
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    die_with_parent()
    parent_end.close()
    # a reader of the output waits until the last process has closed it
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    main(pipe, *arguments)


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
