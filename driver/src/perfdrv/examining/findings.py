"""The result of a check."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from perfdrv.errors import EXIT_OK

OK, MISSING, OPTIONAL = "ok", "missing", "optional"


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found.

    Attributes:
        status: `ok`; `missing` if every run needs it; `optional` if only some runs do.
        remedy: What to do; empty if nothing is missing.
        exit_code: The program's exit code if this is missing.
    """

    check: str
    status: str
    found: str
    remedy: str = ""
    exit_code: int = EXIT_OK


def required(check: str, ok: bool, found: str, remedy: str, exit_code: int) -> Finding:
    """Return the finding for something that every run needs."""
    return Finding(check, OK, found) if ok else Finding(check, MISSING, found, remedy, exit_code)


def optional(check: str, ok: bool, found: str, remedy: str) -> Finding:
    """Return the finding for something that only some runs need."""
    return Finding(check, OK, found) if ok else Finding(check, OPTIONAL, found, remedy)


def worst_exit_code(findings: Iterable[Finding]) -> int:
    """Return the first exit code of something missing, in the order of the checks; 0 if nothing is missing."""
    return next((one.exit_code for one in findings if one.exit_code != EXIT_OK), EXIT_OK)
