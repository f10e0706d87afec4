"""Judge a single load of a served model, for the search of the highest load within limits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perfanalysis.errors import DataQualityError, HistoryError
from perfanalysis.files.cache import scratch_folder
from perfanalysis.verdicts.thresholds.verdict import Judged, judge
from perfanalysis.verdicts.thresholds.write import check_thresholds
from perfanalysis.workloads.load_test.stages import SUMMARY
from perfanalysis.workloads.run_analysis import analyse_run


def judge_load(directory: Path, limits: Mapping[str, object]) -> dict[str, Any]:
    """Return the row of a load.

    `held` states whether the value of each measure is within its limit. `certain` states whether that also applies to
    both ends of each 95 % interval.

    Args:
        directory: Directory of the command that recorded the load.
        limits: Limits by measure, as thresholds.

    Raises:
        UsageError: A limit is invalid.
        DataQualityError: The results of the load cannot be read.
        HistoryError: The load has too few values for a measure.
    """
    thresholds = check_thresholds(limits)
    with scratch_folder() as tables:
        result = analyse_run(directory, tables)
    found = [one for one in result.analyses if SUMMARY.name in one.frames]
    if len(found) != 1 or len(found[0].frames[SUMMARY.name]) != 1:
        errors = "; ".join(finding.text for finding in result.findings) or "it does not have exactly one load"
        raise DataQualityError(f"{directory}: cannot judge the load: {errors}")
    (recording,) = (one for one in judge(result, thresholds).recordings if one.labels["load"] == found[0].facts["load"])
    measures = [_measure(judged, directory) for judged in recording.judged]
    missed = [one for one in measures if not one["held"]]
    # one measure that certainly misses its limit is enough
    certain = any(one["certain"] for one in missed) if missed else all(one["certain"] for one in measures)
    users = int(found[0].frames[SUMMARY.name]["concurrency"].iloc[0])
    return {"users": users, "held": not missed, "certain": certain, "measures": measures}


def _measure(judged: Judged, directory: Path) -> dict[str, Any]:
    """Return the row of a measure. Raises HistoryError if it has too few values."""
    threshold, value = judged.threshold, judged.measured
    if value.number is None:
        raise HistoryError(f"{directory}: cannot judge {judged.sentence}; set a longer duration of the load")
    held = threshold.holds(value.number)
    ends = [end for end in (value.low, value.high) if end is not None]
    # a percentile of too few values has no interval, for a stated reason; a count is exact
    certain = value.reason is None and all(threshold.holds(end) == held for end in ends)
    return {
        "measure": threshold.measure.name,
        "unit": threshold.measure.unit,
        "operator": threshold.operator,
        "limit": threshold.limit,
        "value": value.number,
        "low": value.low,
        "high": value.high,
        "held": held,
        "certain": certain,
    }
