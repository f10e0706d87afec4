"""Connects the verb judge to the package perfanalysis, which is imported only to judge."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError, error_for_exit_code

_WRITER = "perfanalysis.verdicts.thresholds.write"
_LOADS = "perfanalysis.verdicts.thresholds.loads"
_PHASES = "perfanalysis.verdicts.thresholds.phases"


def check(thresholds: Mapping[str, object], workloads: int | None = None) -> tuple[str, ...]:
    """Return the thresholds in words; *workloads* is the least number that a recording will have, if known.

    Raises:
        UsageError: If one of them is invalid, or needs more workloads, or perfanalysis is not installed.
    """
    writer, errors = _perfanalysis(_WRITER)
    try:
        return tuple(threshold.name for threshold in writer.check_thresholds(thresholds, workloads=workloads))
    except errors.AnalysisError as error:
        raise _convert_error(error) from error


def judge(recording: Path, thresholds: Mapping[str, object], output: Path, *, unjudged_allowed: bool) -> dict[str, Any]:
    """Judge the recording below *recording*, write the verdict into *output*, and return it.

    Raises:
        PerfError: If the verdict is not good, with its exit code; its result contains the verdict.
    """
    writer, errors = _perfanalysis(_WRITER)
    try:
        made = writer.judge_run(recording, thresholds, output, unjudged_allowed=unjudged_allowed)
    except errors.AnalysisError as error:
        raise _convert_error(error) from error
    document: dict[str, Any] = made.document
    problem = made.verdict.error
    if problem is not None:
        raise _convert_error(problem, {"verdict": document, "file": str(made.json)}) from problem
    return document


def judge_load(directory: Path, limits: Mapping[str, object]) -> dict[str, Any]:
    """Return the row of a load test: its users, whether it was within all limits, and the value of each measure.

    Raises:
        PerfError: If the results of the load cannot be judged.
    """
    return _of_analysis(_LOADS, "judge_load", directory, limits)


def loads_over_time(
    directories: Sequence[Path], phases_of: Callable[[float, float], Mapping[str, tuple[float, float]]]
) -> dict[str, Any]:
    """Return the requests of load tests over time, and by the phases of the last one, from its start and end.

    Raises:
        PerfError: If the results of a load cannot be read.
    """
    return _of_analysis(_PHASES, "loads_over_time", directories, phases_of)


def _of_analysis(module: str, function: str, *arguments: object) -> dict[str, Any]:
    """Return the result of a function of the analysis, with its errors as those of the verbs."""
    found, errors = _perfanalysis(module)
    try:
        result: dict[str, Any] = getattr(found, function)(*arguments)
    except errors.AnalysisError as error:
        raise _convert_error(error) from error
    return result


def _perfanalysis(module: str) -> tuple[Any, Any]:
    try:
        return import_module(module), import_module("perfanalysis.errors")
    except ImportError as error:
        raise UsageError(
            f"thresholds need the Python package perfanalysis where Ansible runs, and it cannot be imported ({error}): "
            "install psap-perf into Ansible's environment, or pass no thresholds"
        ) from error


def _convert_error(error: Any, result: Mapping[str, Any] | None = None) -> PerfError:
    ours = error_for_exit_code(error.exit_code, str(error))
    ours.result = result or {}
    return ours
