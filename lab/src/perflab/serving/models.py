"""Declarations of served models: latencies, concurrent requests, share of failures."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Latency:
    """A time in seconds by its median; `spread` is the standard deviation of its logarithm, 0 for a constant time."""

    median_s: float
    spread: float = 0.0

    def drawn(self, chance: random.Random) -> float:
        """Return one of them, by a log-normal distribution."""
        return self.median_s * math.exp(chance.gauss(0.0, self.spread)) if self.spread else self.median_s


@dataclass(frozen=True)
class ServedModel:
    """A model. Requests above `concurrency` wait; `failing_percent` of the requests get status 500."""

    name: str
    ttft: Latency = field(default_factory=lambda: Latency(0.05))
    itl: Latency = field(default_factory=lambda: Latency(0.005))
    prefill: Latency = Latency(0.0)
    """Added to `ttft` for each 1,000 tokens of the prompt that are not cached."""
    cached_tokens: int = 0
    """Capacity of the prefix cache."""
    concurrency: int = 16
    failing_percent: int = 0
    answer_tokens: int = 64
    """Tokens of an answer if the request sets no maximum."""

    def times(self, tokens: int, chance: random.Random, uncached: int = 0) -> Iterator[float]:
        """Return when each token comes, in seconds from the end of the request's wait."""
        at = self.ttft.drawn(chance) + self.prefill.drawn(chance) * uncached / 1000
        for place in range(tokens):
            at += self.itl.drawn(chance) if place else 0.0
            yield at


_RANGES = {"failing_percent": (0, 100), "cached_tokens": (0, 100_000_000)}


def model_of(where: str, name: str, parts: object) -> ServedModel:
    """Return the model of a declaration `{ttft: {median_s: 0.05, spread: 0.1}, itl: 0.005, concurrency: 8}`.

    Raises ValueError with *where* and the key.
    """
    known = {one.name for one in fields(ServedModel)} - {"name"}
    if not isinstance(parts, dict) or not parts.keys() <= known:
        raise ValueError(f"{where}: allowed keys are {', '.join(sorted(known))}")
    built: dict[str, Any] = {}
    for key, value in parts.items():
        if key in ("ttft", "itl", "prefill"):
            built[key] = _latency(f"{where}, {key}", value)
        else:
            least, most = _RANGES.get(key, (1, 1_000_000))
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                raise ValueError(f"{where}, {key}: must be a whole number from {least} to {most}, not {value!r}")
            built[key] = value
    return ServedModel(name, **built)


def _latency(where: str, given: object) -> Latency:
    parts = given if isinstance(given, dict) else {"median_s": given}
    numbers = {name: value for name, value in parts.items() if isinstance(value, int | float) and value >= 0}
    if "median_s" not in numbers or not parts.keys() <= {"median_s", "spread"} or len(numbers) < len(parts):
        raise ValueError(f"{where}: must have median_s in seconds and spread, none of them negative")
    return Latency(**{str(name): float(value) for name, value in numbers.items()})
