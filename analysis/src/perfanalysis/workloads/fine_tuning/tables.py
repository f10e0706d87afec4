"""The tables of a fine-tuning job's logs, and the summary derived from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perfanalysis.files.tables import Column, TableSpec

if TYPE_CHECKING:
    import pandas as pd

STEPS = TableSpec(
    "training_steps",
    "One row per record of a training step in the trainer's log",
    (
        Column("log", "text", "log that contains it"),
        Column("format", "text", "format of the log: hf_trainer, instructlab or ray"),
        Column("line", "integer", "line of the log"),
        Column("step", "number", "training step, over all epochs", "steps"),
        Column("epoch", "number", "epoch, as the trainer counts them"),
        Column("at_s", "time", "when it was printed, by the log's own timestamp"),
        Column("elapsed_s", "number", "since the training began, by the trainer's own clock", "s"),
        Column("step_time_s", "number", "time of the step, if the trainer states it", "s"),
        Column("loss", "number", "training loss; null if it is not finite", "nats"),
        Column("eval_loss", "number", "loss on the evaluation data", "nats"),
        Column("grad_norm", "number", "norm of the gradient"),
        Column("learning_rate", "number", "learning rate"),
        Column("samples", "number", "samples of the step, of all GPUs", "samples"),
        Column("samples_seen", "number", "samples since the training began", "samples"),
        Column("samples_per_second", "number", "throughput, if the trainer states it", "samples/s"),
        Column("tokens", "number", "tokens of the step on rank 0", "tokens"),
        Column("tokens_seen", "number", "tokens since the training began, of all GPUs", "tokens"),
        Column("gpu_memory_gib", "number", "memory allocated on the GPU of rank 0", "GiB"),
    ),
)
FACTS = TableSpec(
    "training_facts",
    "One row per number that the trainer's log states of the whole training",
    (
        Column("log", "text", "log that contains it"),
        Column("format", "text", "format of the log"),
        Column("line", "integer", "line of the log"),
        Column("name", "text", "name, as the trainer calls it"),
        Column("value", "number", "value, in the trainer's unit; times are seconds"),
    ),
)
PROBLEMS = TableSpec(
    "log_problems",
    "One row per kind of problem in a log",
    (
        Column("log", "text", "log"),
        Column("line", "integer", "line of the first"),
        Column("kind", "text", "name of the problem"),
        Column("count", "integer", "how often"),
        Column("text", "text", "the first of them, as in the log or described"),
    ),
)
GPU_SAMPLES = TableSpec(
    "gpu_samples",
    "One row per GPU and moment, as a monitoring of the job's GPUs saw it",
    (
        Column("at_s", "time", "moment", "s since the epoch, UTC"),
        Column("gpu", "text", "the GPU: its UUID, or another name that distinguishes it"),
        Column("usage", "number", "share of the time it was busy, 0 to 1", "ratio", required=False),
        Column("memory_bytes", "number", "memory in use", "bytes", required=False),
    ),
)


@dataclass(frozen=True)
class FineTuningTables:
    """The contents of the logs of a job."""

    steps: pd.DataFrame = field(metadata={"table": STEPS})
    facts: pd.DataFrame = field(metadata={"table": FACTS})
    problems: pd.DataFrame = field(metadata={"table": PROBLEMS})
    gpu_samples: pd.DataFrame = field(metadata={"table": GPU_SAMPLES})
