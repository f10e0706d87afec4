"""The driver's errors, and the exit codes that all programs of psap.perf share.

The collection, the lab and the analysis have separate error classes, because they do not import the driver. All error
classes have an attribute `exit_code`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping

EXIT_OK = 0
EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130
_WORDS: Mapping[int, str] = {
    EXIT_OK: "ok",
    EXIT_FAILED: "failed",
    EXIT_USAGE: "refused",
    3: "cluster unreachable or unfit",
    4: "threshold missed",
    5: "data quality",
    6: "too little history",
    EXIT_INTERNAL: "internal error",
    EXIT_INTERRUPTED: "interrupted",
}


def exit_code_text(exit_code: int) -> str:
    """Return the meaning of an exit code."""
    return _WORDS.get(exit_code, _WORDS[EXIT_FAILED])


class DriverError(Exception):
    """A failure for the user to read: its text has what failed, where, and what to do."""

    exit_code = EXIT_FAILED


class UsageError(DriverError):
    """The command line, the project or a setting is invalid, so nothing was started."""

    exit_code = EXIT_USAGE


def exit_code_of(error: BaseException) -> int | None:
    """Return the exit code of an error of psap.perf, and None for any other error."""
    code = getattr(error, "exit_code", None)
    return code if isinstance(code, int) and isinstance(error, Exception) else None


def error_text(error: BaseException) -> str:
    """Return the text of an error; one that is not of psap.perf is marked as internal, with its type."""
    return str(error) if exit_code_of(error) is not None else f"internal error: {type(error).__name__}: {error}"


def unknown(what: str, name: str, known: Iterable[str], listing: str) -> str:
    """Return the error for an unknown name, with similar known names or the command that lists them."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    hint = f"did you mean {' or '.join(near)}?" if near else f"see: {listing}"
    return f"unknown {what} {name!r}; {hint}"
