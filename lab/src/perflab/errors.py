"""What the lab tells its user: errors with the exit codes of the whole project, and lines of progress."""

from __future__ import annotations

from collections.abc import Callable

# prints one line of progress
Say = Callable[[str], None]


class LabError(Exception):
    """The lab could not do what was asked. The message is one sentence: what, where, what to do."""

    exit_code = 1


class UsageError(LabError):
    """The request itself is wrong: an unknown lab, a bad option, an unreadable file."""

    exit_code = 2


class ClusterError(LabError):
    """The lab's cluster does not answer, or what it runs on is unfit (no compiler, no disk)."""

    exit_code = 3
