"""Write run directories of fine-tuning jobs that never ran: their logs come from a small model of GPUs.

For unit tests and pictures of the report. run.json and fine_tuning.json list "synthetic data" among what was
simulated, so that every report about it is marked.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.data.synthetic_runs import EPOCH, stamp, write_json

LAB = {"name": "default", "real": [], "emulated": [], "simulated": ["nodes", "pods", "trainer", "synthetic data"]}
TOKENS_PER_SAMPLE = 256
SPEED = {"tiny-1b": 8000.0, "small-3b": 3000.0, "medium-8b": 1100.0}
"""Tokens per second of each model on one GPU."""
MEMORY = {"tiny-1b": 9.0, "small-3b": 21.0, "medium-8b": 42.0}


@dataclass(frozen=True)
class Training:
    """A job of the matrix; its loss depends on the model, so that curves differ."""

    model: str = "small-3b"
    gpus: int = 1
    batch: int = 4
    rank: int | None = None
    workload: str = "fms"
    steps: int = 40
    outcome: str = "completed"
    phase: str = ""

    @property
    def step_time(self) -> float:
        """The seconds of a step: the time of one GPU, and a share that grows with the GPUs."""
        alone = self.batch * TOKENS_PER_SAMPLE / SPEED[self.model] * (0.7 if self.rank else 1.0)
        beside = 1.25 if self.phase == "concurrent" else 1.0
        return beside * (alone * (1 + 0.06 * math.log2(self.gpus)) + 0.02)

    @property
    def memory(self) -> float:
        """The used GiB of a GPU."""
        return MEMORY[self.model] * (0.6 if self.rank else 1.0) / math.sqrt(self.gpus) + 1.4 * self.batch

    def loss(self, step: int) -> float:
        """Return the loss after *step*, which decreases."""
        return 0.9 + 1.6 * math.exp(-step / 14) + 0.05 * math.sin(step * 1.7) + 0.1 * (self.model == "tiny-1b")


def document(training: Training, began: float) -> dict[str, Any]:
    """Return the job's fine_tuning.json."""
    given: dict[str, Any] = {"per_device_train_batch_size": training.batch}
    given |= {"r": training.rank, "peft_method": "lora"} if training.rank else {}
    length = training.step_time * training.steps
    return {
        "schema": "psap.perf/fine-tuning/1",
        "job": f"{training.model}-{training.gpus}",
        "namespace": "fine-tuning",
        "workload": training.workload,
        "mode": "sft",
        "phase": training.phase,
        "container_image": "registry.example.org/trainer:1",
        "model": training.model,
        "dataset": "examples.json",
        "dataset_replication": 1,
        "pods": 1,
        "gpus_per_pod": training.gpus,
        "gpu_product": "Simulated-80GB",
        "hyper_parameters": given,
        "configuration": {**given, "gradient_accumulation_steps": 1, "logging_steps": 1, "max_seq_length": 512},
        "created_s": began,
        "started_s": began + 4.5,
        "ended_s": began + 20 + length,
        "outcome": training.outcome,
        "reason": None if training.outcome == "completed" else "OOMKilled",
        "exit_code": 0 if training.outcome == "completed" else 137,
        "logs": ["logs/job-master-0.log"],
        "lab": LAB,
    }


def log(training: Training, began: float) -> str:
    """Return the main pod's log, in the format of Hugging Face's Trainer, with timestamps."""
    lines = ["***** Running training *****", f"  Total optimization steps = {training.steps}"]
    lines.append(f"  Total train batch size (w. parallel) = {training.batch * training.gpus}")
    times = [began] * len(lines)
    whole = training.outcome == "completed"
    for step in range(1, (training.steps if whole else training.steps // 2) + 1):
        times.append(times[-1] + training.step_time * (1 + 0.03 * math.sin(step)))
        record = {
            "loss": round(training.loss(step), 4),
            "grad_norm": round(1 + 3 / step, 4),
            "learning_rate": 1e-5 * (1 - step / training.steps),
            "epoch": round(step / training.steps, 3),
        }
        lines.append(str(record))
    if whole:
        length = training.step_time * training.steps
        samples = training.batch * training.gpus * training.steps
        summary = {
            "train_runtime": round(length, 4),
            "train_samples_per_second": round(samples / length, 3),
            "train_steps_per_second": round(training.steps / length, 3),
            "train_tokens_per_second": round(samples * TOKENS_PER_SAMPLE / length / training.gpus, 3),
            "train_loss": 1.2,
            "before_init_mem_gpu": 2**29,
            "train_mem_gpu_alloc_delta": int((training.memory - 0.5) * 2**30),
            "train_mem_gpu_peaked_delta": 0,
            "epoch": 1.0,
        }
        times.append(times[-1])
        lines.append(str(summary))
    return "".join(f"{stamp(time)} {line}\n" for time, line in zip(times, lines, strict=True))


def write_job(artifacts: Path, training: Training, began: float = EPOCH) -> None:
    """Write the artifacts of one job."""
    write_json(artifacts / "fine_tuning.json", document(training, began))
    (artifacts / "logs").mkdir(parents=True, exist_ok=True)
    (artifacts / "logs" / "job-master-0.log").write_text(log(training, began + 15))


def write_tuning_run(
    root: Path, trainings: list[Training], *, run: str = "fine_tuning-20261120T093000Z-1a2b3c"
) -> Path:
    """Write a complete run directory; several trainings make a matrix of one cell each."""
    directory = root / run
    directory.mkdir(parents=True)
    facts = {
        "schema": "psap.perf/run/1",
        "id": run,
        "flow": "fine_tuning",
        "status": "ok",
        "started": stamp(EPOCH),
        "ended": stamp(EPOCH + 3600),
        "presets": ["lab"],
        "site": "lab",
        "lab": LAB,
    }
    write_json(directory / "run.json", facts)
    settings = {"fine_tuning_dataset_name": {"value": "examples.json", "origin": "presets/lab.yml:3", "compare": "key"}}
    text = yaml.safe_dump({"schema": "psap.perf/settings/1", "all": settings, "hosts": {}})
    (directory / "settings.yml").write_text(text)
    (directory / "timeline.csv").write_text("start,end,host,lane,kind,name,directory,status\n")
    began = EPOCH
    for number, training in enumerate(trainings):
        parent = directory
        if len(trainings) > 1:
            parent = directory / f"{number:03d}__cell__{number}"
            _cell(parent, number, training)
        write_job(parent / "000__fine_tuning__run_fine_tuning_job" / "artifacts", training, began)
        began += training.step_time * training.steps + 30
    return directory


def _cell(directory: Path, number: int, training: Training) -> None:
    values = {
        "fine_tuning_model_name": training.model,
        "fine_tuning_gpu": training.gpus,
        "fine_tuning_hyper_parameters.per_device_train_batch_size": training.batch,
    }
    values |= {"fine_tuning_hyper_parameters.r": training.rank}
    status = "ok" if training.outcome == "completed" else "failed"
    cell = {"schema": "psap.perf/cell/1", "index": number, "values": values, "status": status, "attempt": 1}
    write_json(directory / "cell.json", cell)


def matrix() -> list[Training]:
    """Return two models on one to eight GPUs, with two batches; LoRA of one; and a job that ran out of memory."""
    plain = [
        Training(model, gpus, batch) for model in ("tiny-1b", "small-3b") for batch in (4, 8) for gpus in (1, 2, 4, 8)
    ]
    lora = [Training("small-3b", gpus, 4, rank) for rank in (4, 16) for gpus in (1, 4)]
    return [*plain, *lora, Training("medium-8b", 1, 8, outcome="failed")]


def main() -> None:
    """Write the matrix below the folder given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--single", action="store_true")
    given = parser.parse_args()
    print(write_tuning_run(given.folder, [Training("small-3b", 4)] if given.single else matrix()))


if __name__ == "__main__":
    main()
