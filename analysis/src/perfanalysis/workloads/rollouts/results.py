"""The results of a rollout under load."""

from __future__ import annotations

from typing import Any

from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.replicas import between, of_phase

_LATENCY = "latency_p50_s"


def rollout_time(tables: Any) -> Value:
    """Return the time from the change until only the new version was Ready, in the wanted number."""
    return between(tables, "change_s", "done_s", "the former version was still Ready when the recording ended")


def failed(tables: Any) -> Value:
    """Return the requests that failed during the rollout."""
    return of_phase(tables, "during", "failed")


def before(tables: Any) -> Value:
    """Return the median latency of requests before the change."""
    return of_phase(tables, "before", _LATENCY)


def during(tables: Any) -> Value:
    """Return the median latency of requests that ended during the rollout."""
    return of_phase(tables, "during", _LATENCY)


def ratio(tables: Any) -> Value:
    """Return the median latency during the rollout, divided by that before."""
    numbers = before(tables), during(tables)
    if numbers[0].number and numbers[1].number:
        return Value(numbers[1].number / numbers[0].number, "no interval for a phase")
    return Value(None, "the latency before or during the rollout is unknown")
