"""A fine-tuning job's part of the report: its sections, tables and words.

Also the row of a job: its environment, its result, and the facts that distinguish it from other jobs of a run.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from perfanalysis.drawing.blocks import Cell, Field, Note, Section, Table, number
from perfanalysis.drawing.charts import Figure
from perfanalysis.drawing.wording import value_text
from perfanalysis.files.documents import mapping
from perfanalysis.files.tables import Column, TableSpec
from perfanalysis.workloads.fine_tuning import plots
from perfanalysis.workloads.fine_tuning.job import leaves
from perfanalysis.workloads.fine_tuning.measures import Measures
from perfanalysis.workloads.fine_tuning.tables import PROBLEMS
from perfanalysis.workloads.shown import data_table

if TYPE_CHECKING:
    import pandas as pd

SUMMARY = TableSpec(
    "fine_tuning",
    "One row per fine-tuning job",
    (
        Column("job", "text", "name of the job"),
        Column("workload", "text", "fms, ilab or ray"),
        Column("mode", "text", "workload of the job"),
        Column("phase", "text", "phase of the test, such as reference; null if there is only one"),
        Column("format", "text", "format of the trainer's log; null if no log could be read"),
        Column("model", "text", "model"),
        Column("dataset", "text", "dataset"),
        Column("pods", "integer", "pods of the job"),
        Column("gpus", "integer", "GPUs of all pods", "GPUs"),
        Column("gpu_product", "text", "product of the GPUs"),
        Column("batch_setting", "text", "setting that determines how much data a GPU processes at a time"),
        Column("batch_size", "number", "its value"),
        Column("outcome", "text", "completed, failed or interrupted"),
        Column("exit_code", "integer", "exit code of the main pod's container"),
        Column("reason", "text", "why it did not complete"),
        Column("created_s", "time", "when the job was created", "s since the epoch, UTC"),
        Column("started_s", "time", "when the main pod started", "s since the epoch, UTC"),
        Column("ended_s", "time", "when the job ended", "s since the epoch, UTC"),
        Column("setup", "text", "everything that must be equal for two jobs to differ only in their GPUs, as JSON"),
    ),
)


def summary_table(measures: Measures) -> pd.DataFrame:
    """Return the row: the attributes of the job, and the rest."""
    job = measures.job
    name, size = job.batch or (None, None)
    stated = {part: job.document.get(part) for part in ("job", "mode", "gpu_product")}
    row = {column.name: getattr(job, column.name, None) for column in SUMMARY.columns}
    row |= {part: None if value is None else str(value) for part, value in stated.items()}
    row |= {"format": measures.format, "batch_setting": name, "batch_size": size}
    return SUMMARY.of_rows([row | {"setup": json.dumps(job.setup, sort_keys=True, default=str)}])


def distinguishing_facts(measures: Measures) -> dict[str, str]:
    """Return what distinguishes a job in addition to the values of its cell."""
    job = measures.job
    gpus = None if job.gpus is None else str(job.gpus)
    found = {"phase": job.phase, "model": job.model, "dataset": job.dataset, "GPUs": gpus}
    return {name: value for name, value in found.items() if value is not None}


FORMATS = {"hf_trainer": "Hugging Face's Trainer", "instructlab": "InstructLab's training", "ray": "Ray"}
NO_STEPS = "No training step: "
NO_TIME = "No throughput over the steps: the log has fewer than two steps with a time."
NO_GPUS = "No data of the GPUs: the trainer does not print their memory, and no process monitored them."


def sections(measures: Measures, marks: tuple[str, ...]) -> tuple[Section, ...]:
    """Return all sections of one job, in reading order."""
    no_steps = NO_STEPS + measures.why_missing("none") + "."
    return (
        Section("loss", "Loss", "", (_figure_or_note(plots.loss_figure(measures), marks, no_steps),)),
        Section("throughput", "Throughput", "", (_figure_or_note(plots.throughput_figure(measures), marks, NO_TIME),)),
        Section("gpus", "GPUs", "", (_figure_or_note(plots.gpu_figure(measures), marks, NO_GPUS),)),
        Section("job", "Job", "", (job_table(measures), configuration_block(measures))),
        Section("log", "Log", "", (facts_block(measures), problems_block(measures))),
    )


def _figure_or_note(figure: Figure, marks: tuple[str, ...], otherwise: str) -> Figure | Note:
    return replace(figure, marks=marks) if figure.rows else Note(otherwise)


def job_table(measures: Measures) -> Table:
    """Return the table of the job, its environment and its result."""
    job, document = measures.job, measures.job.document
    log = FORMATS.get(measures.format or "", "none could be read")
    lines: tuple[tuple[str, object], ...] = (
        ("Job", document.get("job")),
        ("Outcome", job.outcome),
        ("Reason", job.reason),
        ("Exit code", job.exit_code),
        ("Workload", f"{job.workload}, {document.get('mode')}" if document.get("mode") else job.workload),
        *((("Phase", job.phase),) if job.phase else ()),
        ("Model", job.model),
        ("Dataset", job.dataset),
        ("Dataset replicated", document.get("dataset_replication")),
        ("Pods", job.pods),
        ("GPUs per pod", job.gpus_per_pod),
        ("GPU product", document.get("gpu_product")),
        ("Container image", document.get("container_image")),
        ("Format of the log", log),
    )
    rows = tuple((Cell(name), _cell(value)) for name, value in lines)
    return Table("What ran", (Field("Part"), Field("Value", "code")), rows)


def _cell(value: object) -> Cell:
    if value is None:
        return Cell("", reason="fine_tuning.json does not state it")
    return Cell(value_text(value))


def configuration_block(measures: Measures) -> Table | Note:
    """Return the trainer's configuration, with the hyper-parameters that the user set."""
    document = measures.job.document
    given = measures.job.hyper_parameters
    got = dict(leaves(mapping(document.get("configuration"))))
    names = sorted({**got, **given})
    if not names:
        return Note("fine_tuning.json states neither hyper-parameters nor a configuration.")
    rows = tuple(
        (Cell(name), _cell(got.get(name, given.get(name))), Cell("given" if name in given else "")) for name in names
    )
    fields = (Field("Setting of the trainer", "code"), Field("Value", "code"), Field("Hyper-parameter"))
    return Table("Configuration", fields, rows)


def facts_block(measures: Measures) -> Table | Note:
    """Return numbers that the trainer states for the whole training."""
    if not measures.facts:
        return Note("The log has no value of the whole training: " + measures.why_no_summary + ".")
    rows = tuple((Cell(name), Cell(number(value, 5))) for name, value in sorted(measures.facts.items()))
    note = "With the trainer's names and units. The formulas are in docs/fine-tuning.md."
    return Table("What the trainer states", (Field("Name", "code"), Field("Value", "number")), rows, note)


def problems_block(measures: Measures) -> Table | Note:
    """Return problems in the logs, each kind once."""
    if not len(measures.problems):
        return Note("No record is truncated, every number is finite, and no log contains an error.")
    return data_table("Problems in the logs", measures.problems, PROBLEMS.columns)
