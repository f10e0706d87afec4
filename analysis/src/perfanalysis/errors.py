"""Errors a user can act on; each class carries the exit code that all programs of psap.perf share."""

from __future__ import annotations


class AnalysisError(Exception):
    """Something could not be analysed. The message says what, where and what to do."""

    exit_code = 1


class UsageError(AnalysisError):
    """A wrong argument: not a run directory, no place to write."""

    exit_code = 2


class ThresholdError(AnalysisError):
    """A threshold was missed, or a run is worse than another."""

    exit_code = 4


class DataQualityError(AnalysisError):
    """Workloads were lost or cannot be accounted for; the report was written all the same."""

    exit_code = 5


class HistoryError(AnalysisError):
    """Too few values, or too few runs, to judge by."""

    exit_code = 6
