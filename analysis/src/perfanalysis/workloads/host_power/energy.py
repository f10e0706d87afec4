"""The energy of tests during which power was sampled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# gaps between samples that result from the resolution of the clock
_UNCOVERED = 0.05


def energy_row(test: Mapping[str, Any], repetitions: int, samples: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a test of llama-bench with its energy; *samples* have the power of the ``elapsed_s`` before each."""
    tokens = test["tokens"] * repetitions
    energy_j = energy(test["started_s"], test["ended_s"], samples)
    token_j = energy_j / tokens if energy_j is not None and tokens else None
    named = {name: test[name] for name in ("test", "phase")}
    return {**named, "tokens": tokens, "energy_j": energy_j, "token_j": token_j}


def energy(begin_s: float, end_s: float, samples: Sequence[Mapping[str, Any]]) -> float | None:
    """Return joules from *begin_s* to *end_s*; None if samples do not cover that, or are longer than it."""
    covered_s = joules = 0.0
    for sample in samples:
        overlap_s = min(end_s, sample["at_s"]) - max(begin_s, sample["at_s"] - sample["elapsed_s"])
        if overlap_s <= 0:
            continue
        if sample["elapsed_s"] > end_s - begin_s:
            return None
        covered_s, joules = covered_s + overlap_s, joules + overlap_s * sample["watts"]
    whole_s = end_s - begin_s
    if covered_s <= 0 or covered_s < whole_s * (1 - _UNCOVERED):
        return None
    # the uncovered part is assumed to be like the covered one
    return joules * whole_s / covered_s
