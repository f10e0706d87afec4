"""The pseudo-terminal on which ansible-runner starts Ansible."""

from __future__ import annotations

import os

from perfdrv.errors import UsageError

REMEDY = "mount -t devpts -o ptmxmode=666 devpts /dev/pts"


def pseudo_terminal_problem() -> str:
    """Return why no pseudo-terminal can be opened, as in a root directory without devpts; empty if one can be."""
    try:
        descriptors = os.openpty()
    except OSError as error:
        return error.strerror or str(error)
    for descriptor in descriptors:
        os.close(descriptor)
    return ""


def require_pseudo_terminal() -> None:
    """Check that Ansible can start on this machine.

    Raises:
        UsageError: No pseudo-terminal can be opened.
    """
    problem = pseudo_terminal_problem()
    if problem:
        raise UsageError(f"cannot open a pseudo-terminal, on which Ansible runs: {problem}; {REMEDY}")
