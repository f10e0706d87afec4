"""A fine-tuning job as its command states it in fine_tuning.json."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from perfanalysis.files.documents import Document, listing, mapping, number_or, text_or_none
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.workloads.fine_tuning.logs.records import finite

MARKER = "fine_tuning.json"
KIND = "fine-tuning"
BATCHES = ("per_device_train_batch_size", "batch_size_per_device", "max_batch_len", "effective_batch_size")
"""The trainers' names of the setting that determines how much data a GPU processes at a time."""
PER_DEVICE = BATCHES[:2]
ACCUMULATION = "gradient_accumulation_steps"
EQUAL = ("workload", "mode", "model", "dataset", "dataset_replication", "container_image", "gpu_product")
"""What two jobs that differ only in GPUs have in common, in addition to the hyper-parameters and the phase."""
PHASE, REFERENCE = "phase", "reference"
"""The phase of a test in which the job trains alone."""


@dataclass(frozen=True)
class Job:
    """The workload, its environment, its result; None if the command does not state it. Times: s since the epoch."""

    document: Document
    workload: str
    phase: str | None
    model: str | None
    dataset: str | None
    pods: int | None
    gpus_per_pod: int | None
    created_s: float | None
    started_s: float | None
    ended_s: float | None
    outcome: str | None
    reason: str | None
    exit_code: int | None

    @property
    def gpus(self) -> int | None:
        """Return the GPUs of all pods."""
        return None if self.pods is None or self.gpus_per_pod is None else self.pods * self.gpus_per_pod

    def parameter(self, name: str) -> object:
        """Return a hyper-parameter: as the trainer received it, else as the user set it."""
        for part in ("configuration", "hyper_parameters"):
            found = dict(leaves(mapping(self.document.get(part))))
            match = [value for key, value in found.items() if key.rsplit(".", 1)[-1] == name and value is not None]
            if match:
                return match[0]
        return None

    def number(self, name: str) -> float | None:
        """Return a hyper-parameter that is a number, or a text of one."""
        return finite(self.parameter(name))

    @property
    def batch(self) -> tuple[str, float] | None:
        """Return the setting that determines how much data a GPU processes at a time, and its value."""
        found = ((name, self.number(name)) for name in BATCHES)
        return next(((name, value) for name, value in found if value is not None), None)

    @property
    def hyper_parameters(self) -> dict[str, object]:
        """Return those that the user set, flat."""
        return dict(leaves(mapping(self.document.get("hyper_parameters"))))

    @property
    def setup(self) -> dict[str, object]:
        """Return what must be equal for two jobs to differ only in their GPUs, flat."""
        named = {name: self.document.get(name) for name in EQUAL}
        return {**named, PHASE: self.phase, **self.hyper_parameters}

    @property
    def period(self) -> tuple[float, float] | None:
        """Return when its main pod's container began and ended; None unless both are known."""
        if self.started_s is None or self.ended_s is None or self.ended_s < self.started_s:
            return None
        return self.started_s, self.ended_s

    @property
    def why_not_whole(self) -> str | None:
        """Return why the end of the log may be missing; None for a completed job."""
        if self.outcome in (None, "completed"):
            return None
        return f"the job {self.outcome}" + (f": {self.reason}" if self.reason else "")


def leaves(values: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, object]]:
    """Return the leaves of nested mappings by dotted name; lists as JSON."""
    for key, value in values.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict):
            yield from leaves(value, f"{name}.")
        else:
            yield name, json.dumps(value, default=str) if isinstance(value, list) else value


def job_of(document: Document) -> Job:
    """Return the typed view of fine_tuning.json; missing values and those of another type are None."""
    return Job(
        document=document,
        workload=str(document.get("workload") or "unknown"),
        phase=text_or_none(document.get(PHASE)) or None,
        model=text_or_none(document.get("model")),
        dataset=text_or_none(document.get("dataset")),
        pods=_whole(document.get("pods")),
        gpus_per_pod=_whole(document.get("gpus_per_pod")),
        created_s=finite(document.get("created_s")),
        started_s=finite(document.get("started_s")),
        ended_s=finite(document.get("ended_s")),
        outcome=text_or_none(document.get("outcome")),
        reason=text_or_none(document.get("reason")),
        exit_code=_whole(document.get("exit_code")),
    )


def logs_of(document: Document) -> tuple[str, ...]:
    """Return the logs of the job, the main pod's first."""
    return tuple(log for log in listing(document.get("logs")) if isinstance(log, str))


def logs_to_read(source: RecordingFiles, document: Document) -> tuple[str, ...]:
    """Return the logs that the document names, except those outside of the artifacts, which become findings."""
    names = logs_of(document)
    for name in names:
        if not source.declares(name):
            source.find("warning", MARKER, f"it names the log {name}, which is not one of logs/*.log; it was not read")
    return tuple(name for name in names if source.declares(name))


def logging_steps_of(job: Job) -> float:
    """Return the steps between two records, 1 if the configuration does not state it."""
    return max(number_or(job.number("logging_steps"), 1.0), 1.0)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**9 else None
