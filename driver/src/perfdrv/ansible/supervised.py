"""Starts a program that the kernel kills when the process that started it dies.

    python -m perfdrv.ansible.supervised PARENT_PID PROGRAM [ARGUMENT…]

ansible-runner has no hook between fork and exec, and makes Ansible ignore the hang-up of its terminal. Without this
program, Ansible would continue for hours after `kill -9` of the driver.
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
    """Request a signal for the death of the parent (Linux).

    The setting survives exec.

    Args:
        parent: The parent's process id. If it is dead already, a subreaper is the parent, and the signal is sent now.
    """
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, by)
    if os.getppid() != parent:
        os.kill(os.getpid(), by)


def adopt_orphans() -> None:
    """Become the parent of every orphan below this process (Linux)."""
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1)


def main() -> None:
    """Replace this process by the program."""
    parent, program, *arguments = sys.argv[1:]
    die_with(int(parent))
    if sys.stdout.isatty():
        # Ansible wraps its messages at the width of this pseudo-terminal
        termios.tcsetwinsize(sys.stdout.fileno(), _ROWS_AND_COLUMNS)
    try:
        os.execvp(program, [program, *arguments])  # noqa: S606 - no shell wanted
    except OSError as error:
        sys.exit(f"ERROR! cannot start {program}: {error.strerror}; install it, or add it to PATH")


if __name__ == "__main__":
    main()
