"""Documents of kube-burner: their kinds, and figures of a job as a whole."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from perfanalysis.files.documents import mapping, number_or, parse_time, text_or_none
from perfanalysis.workloads.percentiles import Value

SUMMARY = "jobSummary.json"
ALERTS = "alert.json"
PODS = "podLatencyMeasurement"
QUANTILES = "QuantilesMeasurement"
CONDITIONS: Mapping[str, tuple[str, str]] = {
    "PodScheduled": ("schedulingLatency", "scheduled_after_s"),
    "PodReadyToStartContainers": ("readyToStartContainersLatency", "ready_to_start_after_s"),
    "Initialized": ("initializedLatency", "initialized_after_s"),
    "ContainersStarted": ("containersStartedLatency", "containers_started_after_s"),
    "ContainersReady": ("containersReadyLatency", "containers_ready_after_s"),
    "Ready": ("podReadyLatency", "ready_after_s"),
}
"""The name of a quantile → the field of a pod's document, in milliseconds, and our column, in seconds."""
STATISTICS = ("P50", "P95", "P99", "min", "max", "avg")
NANOSECONDS = ("svcLatency", "serviceLatency")
"""Measurements that are in nanoseconds; all others are in milliseconds."""


def milliseconds(measurement: str, value: object) -> float | None:
    """A value of a measurement in milliseconds; None for what is no number."""
    number = number_or(value, math.nan)
    if not math.isfinite(number):
        return None
    return number / 1e6 if measurement.startswith(NANOSECONDS) else number


def job_of(record: Mapping[str, Any]) -> str | None:
    """The job that a document is of."""
    return text_or_none(record.get("jobName")) or text_or_none(mapping(record.get("jobConfig")).get("name"))


def moment(record: Mapping[str, Any], key: str = "timestamp") -> float | None:
    """A time of a document in seconds since the epoch; None where there is none, or Go's zero time."""
    at_s = parse_time(record.get(key))
    return at_s if at_s is not None and at_s > 0 else None


def creation_rate(tables: Any) -> Value:
    """Pods created a second: those after the first, over the time from the first creation to the last.

    kube-burner's times of creation are whole seconds.
    """
    created = tables.pods["created_s"].dropna()
    took = float(created.max() - created.min()) if len(created) else 0.0
    if took <= 0:
        return Value(None, "it needs pods of two moments")
    return Value((len(created) - 1) / took, count=len(created))


def iteration_rate(tables: Any) -> Value:
    """Iterations a second, over the whole length of the jobs."""
    jobs = tables.jobs
    known = jobs["iterations"].notna() & jobs["elapsed_s"].notna()
    took = float(jobs.loc[known, "elapsed_s"].sum())
    if took <= 0:
        return Value(None, "the summary does not tell iterations and elapsed time")
    return Value(float(jobs.loc[known, "iterations"].sum()) / took)
