"""The logs of simulated trainers, line by line with the time of each."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from perflab.kubelet.gpus import GIB
from perflab.kubelet.trainer_logs import benchmarks, hf_trainer, instructlab, ray
from perflab.kubelet.trainer_logs.line import LogLine
from perflab.kubelet.training import Benchmark, Simulated, Training


def log_lines(simulated: Simulated, started: datetime.datetime) -> Iterator[LogLine]:
    """Yield all lines until the container ends by itself. *started*: its start, UTC."""
    for text in _notice(simulated):
        yield LogLine(0.0, f"simulated by the lab: {text}")
    if isinstance(simulated, Benchmark):
        yield from benchmarks.lines(simulated)
    elif simulated.format == "hf_trainer":
        yield from hf_trainer.lines(simulated)
    elif simulated.format == "instructlab":
        yield from instructlab.lines(simulated, started)
    else:
        yield from ray.lines(simulated, started)


def _notice(simulated: Simulated) -> Iterator[str]:
    yield f"no program runs here, and its clock runs {simulated.speed:g} times as fast as others"
    if isinstance(simulated, Training):
        memory = f"{simulated.gpu_memory_bytes / GIB:.1f} of {simulated.gpu_memory_total_bytes / GIB:.0f} GiB"
        yield f"{simulated.model} on {simulated.gpus} GPUs {simulated.gpu_product}, {memory} each"
    yield from simulated.assumptions
