"""The driver's own errors and the exit codes that every program of psap.perf shares.

The collection, the lab and the analysis have error families of their own, because imports go one
way; what joins them is an `exit_code` attribute on the exception class.
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


def in_words(exit_code: int) -> str:
    """What an exit code says."""
    return _WORDS.get(exit_code, _WORDS[EXIT_FAILED])


class DriverError(Exception):
    """A failure that the user can understand: its text says what, where and what to do."""

    exit_code = EXIT_FAILED


class UsageError(DriverError):
    """The command line, the project or a setting is wrong; nothing was started."""

    exit_code = EXIT_USAGE


def exit_code_of(error: BaseException) -> int | None:
    """Return the exit code that an error of any psap.perf family asks for, None for a stranger."""
    code = getattr(error, "exit_code", None)
    return code if isinstance(code, int) and isinstance(error, Exception) else None


def error_text(error: BaseException) -> str:
    """Return the sentence of an error; one of no psap.perf family gets its type, so that it can be reported."""
    return str(error) if exit_code_of(error) is not None else f"internal error: {type(error).__name__}: {error}"


def unknown(what: str, name: str, known: Iterable[str], listing: str) -> str:
    """Say that a name is unknown, with the nearest known ones, or where to see all of them."""
    near = difflib.get_close_matches(name, list(known), n=3, cutoff=0.6)
    hint = f"Did you mean {' or '.join(near)}?" if near else f"See: {listing}"
    return f"Unknown {what} {name!r}. {hint}"
