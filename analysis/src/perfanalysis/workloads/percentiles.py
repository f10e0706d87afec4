"""Percentiles with bootstrap intervals, refused if the sample is too small.

There are two methods: `linear` interpolates between order statistics (numpy's default, type 7 of Hyndman and Fan);
`kube-burner` is that tool's method, Percentile of montanaflynn/stats 0.7.1: of n sorted values and i = share·n, the
i-th if i is whole, else the mean of the two around it. A command uses one of them for all its results, and states
which.

Interval: the percentile bootstrap. A resample's r-th order statistic is the sample's value at rank ceil(n·U), with U
distributed Beta(r, n + 1 - r); so no resamples are needed: their percentile is drawn directly, with the same
distribution and at a cost that does not grow with n.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Literal, get_args

import numpy as np
from msgspec import Meta, Struct, field
from numpy.typing import NDArray

SHARES: dict[str, float] = {"p50": 0.50, "p90": 0.90, "p95": 0.95, "p99": 0.99}
STATISTICS = (*SHARES, "max")
Method = Literal["linear", "kube-burner"]
METHODS: tuple[Method, ...] = get_args(Method)
STATED: Mapping[Method, str] = {
    "linear": "Percentiles by linear interpolation between order statistics (type 7, as numpy's default).",
    "kube-burner": "Percentiles as kube-burner takes them: a value, or the mean of the two around the place.",
}
"""The sentence in every table and plot of percentiles."""
CONFIDENCE = 0.95
DRAWS = 4000
MOST_SIZES = 64
"""Number of sample sizes, for each percentile, whose drawn places are cached: 64 kB each."""
MISSING = Meta(description="null if missing, with a reason; never 0 or -1 instead")


class Value(Struct, frozen=True):
    """A number, or None with the reason; its 95 % interval and the size of its sample if known.

    For a number without an interval, `reason` may state why it has none.
    """

    number: Annotated[float | None, MISSING] = field(name="value")
    reason: Annotated[str | None, Meta(description="why the value, or only its interval, is missing")] = None
    low: Annotated[float | None, Meta(description="lower end of the 95 % interval")] = None
    high: Annotated[float | None, Meta(description="upper end of the 95 % interval")] = None
    count: Annotated[
        int | None, Meta(description="number of values it was computed from", extra_json_schema={"minimum": 0})
    ] = None


def smallest_sample(share: float) -> int:
    """Return the fewest values for a percentile: one value must be expected beyond it (100 for p99)."""
    return math.ceil(round(1 / (1 - share), 9))


def smallest_interval_sample(share: float) -> int:
    """Return the fewest values for an interval: the true percentile is above the largest value in 2.5 % of samples."""
    return math.ceil(math.log((1 - CONFIDENCE) / 2) / math.log(share))


def percentile(ordered: NDArray[np.float64], share: float, method: Method = "linear") -> float:
    """Return a percentile of a sorted sample of any size; `share` is 0.99 for p99.

    Raises ValueError for an empty sample, and if kube-burner's method has no result: below the first value.
    """
    if not len(ordered):
        raise ValueError("a percentile needs at least one value")
    if method == "linear":
        return float(np.quantile(ordered, share))
    rank, part = _place(len(ordered), share, method)
    lower = float(ordered[rank - 1])
    return lower if not part else (lower + float(ordered[rank])) / 2


def _place(count: int, share: float, method: Method) -> tuple[int, float]:
    """Return the place of a percentile: the rank of the order statistic below it, and the fraction to the next."""
    if method == "linear":
        position = (count - 1) * share
        return math.floor(position) + 1, position - math.floor(position)
    if count == 1:
        return 1, 0.0
    index = share * count
    if index < 1:
        raise ValueError(f"kube-burner has no percentile {100 * share:g} of {count} values")
    return math.floor(index), 0.0 if index == math.floor(index) else 0.5


def estimates(values: NDArray[np.float64], method: Method) -> dict[str, Value]:
    """Return all statistics of the finite values, in the order of STATISTICS."""
    ordered = np.sort(values[np.isfinite(values)])
    return {statistic: _estimate(ordered, statistic, method) for statistic in STATISTICS}


def _estimate(ordered: NDArray[np.float64], statistic: str, method: Method) -> Value:
    count = len(ordered)
    if count == 0:
        return Value(None, "no values", count=0)
    if statistic == "max":
        return Value(float(ordered[-1]), "no interval for the largest value", count=count)
    share = SHARES[statistic]
    needed = smallest_sample(share)
    if count < needed:
        return Value(None, f"needs {needed} values, found {count}", count=count)
    value = percentile(ordered, share, method)
    needed = smallest_interval_sample(share)
    if count < needed:
        return Value(value, f"an interval needs {needed} values, found {count}", count=count)
    low, high = bootstrap_interval(ordered, share, method)
    return Value(value, None, low, high, count)


def bootstrap_interval(ordered: NDArray[np.float64], share: float, method: Method = "linear") -> tuple[float, float]:
    """Return the 95 % percentile-bootstrap interval of a percentile of a sorted sample; deterministic for a seed."""
    return interval_of(_values_at(_usual_places(len(ordered), share, method), ordered))


def interval_of(draws: NDArray[np.float64]) -> tuple[float, float]:
    """Return the interval of the middle 95 % of bootstrap draws."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def bootstrap_draws(
    ordered: NDArray[np.float64], share: float, random: np.random.Generator, method: Method = "linear"
) -> NDArray[np.float64]:
    """Return DRAWS values of a percentile, each as of a resample of the sorted sample."""
    return _values_at(_drawn_places(len(ordered), share, random, method), ordered)


@dataclass(frozen=True)
class _Places:
    """Return the values of a sorted sample between which each draw is, and the fraction between them."""

    below: NDArray[np.intp]
    above: NDArray[np.intp]
    part: float


def _drawn_places(count: int, share: float, random: np.random.Generator, method: Method) -> _Places:
    """Return the places of the draws in a sample of so many values, which do not depend on the values."""
    rank, part = _place(count, share, method)
    lower = random.beta(rank, count + 1 - rank, DRAWS)
    # The next order statistic, given this one: the smallest of count - rank uniform values above it.
    above_it = random.random(DRAWS) ** (1 / (count - rank)) if rank < count else 1.0
    upper = 1 - (1 - lower) * above_it
    below, above = (np.clip(np.ceil(count * u).astype(np.intp), 1, count) - 1 for u in (lower, upper))
    return _Places(below, above, part)


@lru_cache(maxsize=MOST_SIZES)
def _usual_places(count: int, share: float, method: Method) -> _Places:
    """Drawn once for all samples of a size, by one seed: a run has dozens of them."""
    return _drawn_places(count, share, np.random.default_rng(20_240_229), method)


def _values_at(places: _Places, ordered: NDArray[np.float64]) -> NDArray[np.float64]:
    below, above = ordered[places.below], ordered[places.above]
    drawn: NDArray[np.float64] = below + places.part * (above - below)
    return drawn
