"""A job's GPUs in Prometheus: series of NVIDIA's DCGM exporter for a pod of the job, while it ran."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from perfanalysis.files.discovery import Place
from perfanalysis.files.documents import text_or_none
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.job import KIND, MARKER, Job, job_of, logs_of
from perfanalysis.workloads.fine_tuning.tables import GPU_SAMPLES, FineTuningTables
from perfanalysis.workloads.prometheus_ranges import Ranges, labels_of

if TYPE_CHECKING:
    import pandas as pd

MEBIBYTE = 2.0**20
RESOLUTION_S = 1.0
"""Accuracy of the cluster's timestamps, which are cut off: a job ends up to so much later than stated."""
USAGE: Mapping[str, float] = {"DCGM_FI_DEV_GPU_UTIL": 0.01, "DCGM_FI_PROF_GR_ENGINE_ACTIVE": 1.0}
"""Metrics of GPU utilisation, the better first, with the factor to a ratio."""
MEMORY: Mapping[str, float] = {"DCGM_FI_DEV_FB_USED": MEBIBYTE}


@dataclass(frozen=True)
class Pods:
    """The pods of a job: by their names if its logs contain them, else by the job's name as their prefix."""

    namespace: str | None
    job: str
    names: frozenset[str]

    def own(self, labels: Mapping[str, str]) -> bool:
        """Return whether a series is about one of them. If Prometheus has its own label `pod`, the exporter's is
        renamed.
        """
        pod = labels.get("exported_pod") or labels.get("pod")
        namespace = labels.get("exported_namespace") or labels.get("namespace")
        if not pod or (namespace and self.namespace and namespace != self.namespace):
            return False
        return pod in self.names if self.names else bool(self.job) and pod.startswith(f"{self.job}-")


def monitored(tables: FineTuningTables, place: Place, ranges: tuple[Ranges, ...]) -> FineTuningTables:
    """Return the tables with the samples of the job's GPUs, unless the recording already has samples."""
    if len(tables.gpu_samples) or not ranges:
        return tables
    document = RecordingFiles(place).document(MARKER, KIND)
    names = frozenset(_pod(log) for log in logs_of(document))
    pods = Pods(text_or_none(document.get("namespace")), str(document.get("job") or ""), names)
    return replace(tables, gpu_samples=gpu_samples(ranges, pods, job_of(document)))


def _pod(log: str) -> str:
    """`logs/<pod>.log`, or with `_<container>` before the suffix, which no pod's name contains."""
    return PurePosixPath(log).name.removesuffix(".log").split("_", 1)[0]


def gpu_samples(ranges: tuple[Ranges, ...], pods: Pods, job: Job) -> pd.DataFrame:
    """Return one row for each GPU of the pods and sample during the job; none if its time is unknown."""
    import pandas as pd

    if job.started_s is None:
        return GPU_SAMPLES.empty()
    end_s = max(window.end_s for window in ranges) if job.ended_s is None else job.ended_s + RESOLUTION_S
    frames = [
        _of_window(window.samples, pods, (job.started_s, end_s))
        for window in ranges
        if window.overlaps(job.started_s, end_s)
    ]
    found = [frame for frame in frames if len(frame)]
    if not found:
        return GPU_SAMPLES.empty()
    rows = pd.concat(found, ignore_index=True).drop_duplicates(["gpu", "at_s"]).sort_values(["gpu", "at_s"])
    return GPU_SAMPLES.conform(rows.reset_index(drop=True))


def _of_window(samples: pd.DataFrame, pods: Pods, within: tuple[float, float]) -> pd.DataFrame:
    usage = _measured(samples, pods, within, USAGE).rename(columns={"value": "usage"})
    memory = _measured(samples, pods, within, MEMORY).rename(columns={"value": "memory_bytes"})
    return usage.merge(memory, on=["gpu", "at_s"], how="outer")


def _measured(
    samples: pd.DataFrame, pods: Pods, within: tuple[float, float], metrics: Mapping[str, float]
) -> pd.DataFrame:
    """Yield GPU, time and value of the first of `metrics` that the pods' GPUs have."""
    every = {str(text): labels_of(str(text)) for text in samples["labels"].cat.categories}
    gpus = {text: _gpu(labels) for text, labels in every.items() if pods.own(labels)}
    rows = samples[samples["labels"].isin(gpus) & samples["at_s"].between(*within) & samples["value"].notna()]
    known = set(rows["metric"].dropna().astype("str"))
    metric = next((name for name in metrics if name in known), next(iter(metrics)))
    rows = rows[rows["metric"] == metric]
    names = rows["labels"].astype("str").map(gpus)
    found = rows.assign(gpu=names, value=metrics[metric] * rows["value"])[["gpu", "at_s", "value"]]
    return found.drop_duplicates(["gpu", "at_s"])


def _gpu(labels: Mapping[str, str]) -> str:
    """Return a distinguishing and readable name of a GPU; its UUID if the exporter does not state its place."""
    node, number = labels.get("Hostname"), labels.get("gpu")
    if node and number is not None:
        return f"{node} GPU {number}"
    return labels.get("UUID") or json.dumps(dict(sorted(labels.items())))
