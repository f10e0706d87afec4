"""A simulated training in numbers: the basis of its log, its runtime and its GPUs."""

from __future__ import annotations

import abc
import dataclasses
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

ANNOTATION = "lab.psap.perf/training"
_MASK = 2**64 - 1
# how far the end of a step may deviate from the end of equal steps, as a share of a step
_JITTER = 0.04


@dataclass(frozen=True, slots=True)
class Simulation(abc.ABC):
    """The simulation in a pod's annotation. Times are seconds of the program itself, which runs `speed` times as fast.

    `format` is the format of the log; `start_s` is from the container's start to the first step or run.
    `gpu_utilization` (0 to 1) and `gpu_memory_bytes` are those of one GPU.
    """

    format: str
    seed: int
    speed: float
    assumptions: tuple[str, ...]
    gpu_utilization: float
    gpu_memory_bytes: float
    start_s: float

    @property
    @abc.abstractmethod
    def duration_s(self) -> float:
        """Return the time from the container's start to its end."""

    def text(self) -> str:
        """Return the annotation."""
        return json.dumps({"simulated": True, **dataclasses.asdict(self)}, sort_keys=True)

    def in_time(self, seconds: float) -> Self:
        """Return the same with a speed so that it takes *seconds*."""
        return dataclasses.replace(self, speed=self.duration_s / seconds) if seconds > 0 else self


@dataclass(frozen=True, slots=True)
class Training(Simulation):
    """One training; `runtime_s` is the steps' time."""

    rank: int
    model: str
    gpus: int
    gpu_product: str
    gpu_memory_total_bytes: float
    out_of_memory: bool
    steps: int
    step_s: float
    epochs: float
    samples: int
    batch: int
    tokens_per_step: float
    dataset_tokens: float
    longest_tokens: int
    trainable_parameters: float
    learning_rate: float
    warmup_steps: float
    scheduler: str
    logging_steps: int
    tells_tokens: bool
    tells_memory: bool
    first_loss: float
    last_loss: float

    @property
    def runtime_s(self) -> float:
        """Return the time of all steps."""
        return self.steps * self.step_s

    @property
    def duration_s(self) -> float:
        """Return the time from the container's start to its end."""
        return self.start_s + (0.0 if self.out_of_memory else self.runtime_s)

    @property
    def exit_code(self) -> int:
        """Return how it ends."""
        return int(self.out_of_memory)

    def at_s(self, step: int) -> float:
        """Return when a step ends, after the container's start; single steps vary, their sum does not."""
        inner = 0 < step < self.steps
        return self.start_s + self.step_s * (step + (_JITTER * self.noise(step) if inner else 0.0))

    def epoch(self, step: int) -> float:
        """Return the share of the data seen after a step, in epochs."""
        return self.epochs * step / self.steps

    def loss(self, step: int) -> float:
        """Return a loss that falls, with noise."""
        falling = math.exp(-4.0 * step / self.steps)
        return self.last_loss + (self.first_loss - self.last_loss) * falling * (1.0 + 0.1 * self.noise(-step))

    def gradient_norm(self, step: int) -> float:
        """Return a norm that falls with the loss."""
        return 0.6 + self.loss(step) * (0.5 + 0.1 * self.noise(3 * step + 1))

    def rate(self, step: int) -> float:
        """Return the learning rate after a step: it warms up, then stays or falls."""
        if self.warmup_steps and step < self.warmup_steps:
            return self.learning_rate * step / self.warmup_steps
        part = min(1.0, (step - self.warmup_steps) / max(1.0, self.steps - self.warmup_steps))
        falling = {"cosine": (1.0 + math.cos(math.pi * part)) / 2, "linear": 1.0 - part}
        return self.learning_rate * falling.get(self.scheduler, 1.0)

    def noise(self, place: int) -> float:
        """Return a number from -1 to 1, always the same for a place of this training."""
        mixed = (self.seed * 0x9E3779B97F4A7C15 + place * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 29)) * 0x94D049BB133111EB) & _MASK
        return (mixed >> 11) / 2**52 - 1.0


@dataclass(frozen=True, slots=True)
class Benchmark(Simulation):
    """A network benchmark between a job's pods.

    `format` is `iperf` or `network_overhead`. The latter fails if it takes longer than `limit_s`.
    """

    runs: int
    streams: int
    run_s: float
    bits_per_second: float
    limit_s: float

    @property
    def duration_s(self) -> float:
        """Return the time from the container's start to its end."""
        return self.start_s + self.runs * self.run_s

    @property
    def exit_code(self) -> int:
        """Return how it ends."""
        return int(self.format != "iperf" and self.time_s(0) > self.limit_s)

    def time_s(self, run: int) -> float:
        """Return the duration of one run, by its rate."""
        return self.run_s * self.bits_per_second / self.rate(run)

    def rate(self, run: int) -> float:
        """Return bits per second of one run; all runs differ."""
        return self.bits_per_second * (1.0 - 0.02 * ((self.seed >> run) & 7) / 7)


Simulated = Training | Benchmark


def read_simulated(annotations: Mapping[str, str]) -> Simulated | None:
    """Return the simulation in a pod's annotation; None if it is missing, or if a user's own is incomplete."""
    try:
        document = json.loads(annotations.get(ANNOTATION, ""))
        kind = Benchmark if "limit_s" in document else Training
        known = {field.name: document[field.name] for field in dataclasses.fields(kind)}
    except (ValueError, TypeError, KeyError):
        return None
    return kind(**{**known, "assumptions": tuple(known["assumptions"])})
