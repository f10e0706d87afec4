"""Starts a program that the kernel kills when the process that asked for it dies.

    python -m perfdrv.ansible.supervised PARENT_PID PROGRAM [ARGUMENT…]

ansible-runner gives no hook between fork and exec, and tells Ansible to ignore the hang-up of its
terminal; without this, Ansible would go on for hours after `kill -9` of the driver.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import termios

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_ROWS_AND_COLUMNS = (50, 160)


def die_with(parent: int, by: signal.Signals = signal.SIGKILL) -> None:
    """Ask for a signal at the death of the parent (Linux), which must still be the process *parent*.

    The setting survives exec. A subreaper may be the parent by now, so its id is given, not guessed.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os.kill(os.getpid(), by)


def adopt_orphans() -> None:
    """Become the parent of every process whose parent dies below this one (Linux), so that none gets lost."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def main() -> None:
    """Become the program."""
    parent, program, *arguments = sys.argv[1:]
    die_with(int(parent))
    if sys.stdout.isatty():
        # Ansible folds its messages at the width of this terminal, which nobody looks at
        termios.tcsetwinsize(sys.stdout.fileno(), _ROWS_AND_COLUMNS)
    try:
        os.execvp(program, [program, *arguments])  # noqa: S606 - no shell wanted
    except OSError as error:
        sys.exit(f"ERROR! {program} cannot be started: {error.strerror}. Is it installed, and on PATH?")


if __name__ == "__main__":
    main()
