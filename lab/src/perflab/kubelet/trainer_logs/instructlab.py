"""The log of InstructLab's training: a JSON object for every step, in green, with the bar and other ranks around."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterator

from perflab.kubelet.gpus import GIB
from perflab.kubelet.trainer_logs.line import LogLine, out_of_memory
from perflab.kubelet.training import Training

_GREEN, _PLAIN = "\x1b[92m", "\x1b[0m"


def lines(training: Training, started: datetime.datetime) -> Iterator[LogLine]:
    """Yield all lines, in the order of time; *started* is the start of the container, for timestamps of records."""
    yield LogLine(0.5, "[WARNING] Setting OMP_NUM_THREADS environment variable for each process to be 1")
    yield LogLine(0.5 * training.start_s, f"total params: {int(training.trainable_parameters):,}")
    if training.out_of_memory:
        yield from out_of_memory(training, "instructlab/training/main_ds.py")
        return
    for step in range(1, training.steps + 1):
        at_s = training.at_s(step)
        if training.rank:
            yield LogLine(at_s, _other_rank(training))
            continue
        text = json.dumps(_record(training, step, started), indent=4)
        yield from (LogLine(at_s, line) for line in f"{_GREEN}{text}{_PLAIN}".splitlines())
        share = f"{100 * step // training.steps}%|          | {step}/{training.steps}"
        yield LogLine(at_s, f"Epoch {_epoch(training, step)}: {share}")
    if not training.rank:
        yield LogLine(training.duration_s, f"torchrun_exec_time: {training.duration_s / 60:.2f} min")


def _record(training: Training, step: int, started: datetime.datetime) -> dict[str, object]:
    at_s = training.at_s(step)
    took = at_s - (training.at_s(step - 1) if step > 1 else training.start_s)
    tokens = round(training.tokens_per_step / training.gpus)
    # it states the memory at the end of a step; the peak occurs with the largest batch
    allocated = training.gpu_memory_bytes / GIB * (1.0 - (0.02 + 0.02 * training.noise(step) if step > 1 else 0.0))
    return {
        "epoch": _epoch(training, step),
        "step": step,
        "rank": 0,
        "overall_throughput": training.batch / took,
        "lr": training.rate(step),
        "cuda_mem_allocated": allocated,
        "cuda_malloc_retries": 0,
        "num_tokens_rank0": tokens,
        "num_loss_counted_tokens": round(0.6 * training.tokens_per_step),
        "batch_size": training.batch,
        "total_loss": training.loss(step),
        "gradnorm": training.gradient_norm(step),
        "samples_seen": training.batch * step,
        "timestamp": (started + datetime.timedelta(seconds=at_s)).replace(tzinfo=None).isoformat(),
    }


def _epoch(training: Training, step: int) -> int:
    return int(training.epoch(step - 1))


def _other_rank(training: Training) -> str:
    tokens = round(training.tokens_per_step / training.gpus)
    return f"\x1b[96m total tokens: {tokens} num padding tokens: 0 - rank: {training.rank}{_PLAIN}"
