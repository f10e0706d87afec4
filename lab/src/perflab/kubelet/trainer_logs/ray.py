"""The log of a Ray job: lines of a worker, and Ray Train's table for every step."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from perflab.kubelet.trainer_logs.line import LogLine, out_of_memory
from perflab.kubelet.training import Training

_WORKER = "\x1b[36m(RayTrainWorker pid=1711, ip=10.128.0.2)\x1b[0m"
_WIDTH = 44


def lines(training: Training, started: datetime.datetime) -> Iterator[LogLine]:
    """Yield all lines, in the order of time; a pod of the cluster prints little, since the submitting pod prints it
    all.
    """
    if training.rank:
        yield LogLine(0.5, "INFO scripts.py -- Ray runtime started.")
        return
    yield LogLine(0.5, "INFO worker.py -- Connecting to existing Ray cluster")
    group = f"Setting up process group for: env:// [rank=0, world_size={training.gpus}]"
    yield LogLine(0.2 * training.start_s, f"{_WORKER} {group}")
    if training.out_of_memory:
        yield from (LogLine(line.at_s, f"{_WORKER} {line.text}") for line in out_of_memory(training, "finetune.py"))
        return
    per_epoch = max(1, round(training.steps / max(1.0, training.epochs)))
    for step in range(1, training.steps + 1):
        epoch, within = divmod(step - 1, per_epoch)
        at_s = training.at_s(step)
        took = at_s - (training.at_s(step - 1) if step > 1 else training.start_s)
        place = f"[epoch {epoch} step {within}]"
        yield LogLine(at_s, f"{_WORKER} {place} loss: {training.loss(step):.4f} step-time: {took:.6f}")
        moment = f"{started + datetime.timedelta(seconds=at_s):%Y-%m-%d %H:%M:%S}"
        running = _spelled(at_s - training.start_s)
        yield LogLine(at_s, f"Training finished iteration {step} at {moment}. Total running time: {running}")
        yield from (LogLine(at_s, row) for row in _table(training, step, epoch, within, took))
    ended = f"{started + datetime.timedelta(seconds=training.duration_s):%Y-%m-%d %H:%M:%S}"
    running = _spelled(training.runtime_s)
    yield LogLine(
        training.duration_s,
        f"Training completed after {training.steps} iterations at {ended}. Total running time: {running}",
    )


def _table(training: Training, step: int, epoch: int, within: int, took: float) -> Iterator[str]:
    rows = {
        "time_this_iter_s": f"{took:.5f}",
        "time_total_s": f"{training.at_s(step) - training.start_s:.5f}",
        "training_iteration": str(step),
        "epoch": str(epoch),
        "iteration": str(within),
        "learning_rate": f"{training.rate(step):g}",
        "train_loss_batch": f"{training.loss(step):.4f}",
    }
    yield f"╭{'─' * _WIDTH}╮"
    yield f"│ {'Training result':<{_WIDTH - 2}} │"
    yield f"├{'─' * _WIDTH}┤"
    for name, value in rows.items():
        yield f"│ {name}{value:>{_WIDTH - 2 - len(name)}} │"
    yield f"╰{'─' * _WIDTH}╯"


def _spelled(seconds: float) -> str:
    """Format a duration as Ray does: `28s`, `1min 24s`, `2hr 3min 4s`."""
    minutes, rest = divmod(seconds, 60)
    hours, minutes = divmod(int(minutes), 60)
    parts = [f"{hours}hr" if hours else "", f"{minutes}min" if hours or minutes else "", f"{rest:.0f}s"]
    return " ".join(filter(None, parts))
