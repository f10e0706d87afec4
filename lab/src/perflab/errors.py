"""The errors of the lab, with the exit codes of the whole project, and the type of its progress lines."""

from __future__ import annotations

from collections.abc import Callable

# prints one line of progress
PrintLine = Callable[[str], None]


class LabError(Exception):
    """A request failed. The message is one sentence: what failed, where, what to do."""

    exit_code = 1


class UsageError(LabError):
    """The request is invalid: an unknown lab, a bad option, an unreadable file."""

    exit_code = 2


class ClusterError(LabError):
    """The cluster of the lab does not respond, or its host has no compiler or not enough disk space."""

    exit_code = 3
