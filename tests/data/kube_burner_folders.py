"""Folders in the format of kube-burner's local indexer, with independently computed quantiles."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

BEGAN = 1_767_225_600
UUID = "0d1cf5c2-0000-4000-8000-00000000000a"
FIELDS = {
    "PodScheduled": "schedulingLatency",
    "Initialized": "initializedLatency",
    "ContainersReady": "containersReadyLatency",
    "Ready": "podReadyLatency",
    "PodReadyToStartContainers": "readyToStartContainersLatency",
    "ContainersStarted": "containersStartedLatency",
}
Percentile = Callable[[Sequence[float], int], float]


def of_neighbours(values: Sequence[float], percent: int) -> float:
    """Return the percentile as montanaflynn/stats computes it up to 0.7.1."""
    ordered = sorted(values)
    if len(ordered) == 1:
        return ordered[0]
    index = percent / 100 * len(ordered)
    place = int(index)
    return ordered[place - 1] if index == place else (ordered[place - 1] + ordered[place]) / 2


def interpolated(values: Sequence[float], percent: int) -> float:
    """Return the percentile as later versions compute it."""
    ordered = sorted(values)
    rank = percent / 100 * (len(ordered) - 1)
    below = math.floor(rank)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (rank - below) * (ordered[above] - ordered[below])


def stamp(seconds: float) -> str:
    """Return a time in Go's format."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def summary(job: str, pods: int, *, passed: bool = True, offset: int = 0) -> dict[str, Any]:
    """Return the summary of a job with the metadata of its user."""
    document = {
        "timestamp": stamp(BEGAN + offset),
        "endTimestamp": stamp(BEGAN + offset + 120),
        "elapsedTime": 120,
        "uuid": UUID,
        "metricName": "jobSummary",
        "jobConfig": {"name": job, "jobIterations": pods, "jobType": "create", "qps": 20, "burst": 20},
        "version": "1.17.3",
        "passed": passed,
        "platform": "AWS",
        "workerNodesCount": 6,
        "ocpVersion": "4.19.3",
        "clusterName": "night-7",
    }
    return document if passed else {**document, "executionErrors": ["pods of namespace x-3 were not ready in 4h"]}


def pods(job: str, count: int, *, seed: int = 1, offset: int = 0, churned: int = 0) -> list[dict[str, Any]]:
    """Return the latencies of a job's pods; the last `churned` are of its churn."""
    chance = random.Random(seed)
    return [_pod(job, number, chance, offset, churn=number >= count - churned) for number in range(count)]


def _pod(job: str, number: int, chance: random.Random, offset: int, *, churn: bool) -> dict[str, Any]:
    scheduled = round(chance.lognormvariate(1.5, 0.8))
    started = scheduled + round(chance.lognormvariate(7.2, 0.3))
    ready = math.ceil(started / 1000) * 1000 + 1000
    made = {
        "timestamp": stamp(BEGAN + offset + 2 + number // 20),
        "schedulingLatency": scheduled,
        "initializedLatency": 0,
        "containersReadyLatency": ready,
        "podReadyLatency": ready,
        "containersStartedLatency": started,
        "readyToStartContainersLatency": 1000,
        "metricName": "podLatencyMeasurement",
        "uuid": UUID,
        "jobName": job,
        "jobIteration": number,
        "replica": 1,
        "namespace": f"{job}-{number % 4}",
        "podName": f"{job}-{number}",
        "nodeName": f"worker-{number % 6}",
    }
    return {**made, "churnMetric": True} if churn else made


def quantiles(job: str, measured: Sequence[dict[str, Any]], percentile: Percentile) -> list[dict[str, Any]]:
    """Return the quantile documents of a job, cut to whole milliseconds."""
    found = []
    for name, field in FIELDS.items():
        values = [float(pod[field]) for pod in measured]
        numbers: dict[str, Any] = {f"P{percent}": int(percentile(values, percent)) for percent in (50, 95, 99)}
        plain: dict[str, Any] = {
            "min": int(min(values)),
            "max": int(max(values)),
            "avg": int(sum(values) / len(values)),
        }
        known = {"uuid": UUID, "timestamp": stamp(BEGAN), "metricName": "podLatencyQuantilesMeasurement"}
        found.append({"quantileName": name, **numbers, **plain, **known, "jobName": job})
    return found


def samples(job: str, name: str, *, offset: int = 0) -> list[dict[str, Any]]:
    """Return the samples of a metric profile: two namespaces, every 30 seconds."""
    return [
        {
            "timestamp": stamp(BEGAN + offset + 30 * step),
            "labels": {"namespace": namespace},
            "value": level + 0.1 * step,
            "uuid": UUID,
            "query": "sum(irate(container_cpu_usage_seconds_total[2m])) by (namespace)",
            "metricName": name,
            "jobName": job,
        }
        for namespace, level in (("openshift-etcd", 0.5), ("openshift-kube-apiserver", 1.5))
        for step in range(5)
    ]


def write(directory: Path, files: dict[str, Any]) -> Path:
    """Write a folder."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (directory / name).write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return directory


def node_density(directory: Path, count: int = 250, percentile: Percentile = of_neighbours) -> Path:
    """Write one job with churn and a metric."""
    job = "node-density"
    measured = pods(job, count, churned=count // 5)
    return write(
        directory,
        {
            "jobSummary.json": [summary(job, count)],
            f"podLatencyMeasurement-{job}.json": measured,
            f"podLatencyQuantilesMeasurement-{job}.json": quantiles(job, measured, percentile),
            f"namespace_cpu_cores-{job}.json": samples(job, "namespace_cpu_cores"),
        },
    )


def two_jobs(directory: Path) -> Path:
    """Write two jobs, the second failed, in common files, with alerts during the second."""
    first, second = pods("create", 120), pods("touch", 40, seed=2, offset=200)
    alerts = [
        {"timestamp": stamp(BEGAN + 230), "uuid": UUID, "severity": "error", "description": "etcd is slow"},
        {"timestamp": stamp(BEGAN + 231), "uuid": UUID, "severity": "info", "description": "a node came"},
    ]
    return write(
        directory,
        {
            "jobSummary.json": [summary("create", 120), summary("touch", 40, passed=False, offset=200)],
            "podLatencyMeasurement.json": [*first, *second],
            "podLatencyQuantilesMeasurement-create.json": quantiles("create", first, interpolated),
            "podLatencyQuantilesMeasurement-touch.json": quantiles("touch", second, interpolated),
            "alert.json": alerts,
        },
    )
