"""All measures of one fine-tuning job, from its tables to the input of KPIs, plots and report.

Throughput over the steps of a training uses the clock of its log. A progress bar counts whole seconds; records are
joined until they span ten of them, so that the error is at most a tenth. Timestamps and stated times are used
unchanged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.fine_tuning.job import ACCUMULATION, PER_DEVICE, Job
from perfanalysis.workloads.fine_tuning.tables import FineTuningTables
from perfanalysis.workloads.percentiles import Method

if TYPE_CHECKING:
    import pandas as pd

BYTES_PER_GIB = 2.0**30
NO_LOG = "no log of the job has output of a trainer"


@dataclass(frozen=True)
class Measures:
    """Tables and facts of a job. `format` is the log's format, None if no log could be read.

    `facts` has each fact once, the last one stated; `every_fact` has all values.
    """

    job: Job
    format: str | None
    steps: pd.DataFrame
    facts: dict[str, float]
    every_fact: dict[str, list[float]]
    throughput: pd.DataFrame
    problems: pd.DataFrame
    gpu_samples: pd.DataFrame
    method: Method
    """The method of percentiles."""

    def column(self, name: str) -> NDArray[np.float64]:
        """Return a column of the training steps, unchanged."""
        values: NDArray[np.float64] = self.steps[name].to_numpy(dtype=float)
        return values

    @property
    def why_no_summary(self) -> str:
        """Return why the trainer's summary is missing."""
        if self.format is None:
            return self.job.why_not_whole or NO_LOG
        return "the log ends before the trainer's summary" + _because(self.job)

    @property
    def why_not_monitored(self) -> str:
        """Return why samples of the job's GPUs are missing."""
        return "no process monitored the GPUs of the job"

    def why_missing(self, what: str) -> str:
        """Return why a number is missing in the log."""
        if self.format is None:
            return self.job.why_not_whole or NO_LOG
        return f"the log has {what}" + _because(self.job)


def _because(job: Job) -> str:
    return f"; {job.why_not_whole}" if job.why_not_whole else ""


def measure(tables: FineTuningTables, job: Job, method: Method) -> Measures:
    """Compute everything."""
    every: dict[str, list[float]] = {}
    for name, value in zip(tables.facts["name"], tables.facts["value"], strict=True):
        every.setdefault(str(name), []).append(float(value))
    facts = {name: values[-1] for name, values in every.items()}
    formats = [*tables.steps["format"].head(1), *tables.facts["format"].head(1)]
    return Measures(
        job=job,
        format=str(formats[0]) if formats else None,
        steps=tables.steps,
        facts=facts,
        every_fact=every,
        throughput=throughput_table(tables.steps, job, facts),
        problems=tables.problems,
        gpu_samples=tables.gpu_samples,
        method=method,
    )


THROUGHPUT = TableSpec(
    "training_throughput",
    "One row per interval between two records of the trainer's log",
    (
        Column("step", "number", "last step of the interval", "steps"),
        Column("elapsed_s", "number", "its end, since the first record", "s"),
        Column("step_time_s", "number", "time of one step, the mean of the interval", "s"),
        Column("samples_per_second", "number", "samples of all GPUs per second", "samples/s"),
        Column("tokens_per_second", "number", "tokens of all GPUs per second", "tokens/s"),
    ),
)
BAR_SECONDS = 10.0


@dataclass(frozen=True)
class Clock:
    """Return times of the records, in seconds, NaN if missing; an interval is at least `shortest` long."""

    times: NDArray[np.float64]
    shortest: float


def batch_of_all(job: Job, facts: dict[str, float]) -> float | None:
    """Return samples of one step on all GPUs: as the trainer states it, else device batch * accumulation * GPUs."""
    stated = facts.get("total_train_batch_size")
    if stated:
        return stated
    batch = next((number for name in PER_DEVICE if (number := job.number(name))), None)
    if batch is None or not job.gpus:
        return None
    return batch * (job.number(ACCUMULATION) or 1.0) * job.gpus


def clock_of(steps: pd.DataFrame) -> Clock | None:
    """Return the log's timestamps, else the trainer's own clock; None if there is neither."""
    for column, shortest in (("at_s", 0.0), ("elapsed_s", BAR_SECONDS)):
        times = steps[column].to_numpy(dtype=float)
        if np.isfinite(times).sum() > 1:
            whole = column == "elapsed_s" and not (times[np.isfinite(times)] % 1).any()
            return Clock(times, shortest if whole else 0.0)
    return None


def throughput_table(steps: pd.DataFrame, job: Job, facts: dict[str, float]) -> pd.DataFrame:
    """Return the table; empty if the log has no times."""

    trained = steps[steps["loss"].notna() | steps["eval_loss"].isna()]
    batch = batch_of_all(job, facts)
    if len(trained) and trained["step_time_s"].notna().all():
        rows = _stated(trained, batch)
    else:
        clock = clock_of(trained)
        rows = _between(trained, clock, batch, job) if clock is not None else []
    return THROUGHPUT.of_rows(rows)


def _stated(steps: pd.DataFrame, batch: float | None) -> list[dict[str, float | None]]:
    """Return every step with the duration that the trainer states."""
    times = steps["step_time_s"].to_numpy(dtype=float)
    elapsed = np.cumsum(times)
    return [
        {
            "step": float(step),
            "elapsed_s": float(end),
            "step_time_s": float(time),
            "samples_per_second": batch / float(time) if batch and time > 0 else None,
            "tokens_per_second": None,
        }
        for step, end, time in zip(steps["step"], elapsed, times, strict=True)
    ]


def _between(steps: pd.DataFrame, clock: Clock, batch: float | None, job: Job) -> list[dict[str, float | None]]:
    """Return intervals between records that have a time."""
    numbers = steps["step"].to_numpy(dtype=float)
    usable = np.isfinite(clock.times) & np.isfinite(numbers)
    places = np.flatnonzero(usable)
    seen, stated, tokens_seen, tokens = (
        steps[name].to_numpy(dtype=float) for name in ("samples_seen", "samples_per_second", "tokens_seen", "tokens")
    )
    per_rank = np.cumsum(np.nan_to_num(tokens)) * (job.gpus or np.nan) if np.isfinite(tokens).any() else tokens
    rows: list[dict[str, float | None]] = []
    start = places[0] if len(places) else 0
    for place in places[1:]:
        length = clock.times[place] - clock.times[start]
        count = numbers[place] - numbers[start]
        if length <= 0 or length < clock.shortest or count <= 0:
            continue
        samples = seen[place] - seen[start] if np.isfinite(seen[[start, place]]).all() else count * (batch or np.nan)
        stated_rate = stated[place] if place == start + 1 else np.nan
        joined = tokens_seen if np.isfinite(tokens_seen[[start, place]]).all() else per_rank
        rows.append(
            {
                "step": float(numbers[place]),
                "elapsed_s": float(clock.times[place] - clock.times[places[0]]),
                "step_time_s": float(length / count),
                "samples_per_second": _finite(stated_rate if np.isfinite(stated_rate) else samples / length),
                "tokens_per_second": _finite((joined[place] - joined[start]) / length),
            }
        )
        start = place
    return rows


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) and value >= 0 else None
