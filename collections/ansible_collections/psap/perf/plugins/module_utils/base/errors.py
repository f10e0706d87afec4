"""One family of errors for the collection and the driver; the exit codes are the design's table."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar


class PerfError(Exception):
    """Something a user can act on: the message says what, where, and what to do."""

    exit_code: ClassVar[int] = 1
    # what a verb that fails still returns to the play
    result: Mapping[str, Any] = MappingProxyType({})


class UsageError(PerfError):
    """Bad input: a setting, an argument, a preset, a path."""

    exit_code = 2


class ClusterError(PerfError):
    """The cluster cannot be reached, refuses us, or lacks what the command needs."""

    exit_code = 3


class HostError(ClusterError):
    """A host of the inventory cannot be reached, or lacks what the command needs."""

    def __init__(self, message: str, result: Mapping[str, Any] = MappingProxyType({})) -> None:
        super().__init__(message)
        self.result = result


class ThresholdError(PerfError):
    """A threshold was missed or a regression found."""

    exit_code = 4


class DataQualityError(PerfError):
    """Workloads were lost or cannot be accounted for."""

    exit_code = 5


class HistoryError(PerfError):
    """Too little history to judge."""

    exit_code = 6


class WaitTimeoutError(PerfError):
    """What was awaited did not come in time, or cannot come any more."""


class Interrupted(PerfError):  # noqa: N818 - it is a request of the user, not an error of anything
    """The user asked the run to stop."""

    exit_code = 130


_BY_CODE: dict[int, type[PerfError]] = {
    error.exit_code: error
    for error in (UsageError, ClusterError, ThresholdError, DataQualityError, HistoryError, Interrupted)
}


def error_for_exit_code(code: int, message: str) -> PerfError:
    """The error of the family whose ``exit_code`` is *code*; plain :class:`PerfError` for any other."""
    return _BY_CODE.get(code, PerfError)(message)


def short(cause: object) -> str:
    """The end of the nested message of urllib3, which is the part that says something."""
    return str(cause).rpartition(": ")[2] or type(cause).__name__


# what OpenSSL says where a certificate lacks what RFC 5280 wants; Python asks for it since 3.13
_INCOMPLETE = re.compile(
    r"Missing (Authority|Subject) Key Identifier|CA cert does not include key usage extension"
    r"|Basic Constraints of CA cert not marked critical"
)


def certificate_advice(cause: object) -> str:
    """What to do about a private authority whose certificates Python 3.13 refuses; empty for any other cause.

    They are not let through: kubectl would, but kubernetes.core's modules on the same host would not.
    """
    if not _INCOMPLETE.search(str(cause)):
        return ""
    return (
        "Python 3.13 and later refuse such a certificate: have its authority and the server's certificate issued "
        "again with basicConstraints (critical), keyUsage, subjectKeyIdentifier and authorityKeyIdentifier, "
        "or use Python 3.12"
    )
