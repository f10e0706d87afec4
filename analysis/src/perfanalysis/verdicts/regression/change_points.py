"""Where the level of a series of runs changes: the best split by Student's t, again in each part, until none is sure.

The statistic of a split is that of the two-sample t test with equal variances; the p-value of the best split is its own
times the number of splits that were looked at (Bonferroni), so that looking at all of them is paid for. Binary
segmentation: A. J. Scott, M. Knott, Biometrics 30, 1974. The t test at an unknown place: D. M. Hawkins, JASA 72, 1977.

A level that was left and came back hides itself and later changes from that search, since each side of every split is
a mixture. So where it finds none, parts of the series are searched: halves, quarters …, each overlapping the next by
half (seeded intervals: S. Kovács, P. Bühlmann, H. Li, A. Munk, Biometrika 110, 2023), at a thirtieth of the level.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import stdtr, stdtrit

from perfanalysis.verdicts.regression.methods import FEWEST

if TYPE_CHECKING:
    from numpy.typing import NDArray

FEWEST_BEFORE = FEWEST["change-point"]
"""Runs that a level needs before it can be said that it was left; one run after it is enough."""
ALPHA = 0.03
"""A change is one when a series without any looks like that no more often than this."""
ALPHA_OF_PARTS = 0.001
"""The same for the search in parts of a series; all splits in all parts are paid for."""
SHORTEST_PART = 8


def two_sided(statistic: float, freedom: int) -> float:
    """The two-sided p-value of a t statistic, not negative, with so many degrees of freedom."""
    return 2 * float(stdtr(freedom, -statistic))


def t_95(freedom: int) -> float:
    """The t for which 95 % of the distribution lie between -t and t."""
    return float(stdtrit(freedom, 0.975))


@dataclass(frozen=True, slots=True)
class Split:
    """A change of level: `at` is the place of the first value of the new level, `p` its corrected p-value."""

    at: int
    p: float


def change_points(values: NDArray[np.float64], alpha: float = ALPHA) -> tuple[Split, ...]:
    """All changes of level of a series, in order. Values are in time's order, finite, on the scale to compare them."""
    found: list[Split] = []
    waiting = [(0, len(values))]
    while waiting:
        first, last = waiting.pop()
        split = best_split(values[first:last])
        if split is None or split.p > alpha:
            split = _best_in_parts(values[first:last])
        if split is None:
            continue
        place = first + split.at
        found.append(Split(place, split.p))
        waiting += [(first, place), (place, last)]
    return tuple(sorted(found, key=lambda split: split.at))


def _best_in_parts(values: NDArray[np.float64]) -> Split | None:
    """The surest split of any seeded interval; None when none is sure enough."""
    found: list[Split] = []
    looked_at = 0
    for begins, length in _parts(len(values)):
        statistics = _statistics(values[begins[:, None] + np.arange(length)])
        row, place = np.unravel_index(int(np.argmax(statistics)), statistics.shape)
        p = two_sided(float(statistics[row, place]), length - 2) * statistics.shape[1]
        found.append(Split(int(begins[row] + place) + FEWEST_BEFORE, p))
        looked_at += len(begins)
    if not found:
        return None
    best = min(found, key=lambda split: split.p)
    # each p-value is paid for its own part; so many parts were looked at
    p = min(1.0, best.p * looked_at)
    return Split(best.at, p) if p <= ALPHA_OF_PARTS else None


def _parts(count: int) -> list[tuple[NDArray[np.int64], int]]:
    """Intervals of a half, a quarter … of a series, each length over the whole of it in steps of half a length.

    For each length the places where its intervals begin.
    """
    found = []
    length = math.ceil(count / 2)
    while SHORTEST_PART <= length < count:
        begins = [*range(0, count - length, max(length // 2, 1)), count - length]
        found.append((np.array(begins, dtype=np.int64), length))
        length = math.ceil(length / 2)
    return found


def best_split(values: NDArray[np.float64]) -> Split | None:
    """The split whose two sides differ most surely; None when the series is too short for any."""
    count = len(values)
    if count < FEWEST_BEFORE + 1:
        return None
    (statistics,) = _statistics(values[None])
    place = int(np.argmax(statistics))
    p = two_sided(float(statistics[place]), count - 2)
    return Split(place + FEWEST_BEFORE, min(1.0, p * len(statistics)))


def _statistics(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """The t statistic of every split of every row, of which each has the same number of values.

    The first is that of the split before the value FEWEST_BEFORE; 0 where no value of a row differs from another.
    """
    count = rows.shape[1]
    places = np.arange(FEWEST_BEFORE, count)
    centred = rows - rows.mean(axis=1, keepdims=True)
    sums = np.cumsum(centred, axis=1)[:, places - 1]
    # the means of both sides, of values whose own mean is 0
    between = sums**2 * (1 / places + 1 / (count - places))
    within = np.maximum((centred**2).sum(axis=1, keepdims=True) - between, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = np.sqrt(between * (count - 2) / within)
    # 0 / 0: no value differs from another, but by rounding
    flat = between <= 1e-18 * np.maximum((rows**2).sum(axis=1, keepdims=True), 1e-300)
    found: NDArray[np.float64] = np.where(flat, 0.0, statistics)
    return found


@dataclass(frozen=True, slots=True)
class Effect:
    """How a level differs from the one before: a share of it with its 95 % interval, and Hedges' g.

    `low` and `high` are None where neither side has two values; `g` is None where no value differs from another.
    """

    before: float
    after: float
    change: float | None
    low: float | None
    high: float | None
    g: float | None


def effect(before: NDArray[np.float64], after: NDArray[np.float64]) -> Effect:
    """The difference of two levels: of medians, with the t interval of the means, and Hedges' g.

    The interval is of the ratio where all values are above 0 (of logarithms), else of the difference; both by the
    pooled variance, since a new level may have a single run. Hedges: Journal of Educational Statistics 6, 1981.
    """
    medians = float(np.median(before)), float(np.median(after))
    change = (medians[1] - medians[0]) / abs(medians[0]) if medians[0] else None
    ratio = bool(before.min() > 0 and after.min() > 0)
    left, right = (np.log(before), np.log(after)) if ratio else (before, after)
    freedom = len(left) + len(right) - 2
    if freedom < 1:
        return Effect(*medians, change, None, None, None)
    squares = ((left - left.mean()) ** 2).sum() + ((right - right.mean()) ** 2).sum()
    spread = math.sqrt(float(squares) / freedom)
    difference = float(right.mean() - left.mean())
    reach = t_95(freedom) * spread * math.sqrt(1 / len(left) + 1 / len(right))
    low, high = (_share(end, ratio, medians[0]) for end in (difference - reach, difference + reach))
    small_sample = 1 - 3 / (4 * freedom - 1) if freedom > 1 else 1.0
    return Effect(*medians, change, low, high, difference / spread * small_sample if spread > 0 else None)


def _share(difference: float, ratio: bool, before: float) -> float | None:
    if ratio:
        return math.expm1(difference)
    return difference / abs(before) if before else None


def scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The scale on which levels are compared: logarithms where all values are above 0, since noise is a share there."""
    return np.log(values) if len(values) and values.min() > 0 else values
