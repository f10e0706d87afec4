"""The lab's errors: sentences with what, where and what to do, and the exit codes of the whole project."""

from __future__ import annotations


class LabError(Exception):
    """The lab could not do what was asked."""

    exit_code = 1


class UsageError(LabError):
    """The request itself is wrong: an unknown lab, a bad option, an unreadable file."""

    exit_code = 2


class ClusterError(LabError):
    """The lab's cluster does not answer, or what it runs on is unfit (no compiler, no disk)."""

    exit_code = 3
