"""Errors that a user can fix; each class has the exit code that all programs of psap.perf share."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class AnalysisError(Exception):
    """The analysis failed. The message states what failed, where, and what to do."""

    exit_code = 1


class UsageError(AnalysisError):
    """An invalid argument, such as a path that is not a run directory."""

    exit_code = 2


class ThresholdError(AnalysisError):
    """A threshold was missed, or a run is worse than another."""

    exit_code = 4


class DataQualityError(AnalysisError):
    """Workloads were lost or are not accounted for; the report was written nevertheless."""

    exit_code = 5


class HistoryError(AnalysisError):
    """Too few values or runs to judge."""

    exit_code = 6


def did_you_mean(name: str, known: Iterable[str], cutoff: float = 0.6) -> str:
    """Return `did you mean X?` with the known name that is most similar to *name*; empty if none is.

    Args:
        name: The unknown name.
        known: The names to choose from.
        cutoff: The least similarity, from 0 to 1.
    """
    found = difflib.get_close_matches(name, sorted(known), n=1, cutoff=cutoff)
    return f"did you mean {found[0]}?" if found else ""
