"""The results of an autoscaling test."""

from __future__ import annotations

from typing import Any

from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.replicas import between, of_phase, seconds_or

_NOT_SCALED = "the autoscaler wanted no more replicas than at the step"


def _reason(tables: Any, missing: str) -> str:
    (row,) = tables.moments.to_dict("records")
    return _NOT_SCALED if row["wanted"] <= row["base"] else missing


def first_replica(tables: Any) -> Value:
    """Return the time from the step of the load until an additional replica was Ready."""
    return between(tables, "step_s", "first_s", _reason(tables, "no additional replica was Ready"))


def scale_up_time(tables: Any) -> Value:
    """Return the time from the step of the load until all wanted replicas were Ready."""
    return between(tables, "step_s", "reached_s", _reason(tables, "the wanted replicas were not all Ready"))


def scale_down_time(tables: Any) -> Value:
    """Return the time from the end of the load until the replicas were as few as at the step."""
    (row,) = tables.moments.to_dict("records")
    seconds = float(row["down_s"]) - float(tables.loads["end_s"].max())
    missing = "the replicas were not as few as at the step before the recording ended"
    return seconds_or(seconds, _reason(tables, missing))


def failed(tables: Any) -> Value:
    """Return the requests that failed from the step until all wanted replicas were Ready, or the load ended."""
    return of_phase(tables, "scaling", "failed")
