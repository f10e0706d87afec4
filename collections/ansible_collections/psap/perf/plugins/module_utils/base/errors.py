"""The errors of the collection and the driver, and their exit codes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar


class PerfError(Exception):
    """An error that a user can act on: the message contains what failed, where, and what to do."""

    exit_code: ClassVar[int] = 1
    # the result that a failed verb returns to the play
    result: Mapping[str, Any] = MappingProxyType({})


class UsageError(PerfError):
    """Bad input: a setting, an argument, a preset, a path."""

    exit_code = 2


class ClusterError(PerfError):
    """The cluster cannot be reached, refuses access, or does not meet the command's requirements."""

    exit_code = 3


class HostError(ClusterError):
    """A host of the inventory cannot be reached, or does not meet the command's requirements."""

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
    """An expected state was not reached in time, or can no longer be reached."""


class Interrupted(PerfError):  # noqa: N818 - a request of the user, not an error
    """The user asked the run to stop."""

    exit_code = 130


_BY_CODE: dict[int, type[PerfError]] = {
    error.exit_code: error
    for error in (UsageError, ClusterError, ThresholdError, DataQualityError, HistoryError, Interrupted)
}


def error_for_exit_code(code: int, message: str) -> PerfError:
    """Return the error whose class has this exit code; a plain `PerfError` for any other code."""
    return _BY_CODE.get(code, PerfError)(message)


def short(cause: object) -> str:
    """Return the last part of urllib3's nested message, which has the cause."""
    return str(cause).rpartition(": ")[2] or type(cause).__name__


# OpenSSL's messages about certificates without the extensions of RFC 5280, which Python requires since 3.13
_INCOMPLETE = re.compile(
    r"Missing (Authority|Subject) Key Identifier|CA cert does not include key usage extension"
    r"|Basic Constraints of CA cert not marked critical"
)


def certificate_advice(cause: object) -> str:
    """Return advice about a private authority whose certificates Python 3.13 refuses; empty for any other cause.

    Such certificates stay refused: kubectl accepts them, but kubernetes.core's modules on the same host do not.
    """
    if not _INCOMPLETE.search(str(cause)):
        return ""
    return (
        "Python 3.13 and later refuse such a certificate: have its authority and the server's certificate issued "
        "again with basicConstraints (critical), keyUsage, subjectKeyIdentifier and authorityKeyIdentifier, "
        "or use Python 3.12"
    )
