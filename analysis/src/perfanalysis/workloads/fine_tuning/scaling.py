"""Comparison of jobs that differ only in their GPUs: speed-up and efficiency against one GPU.

Two jobs form a pair if model, dataset, image, hyper-parameters and all settings of their cells are equal, except those
that count GPUs, pods and nodes. The one with a single GPU is the reference.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from perfanalysis.workloads.fine_tuning.job import EQUAL, PHASE, REFERENCE
from perfanalysis.workloads.kpis import Kpi, KpiValue, evaluate
from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.workload_type import Analysis

COUNTS = ("gpu", "gpus", "pod", "pods", "pod_count", "node_count", "gpu_count", "gpus_per_pod")
"""Suffixes of settings of a cell that determine the size of a job."""
FLOW = "fine_tuning_"
RATES = ("samples_per_second", "tokens_per_second")
"""The rates by which jobs are compared: the first that both have."""


@dataclass(frozen=True)
class JobInMatrix:
    """A job with its setup. `setup` is flat; `group` is a text that equal setups share."""

    analysis: Analysis
    setup: Mapping[str, Any]
    gpus: int | None
    kpis: Mapping[str, KpiValue]

    @property
    def group(self) -> str:
        """Equal for jobs that differ only in their GPUs."""
        return json.dumps(dict(self.setup), sort_keys=True, default=str)

    def number(self, name: str) -> float | None:
        """Return a KPI's number."""
        return self.kpis[name].number if name in self.kpis else None

    @property
    def phase(self) -> str | None:
        """Return the phase of the test it belongs to."""
        return self.setup.get(PHASE)

    def without(self, name: str) -> JobInMatrix:
        """Return the job as if one part of its setup were missing."""
        return replace(self, setup={key: value for key, value in self.setup.items() if key != name})


@dataclass(frozen=True)
class Scaled:
    """A job and its references: the same setup on one GPU, and the same jobs trained alone."""

    job: JobInMatrix
    singles: tuple[JobInMatrix, ...]
    references: tuple[JobInMatrix, ...]


def jobs_of(analyses: Iterable[Analysis]) -> tuple[JobInMatrix, ...]:
    """Return every recording as a job of a matrix."""
    return tuple(_job(analysis) for analysis in analyses)


def _job(analysis: Analysis) -> JobInMatrix:
    row = analysis.frames["fine_tuning"].astype("object").iloc[0]
    stated = json.loads(str(row["setup"]))
    cell = analysis.place.cell
    values = {} if cell is None else cell.values
    rest = {leaf(name): value for name, value in values.items() if not _counts(name) and not _stated(name)}
    setup = {name: value for name, value in {**rest, **stated}.items() if value is not None}
    kpis = {value.name: value for value in analysis.kpis}
    gpus = kpis["training_gpus"].number
    return JobInMatrix(analysis, setup, None if gpus is None else int(gpus), kpis)


def leaf(setting: str) -> str:
    """Return a setting's name without its flow and group, which is the hyper-parameter's own name."""
    return setting.rsplit(".", 1)[-1].removeprefix(FLOW)


def _counts(setting: str) -> bool:
    return any(leaf(setting) == name or leaf(setting).endswith(f"_{name}") for name in COUNTS)


def _stated(setting: str) -> bool:
    """Return whether the job's document states the same under another name: model for fine_tuning_model_name."""
    return leaf(setting).removesuffix("_name") in EQUAL


def groups_of(jobs: Iterable[JobInMatrix]) -> dict[str, list[JobInMatrix]]:
    """Return the jobs that differ only in their GPUs, by their group."""
    found: dict[str, list[JobInMatrix]] = {}
    for job in jobs:
        found.setdefault(job.group, []).append(job)
    return found


def scaled(jobs: Iterable[JobInMatrix]) -> tuple[Scaled, ...]:
    """Return every job with those of its group that ran on one GPU."""
    given = tuple(jobs)
    groups = groups_of(given)
    singles = {name: tuple(job for job in members if job.gpus == 1) for name, members in groups.items()}
    alone: dict[tuple[str, int | None], tuple[JobInMatrix, ...]] = {}
    for job in given:
        if job.phase == REFERENCE:
            alone[_but_for_phase(job)] = (*alone.get(_but_for_phase(job), ()), job)
    return tuple(Scaled(job, singles[job.group], alone.get(_but_for_phase(job), ())) for job in given)


def _but_for_phase(job: JobInMatrix) -> tuple[str, int | None]:
    return job.without(PHASE).group, job.gpus


def speed_up(one: Scaled) -> Value:
    """Return the rate of a job, divided by that on one GPU; the median of several of these."""
    if not one.job.gpus:
        return Value(None, "the job requested no GPU" if one.job.gpus == 0 else "the job's GPUs are unknown")
    if not one.singles:
        return Value(None, "the run has no job with the same settings on one GPU")
    return _of(one.job, one.singles, "the job on one GPU")


def _of(job: JobInMatrix, others: tuple[JobInMatrix, ...], words: str) -> Value:
    """Return the rate of a job, divided by the median of other jobs' rates."""
    for name in RATES:
        own = job.number(name)
        numbers = [number for other in others if (number := other.number(name))]
        if own is not None and numbers:
            return Value(own / median(numbers), count=len(numbers))
    missing = job if all(job.number(name) is None for name in RATES) else others[0]
    where = "the job" if missing is job else words
    return Value(None, f"{where} has no throughput: {missing.kpis[RATES[0]].reason}")


def against_reference(one: Scaled) -> Value:
    """Return the rate of a job that trained concurrently with others, divided by the rate of the same job alone."""
    if one.job.phase is None:
        return Value(None, "the run trains in a single phase")
    if not one.references:
        return Value(None, f"the run has no job with the same settings in the phase {REFERENCE}")
    return _of(one.job, one.references, "the job trained alone")


def efficiency(one: Scaled) -> Value:
    """Return the speed-up per GPU."""
    whole = speed_up(one)
    return whole if whole.number is None or not one.job.gpus else Value(whole.number / one.job.gpus, count=whole.count)


SCALING_KPIS: tuple[Kpi[Scaled], ...] = (
    Kpi("speed_up", "Throughput divided by the same job's on one GPU", "times", "higher", speed_up, "Speed-up"),
    Kpi("efficiency", "Speed-up divided by the GPUs", "ratio", "higher", efficiency, "Efficiency"),
    Kpi(
        "throughput_of_reference",
        "Throughput while other jobs ran, relative to the same job alone",
        "ratio",
        "higher",
        against_reference,
        "Of reference",
    ),
)


def scaling_kpis(jobs: Iterable[JobInMatrix]) -> dict[str, tuple[KpiValue, ...]]:
    """Return the KPIs of every job that require other jobs, by the name of its recording."""
    return {one.job.analysis.place.name: evaluate(SCALING_KPIS, one) for one in scaled(jobs)}


def varying(jobs: Iterable[JobInMatrix]) -> dict[str, list[Any]]:
    """Return the parts of the setups that differ between jobs, with their values in the order of appearance."""
    found: dict[str, list[Any]] = {}
    given = tuple(jobs)
    for name in dict.fromkeys(name for job in given for name in job.setup):
        values: list[Any] = []
        for job in given:
            value = job.setup.get(name)
            if value not in values:
                values.append(value)
        if len(values) > 1:
            found[name] = values
    return found
