"""One row of a job: what ran, on what, how it ended; the facts that tell it from other jobs of a run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.fine_tuning.measures import Measures

if TYPE_CHECKING:
    import pandas as pd

SUMMARY = TableSpec(
    "fine_tuning",
    "One row per fine-tuning job",
    (
        Column("job", "text", "name of the job"),
        Column("workload", "text", "fms, ilab or ray"),
        Column("mode", "text", "what the workload does"),
        Column("phase", "text", "pass of the test it belongs to, such as reference; null where there is one only"),
        Column("format", "text", "format of the trainer's log; null when none could be read"),
        Column("model", "text", "model"),
        Column("dataset", "text", "dataset"),
        Column("pods", "integer", "pods of the job"),
        Column("gpus", "integer", "GPUs of all pods", "GPUs"),
        Column("gpu_product", "text", "product of the GPUs"),
        Column("batch_setting", "text", "the setting that decides how much a GPU holds at once"),
        Column("batch_size", "number", "its value"),
        Column("outcome", "text", "completed, failed or interrupted"),
        Column("exit_code", "integer", "exit code of the main pod's container"),
        Column("reason", "text", "why it did not complete"),
        Column("created_s", "time", "when the job was created", "s since the epoch, UTC"),
        Column("started_s", "time", "when the main pod started", "s since the epoch, UTC"),
        Column("ended_s", "time", "when the job ended", "s since the epoch, UTC"),
        Column("setup", "text", "all that must be equal for two jobs to differ in their GPUs only, as JSON"),
    ),
)


def summary_table(measures: Measures) -> pd.DataFrame:
    """The row."""
    import pandas as pd

    job = measures.job
    name, size = job.batch or (None, None)
    row = {
        "job": _text(job.document.get("job")),
        "workload": job.workload,
        "mode": _text(job.document.get("mode")),
        "phase": job.phase,
        "format": measures.format,
        "model": job.model,
        "dataset": job.dataset,
        "pods": job.pods,
        "gpus": job.gpus,
        "gpu_product": _text(job.document.get("gpu_product")),
        "batch_setting": name,
        "batch_size": size,
        "outcome": job.outcome,
        "exit_code": job.exit_code,
        "reason": job.reason,
        "created_s": job.created_s,
        "started_s": job.started_s,
        "ended_s": job.ended_s,
        "setup": json.dumps(job.setup, sort_keys=True, default=str),
    }
    return SUMMARY.conform(pd.DataFrame([row], columns=[column.name for column in SUMMARY.columns], dtype="object"))


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def told_apart(measures: Measures) -> dict[str, str]:
    """What tells a job from others beside the values of its cell."""
    job = measures.job
    gpus = None if job.gpus is None else str(job.gpus)
    found = {"phase": job.phase, "model": job.model, "dataset": job.dataset, "GPUs": gpus}
    return {name: value for name, value in found.items() if value is not None}
