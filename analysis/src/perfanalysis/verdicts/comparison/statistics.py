"""Differences of percentiles with intervals, an effect size by ranks, and the verdict.

Interval: the percentile bootstrap of B's percentile minus A's, from independent resamples of both. Effect size: Cliff's
delta, the chance that a value of B is larger than one of A minus the chance that it is smaller. docs/judging.md has
formulas and sources.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.blocks import quantity
from perfanalysis.workloads.kpis import Direction
from perfanalysis.workloads.percentiles import (
    SHARES,
    Method,
    bootstrap_draws,
    interval_of,
    percentile,
    smallest_interval_sample,
    smallest_sample,
)

Word = Literal["better", "worse", "same", "different", "too little data"]
SEED = 20_260_301
SMALLEST_MARGIN_S = 0.001
"""The smallest margin: a millisecond, the accuracy of the recorder's timestamps."""
SECONDS = "seconds"


@dataclass(frozen=True)
class Difference:
    """A statistic of A and of B with the interval of their difference; `reason` states what is missing, and why.

    `word` is None if neither has an interval: the certainty of the difference is then unknown.
    """

    statistic: str
    first: float | None
    second: float | None
    low: float | None = None
    high: float | None = None
    word: Word | None = None
    reason: str | None = None

    @property
    def difference(self) -> float | None:
        """Return B minus A; None if one is missing."""
        return None if self.first is None or self.second is None else self.second - self.first

    @property
    def relative(self) -> float | None:
        """Return the difference as a share of A; None if A is 0 or missing."""
        return self.difference / abs(self.first) if self.difference is not None and self.first else None


def difference_of(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    statistic: str,
    direction: Direction,
    margin: float,
    unit: str = SECONDS,
    method: Method = "linear",
) -> Difference:
    """Compare a percentile of two samples of finite values. `margin` is the share of A below which changes do not
    matter.
    """
    share = SHARES[statistic]
    needed = smallest_interval_sample(share)
    smaller = min(len(first), len(second))
    if smaller < smallest_sample(share):
        reason = f"it needs {smallest_sample(share)} values of each, found {len(first)} and {len(second)}"
        return Difference(statistic, None, None, word="too little data", reason=reason)
    samples = np.sort(first), np.sort(second)
    values = percentile(samples[0], share, method), percentile(samples[1], share, method)
    if smaller < needed:
        reason = f"an interval needs {needed} values of each, found {len(first)} and {len(second)}"
        return Difference(statistic, *values, word="too little data", reason=reason)
    draws = [
        bootstrap_draws(sample, share, np.random.default_rng([SEED, place]), method)
        for place, sample in enumerate(samples)
    ]
    low, high = interval_of(draws[1] - draws[0])
    return _judged(statistic, values, (low, high), direction, margin, unit)


def difference_of_intervals(
    first: tuple[float, float, float],
    second: tuple[float, float, float],
    direction: Direction,
    margin: float,
    unit: str,
) -> Difference:
    """Compare two values of which only their own 95 % intervals are known, each given as value, low, high.

    The interval of the difference uses the method of variance estimates recovery (MOVER): from the difference d to
    d - √((b - b_low)² + (a_high - a)²) and d + √((b_high - b)² + (a - a_low)²). G. Y. Zou, A. Donner: Statistics in
    Medicine 27, 2008.
    """
    (a, a_low, a_high), (b, b_low, b_high) = first, second
    ends = b - a - math.hypot(b - b_low, a_high - a), b - a + math.hypot(b_high - b, a - a_low)
    return _judged("value", (a, b), ends, direction, margin, unit)


def _judged(
    statistic: str,
    values: tuple[float, float],
    ends: tuple[float, float],
    direction: Direction,
    margin: float,
    unit: str,
) -> Difference:
    limit = max(margin * abs(values[0]), SMALLEST_MARGIN_S if unit == SECONDS else 0.0)
    word = word_of(values[1] - values[0], *ends, limit, direction)
    reason = f"the interval reaches beyond the margin of {quantity(limit, unit)}" if word == "too little data" else None
    return Difference(statistic, *values, *ends, word, reason)


def word_of(difference: float, low: float, high: float, limit: float, direction: Direction) -> Word:
    """Return the verdict on a difference with its interval, if differences within `limit` do not matter.

    A change has an interval that excludes 0 and is at least as large as the limit; `same` needs an interval within the
    limit on both sides. Everything between is too little data.
    """
    if (low > 0 or high < 0) and abs(difference) >= limit:
        if direction == "neither":
            return "different"
        return "better" if (difference < 0) == (direction == "lower") else "worse"
    if -limit <= low and high <= limit:
        return "same"
    return "too little data"


def cliffs_delta(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Return from -1 (all of B below all of A) to 1 (all above); None if a sample is empty. n log n."""
    if not len(first) or not len(second):
        return None
    ordered = np.sort(first)
    below = np.searchsorted(ordered, second, side="left").sum()
    above = (len(ordered) - np.searchsorted(ordered, second, side="right")).sum()
    return float((int(below) - int(above)) / (len(first) * len(second)))
