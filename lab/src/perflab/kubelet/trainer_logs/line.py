"""One line of a trainer's log, and the output of all trainers if a GPU's memory is full."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from perflab.kubelet.gpus import GIB
from perflab.kubelet.training import Training


@dataclass(frozen=True, slots=True)
class LogLine:
    """A line without its end. `at_s`: seconds after the container's start, by the training's own clock."""

    at_s: float
    text: str


def out_of_memory(training: Training, program: str) -> Iterator[LogLine]:
    """Yield the end of a training whose memory does not fit."""
    total = training.gpu_memory_total_bytes / GIB
    error = (
        f"torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of "
        f"{total:.2f} GiB of which {0.01 * total:.2f} GiB is free."
    )
    for text in ("Traceback (most recent call last):", f'  File "{program}", line 1, in <module>', error):
        yield LogLine(training.start_s, text)
