"""Percentiles with bootstrap intervals, refused where the sample is too small to carry them.

Percentile: linear interpolation between order statistics (numpy's default, type 7 of Hyndman and Fan).
Interval: the percentile bootstrap. A resample's r-th order statistic is the sample's value at rank ceil(n·U), with U
distributed Beta(r, n + 1 - r); so the resamples need not be made, their percentile is drawn directly, which gives the
same distribution at a cost that does not grow with n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES: dict[str, float] = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}
STATISTICS = (*SHARES, "max")
CONFIDENCE = 0.95
DRAWS = 4000


@dataclass(frozen=True)
class Estimate:
    """A statistic of a sample; `reason` says why value or interval is missing."""

    statistic: str
    value: float | None
    low: float | None
    high: float | None
    count: int
    reason: str | None


def smallest_sample(share: float) -> int:
    """Fewest values for which a percentile is given: one of them must be expected beyond it (100 for p99)."""
    return math.ceil(round(1 / (1 - share), 9))


def smallest_interval_sample(share: float) -> int:
    """Fewest values for an interval: the true percentile lies above the largest value in ≤ 2.5 % of samples."""
    return math.ceil(math.log((1 - CONFIDENCE) / 2) / math.log(share))


def estimates(values: NDArray[np.float64]) -> tuple[Estimate, ...]:
    """All statistics of the finite values, in the order of STATISTICS."""
    ordered = np.sort(values[np.isfinite(values)])
    return tuple(_estimate(ordered, statistic) for statistic in STATISTICS)


def _estimate(ordered: NDArray[np.float64], statistic: str) -> Estimate:
    count = len(ordered)
    if count == 0:
        return Estimate(statistic, None, None, None, 0, "no values")
    if statistic == "max":
        return Estimate(statistic, float(ordered[-1]), None, None, count, "no interval for the largest value")
    share = SHARES[statistic]
    needed = smallest_sample(share)
    if count < needed:
        return Estimate(statistic, None, None, None, count, f"needs {needed} values, has {count}")
    value = float(np.quantile(ordered, share))
    needed = smallest_interval_sample(share)
    if count < needed:
        return Estimate(statistic, value, None, None, count, f"an interval needs {needed} values, has {count}")
    low, high = bootstrap_interval(ordered, share)
    return Estimate(statistic, value, low, high, count, None)


def bootstrap_interval(ordered: NDArray[np.float64], share: float) -> tuple[float, float]:
    """The 95 % percentile-bootstrap interval of a percentile of a sorted sample; same seed, same answer."""
    return interval_of(bootstrap_draws(ordered, share, np.random.default_rng(20_240_229)))


def interval_of(draws: NDArray[np.float64]) -> tuple[float, float]:
    """The interval that holds the middle 95 % of bootstrap draws."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def bootstrap_draws(ordered: NDArray[np.float64], share: float, random: np.random.Generator) -> NDArray[np.float64]:
    """DRAWS values of a percentile, each as a resample of the sorted sample would give it."""
    count = len(ordered)
    position = (count - 1) * share
    rank = math.floor(position) + 1
    lower = random.beta(rank, count + 1 - rank, DRAWS)
    # The next order statistic, given this one: the smallest of count - rank uniform values above it.
    above_it = random.random(DRAWS) ** (1 / (count - rank)) if rank < count else 1.0
    upper = 1 - (1 - lower) * above_it
    below, above = (ordered[np.clip(np.ceil(count * u).astype(int), 1, count) - 1] for u in (lower, upper))
    drawn: NDArray[np.float64] = below + (position - math.floor(position)) * (above - below)
    return drawn
