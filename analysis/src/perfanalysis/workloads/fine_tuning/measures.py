"""All measures of one fine-tuning job, from its tables to what KPIs, plots and report need."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.workloads.fine_tuning.job import Job
from perfanalysis.workloads.fine_tuning.tables import FineTuningTables
from perfanalysis.workloads.fine_tuning.throughput import throughput_table
from perfanalysis.workloads.percentiles import Method

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

BYTES_PER_GIB = 2.0**30
NO_LOG = "no log of the job holds anything a trainer printed"


@dataclass(frozen=True)
class Measures:
    """Tables and facts of a job. `format` is the log's format, None when no log could be read.

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
    """By which percentiles are taken."""

    def column(self, name: str) -> NDArray[np.float64]:
        """A column of the training steps, as it stands."""
        values: NDArray[np.float64] = self.steps[name].to_numpy(dtype=float)
        return values

    @property
    def why_no_summary(self) -> str:
        """Why the trainer's summary is missing."""
        if self.format is None:
            return self.job.why_not_whole or NO_LOG
        return "the log ends before the trainer's summary" + _because(self.job)

    @property
    def why_not_monitored(self) -> str:
        """Why there is no sample of the job's GPUs."""
        return "nothing monitored the GPUs of the job while it ran"

    def lacks(self, what: str) -> str:
        """Why a number that the log should hold is missing."""
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
