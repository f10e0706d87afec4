"""The log of Hugging Face's Trainer: a bar that redraws itself, dictionaries between, and one at the end."""

from __future__ import annotations

from collections.abc import Iterator

from perflab.kubelet.trainer_logs.line import LogLine, out_of_memory
from perflab.kubelet.training import Training

_BAR = 10


def lines(training: Training) -> Iterator[LogLine]:
    """Yield all lines, in the order of time."""
    yield from _beginning(training)
    if training.out_of_memory:
        yield from out_of_memory(training, "/app/accelerate_launch.py")
        return
    total = 0.0
    for step in range(1, training.steps + 1):
        loss = round(training.loss(step), 4)
        total += loss
        if step % training.logging_steps == 0:
            yield LogLine(training.at_s(step), f"\r{_bar(training, step)}\r{_record(training, step, loss)}")
    mean = round(total / training.steps, 4)
    yield LogLine(training.duration_s, f"\r{_bar(training, training.steps)}\r{_summary(training, mean)}")
    yield LogLine(training.duration_s, f"\r{_bar(training, training.steps)}")


def _beginning(training: Training) -> Iterator[LogLine]:
    yield LogLine(0.5, f"loading configuration file /mnt/storage/model/{training.model}/config.json")
    mean = training.dataset_tokens / training.samples
    counted = {
        "total_samples": training.samples,
        "total_tokens": int(training.dataset_tokens),
        "avg_tokens_per_sample": round(mean, 2),
        "max_seq_token": training.longest_tokens,
    }
    yield LogLine(0.8 * training.start_s, f"dataset statistics: {counted}")
    stated = {
        "Num examples": training.samples,
        "Num Epochs": f"{training.epochs:g}",
        "Total train batch size (w. parallel, distributed & accumulation)": training.batch,
        "Total optimization steps": training.steps,
        "Number of trainable parameters": f"{int(training.trainable_parameters):,}",
    }
    yield LogLine(training.start_s, "***** Running training *****")
    for name, value in stated.items():
        yield LogLine(training.start_s, f"  {name} = {value}")


def _bar(training: Training, step: int) -> str:
    done, total = step, training.steps
    elapsed = training.at_s(step) - training.start_s
    full = "█" * (_BAR * done // total)
    rate = elapsed / done
    left = rate * (total - done)
    return (
        f"{100 * done // total:3d}%|{full:<{_BAR}}| {done}/{total} [{_clock(elapsed)}<{_clock(left)}, {rate:5.2f}s/it]"
    )


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes:02d}:{rest:02d}"


def _record(training: Training, step: int, loss: float) -> str:
    return str(
        {
            "loss": loss,
            "grad_norm": round(training.gradient_norm(step), 6),
            "learning_rate": training.rate(step),
            "epoch": round(training.epoch(step), 2),
        }
    )


def _summary(training: Training, mean_loss: float) -> str:
    runtime = training.runtime_s
    summary: dict[str, float] = {
        "train_runtime": round(runtime, 4),
        "train_samples_per_second": round(training.samples * training.epochs / runtime, 3),
        "train_steps_per_second": round(training.steps / runtime, 3),
    }
    if training.tells_tokens:
        # the Trainer counts for one device
        summary["train_tokens_per_second"] = round(training.tokens_per_step / training.gpus / training.step_s, 3)
    if training.tells_memory:
        held = int(0.6 * training.gpu_memory_bytes)
        summary |= {
            "before_init_mem_gpu": 0,
            "init_mem_gpu_alloc_delta": 0,
            "train_mem_gpu_alloc_delta": held,
            "train_mem_gpu_peaked_delta": int(training.gpu_memory_bytes) - held,
        }
    return str({**summary, "train_loss": mean_loss, "epoch": round(training.epochs, 2)})
