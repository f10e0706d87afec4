"""Documents of kube-burner: their kinds, and figures of a job as a whole.

Each number of kube-burner's quantile documents is compared with the one computed from the samples.

kube-burner passes its samples, whole milliseconds, to Percentile of montanaflynn/stats and truncates the result to
whole milliseconds. Up to its version 0.7.1, that is the mean of two neighbours (the percentile method `kube-burner`);
later versions interpolate (`linear`); both are tried. Truncation explains a difference of up to 1 ms.

Also the tables of one or several jobs of kube-burner.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfanalysis.files.documents import finite_number, listing, mapping, number_or, parse_time, text_or_none
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.percentiles import METHODS, Method, Value, percentile

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
    """Return a value of a measurement in milliseconds; None if it is not a number."""
    number = number_or(value, math.nan)
    if not math.isfinite(number):
        return None
    return number / 1e6 if measurement.startswith(NANOSECONDS) else number


def job_of(record: Mapping[str, Any]) -> str | None:
    """Return the job that a document belongs to."""
    return text_or_none(record.get("jobName")) or text_or_none(mapping(record.get("jobConfig")).get("name"))


def moment(record: Mapping[str, Any], key: str = "timestamp") -> float | None:
    """Return a time of a document in seconds since the epoch; None if it is missing, or Go's zero time."""
    at_s = parse_time(record.get(key))
    return at_s if at_s is not None and at_s > 0 else None


def creation_rate(tables: Any) -> Value:
    """Return pods created per second: those after the first, over the time from the first creation to the last.

    kube-burner's times of creation are whole seconds.
    """
    created = tables.pods["created_s"].dropna()
    took = float(created.max() - created.min()) if len(created) else 0.0
    if took <= 0:
        return Value(None, "it needs pods at two different times")
    return Value((len(created) - 1) / took, count=len(created))


def iteration_rate(tables: Any) -> Value:
    """Return iterations per second, over the whole length of the jobs."""
    jobs = tables.jobs
    known = jobs["iterations"].notna() & jobs["elapsed_s"].notna()
    took = float(jobs.loc[known, "elapsed_s"].sum())
    if took <= 0:
        return Value(None, "the summary does not state iterations and elapsed time")
    return Value(float(jobs.loc[known, "iterations"].sum()) / took)


TOLERANCE_MS = 1.0
SHARES = {"P50": 0.50, "P95": 0.95, "P99": 0.99}
POD_MEASUREMENT = PODS.removesuffix("Measurement")


@dataclass(frozen=True)
class Quantiles:
    """One document: its numbers in milliseconds, its samples, and the percentile method that fits best."""

    measurement: str
    job: str | None
    condition: str | None
    reported: Mapping[str, float]
    samples: NDArray[np.float64] | None
    method: Method

    def computed(self, statistic: str) -> float | None:
        """Return a statistic of the samples; None without samples."""
        return None if self.samples is None else computed(self.samples, statistic, self.method)

    def difference(self, statistic: str) -> float | None:
        """Return how far the document is from its samples."""
        value = self.computed(statistic)
        return None if value is None else abs(self.reported[statistic] - value)

    @property
    def farthest(self) -> float | None:
        """Return the largest of its differences."""
        differences = [self.difference(statistic) for statistic in self.reported]
        return max((value for value in differences if value is not None), default=None)


def read_quantiles(records: Iterable[Mapping[str, Any]], pods: Sequence[Row]) -> Iterator[Quantiles]:
    """Return the documents, each with the pods of the same job as its samples."""
    samples = _samples(pods)
    for record in records:
        measurement = (text_or_none(record.get("metricName")) or f"{POD_MEASUREMENT}{QUANTILES}").removesuffix(
            QUANTILES
        )
        job, condition = job_of(record), text_or_none(record.get("quantileName"))
        given = ((statistic, milliseconds(measurement, record.get(statistic))) for statistic in STATISTICS)
        reported = {statistic: value for statistic, value in given if value is not None}
        own = samples.get((job, condition)) if measurement == POD_MEASUREMENT else None
        candidates = [Quantiles(measurement, job, condition, reported, own, method) for method in METHODS]
        # of methods that fit equally well, the tool's own
        yield min(candidates, key=lambda one: (_beyond(one.farthest), one.method != "kube-burner"))


def _beyond(difference: float | None) -> float:
    return 0.0 if difference is None or difference <= TOLERANCE_MS else difference


def document_row(found: Quantiles) -> Row:
    """Return a document in one row."""
    percentiles = found.samples is not None and bool(found.reported.keys() & SHARES.keys())
    return {
        "measurement": found.measurement,
        "job": found.job,
        "condition": found.condition,
        **{f"{name.lower()}_s": _seconds(found.reported.get(name)) for name in STATISTICS},
        "samples": None if found.samples is None else len(found.samples),
        "method": found.method if percentiles else None,
        "farthest_ms": found.farthest,
    }


def quantile_rows(found: Quantiles) -> Iterator[Row]:
    """Return a row for each number of a document, with the value computed from the samples."""
    for statistic, reported in found.reported.items():
        difference = found.difference(statistic)
        yield {
            "measurement": found.measurement,
            "job": found.job,
            "condition": found.condition,
            "statistic": statistic,
            "reported_s": reported / 1000,
            "recomputed_s": _seconds(found.computed(statistic)),
            "agrees": None if difference is None else difference <= TOLERANCE_MS,
        }


def _seconds(value: float | None) -> float | None:
    return None if value is None else value / 1000


def _samples(pods: Sequence[Row]) -> dict[tuple[str | None, str | None], NDArray[np.float64]]:
    """Return the latencies in milliseconds of each job and condition, in order."""
    import numpy as np

    found: dict[tuple[str | None, str | None], list[float]] = {}
    for pod in pods:
        for condition, (_, column) in CONDITIONS.items():
            if pod[column] is not None:
                found.setdefault((pod["job"], condition), []).append(round(1000 * pod[column], 6))
    return {key: np.sort(np.array(values)) for key, values in found.items()}


def computed(samples: NDArray[np.float64], statistic: str, method: Method) -> float | None:
    """Return a statistic of sorted samples; None if a method has no result for so few."""
    if statistic in SHARES:
        try:
            return percentile(samples, SHARES[statistic], method)
        except ValueError:
            return None
    plain = {"min": samples[0], "max": samples[-1], "avg": samples.mean()}
    return float(plain[statistic])


def disagreements(found: Quantiles) -> Iterator[str]:
    """Yield a sentence for each number that differs from the samples beyond truncation, with both numbers."""
    for statistic, reported in found.reported.items():
        value = found.computed(statistic)
        if value is not None and found.samples is not None and abs(reported - value) > TOLERANCE_MS:
            yield (
                f"{found.job}, {found.condition}: {statistic} is {reported:g} ms in the document, but {value:g} ms from"
                f" its {len(found.samples)} pods"
            )


Row = dict[str, Any]


def tables_of(source: RecordingFiles) -> dict[str, list[Row]]:
    """Return every table of the kind; contradictions and gaps in the documents become findings."""
    jobs = [_job(record) for record in source.records(SUMMARY)]
    pods = [_pod(record) for record in source.records(f"{PODS}*.json")]
    found = list(read_quantiles(source.records(f"*{QUANTILES}*.json"), pods))
    for text in (text for document in found for text in disagreements(document)):
        source.find("warning", f"*{QUANTILES}*.json", text)
    _find_zeros(source, pods)
    if not jobs:
        source.find("error", SUMMARY, "it holds no job")
    return {
        "jobs": jobs,
        "pods": pods,
        "documents": [document_row(document) for document in found],
        "quantiles": [row for document in found for row in quantile_rows(document)],
        "alerts": list(_alerts(source)),
    }


def _job(record: Mapping[str, Any]) -> Row:
    config = mapping(record.get("jobConfig"))
    passed = record.get("passed")
    errors = record.get("executionErrors")
    return {
        "job": job_of(record),
        "uuid": text_or_none(record.get("uuid")),
        "type": text_or_none(config.get("jobType")),
        "started_s": moment(record),
        "ended_s": moment(record, "endTimestamp"),
        "churn_started_s": moment(record, "churnStartTimestamp"),
        "churn_ended_s": moment(record, "churnEndTimestamp"),
        "elapsed_s": _not_negative(record.get("elapsedTime")),
        "iterations": _not_negative(config.get("jobIterations")),
        "qps": _not_negative(config.get("qps")),
        "passed": passed if isinstance(passed, bool) else None,
        "errors": "; ".join(map(str, listing(errors))) or text_or_none(errors) or None,
    }


def _pod(record: Mapping[str, Any]) -> Row:
    created_s = moment(record)
    delays = {
        column: None if value is None else value / 1000
        for field, column in CONDITIONS.values()
        for value in (milliseconds(PODS, record.get(field)),)
    }
    ready = delays["ready_after_s"]
    return {
        "job": job_of(record),
        "namespace": text_or_none(record.get("namespace")),
        "pod": text_or_none(record.get("podName")),
        "node": text_or_none(record.get("nodeName")),
        "iteration": _whole(record.get("jobIteration")),
        "replica": _whole(record.get("replica")),
        "churn": record.get("churnMetric") is True,
        "created_s": created_s,
        "ready_s": None if created_s is None or ready is None else created_s + ready,
        **delays,
    }


def _not_negative(value: object) -> float | None:
    number = finite_number(value)
    return None if number is None or number < 0 else number


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _alerts(source: RecordingFiles) -> Iterable[Row]:
    for record in source.records(ALERTS, optional=True):
        yield {
            "at_s": moment(record),
            "severity": text_or_none(record.get("severity")),
            "description": text_or_none(record.get("description")),
        }


def _find_zeros(source: RecordingFiles, pods: list[Row]) -> None:
    """kube-burner writes 0 instead of negative values, so a 0 is not a measured interval."""
    for name, (_, column) in CONDITIONS.items():
        zeros = sum(pod[column] == 0 for pod in pods)
        if zeros and name in ("Ready", "ContainersReady"):
            text = (
                f"{zeros} of {len(pods)} pods have the latency 0 until {name}: kube-burner writes 0 for negative ones"
            )
            source.find("note", f"{PODS}*.json", text)
