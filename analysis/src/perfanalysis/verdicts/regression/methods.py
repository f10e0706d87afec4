"""The methods to judge a run by earlier runs.

The levels of a series between its changes each have the 95 % interval of their mean.

Levels change at the best split by Student's t, found recursively until no split is significant. The statistic of a
split comes from the two-sample t test with equal variances; the p-value of the best split is multiplied by the number
of tested splits (Bonferroni). Binary segmentation: A. J. Scott, M. Knott, Biometrics 30, 1974. The t test at an unknown
place: D. M. Hawkins, JASA 72, 1977.

A level that is left and reached again hides itself and later changes from that search, since each side of every split
is a mixture. So if the search finds none, parts of the series are searched: halves, quarters …, each overlapping the
next by half (seeded intervals: S. Kovács, P. Bühlmann, H. Li, A. Munk, Biometrika 110, 2023), at a thirtieth of the
significance level.

An outlier is a single value that differs from the earlier ones: by a t score, or by its rank.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from perfanalysis.workloads.trend import t_95

Method = Literal["change-point", "z-score", "percentile"]

FEWEST: Mapping[Method, int] = {"change-point": 4, "z-score": 5, "percentile": 39}
"""Earlier values that each method needs: a level before a change, a deviation, a rank whose p-value can be 0.05."""


@dataclass(frozen=True, slots=True)
class Level:
    """From the index *begin* up to but not including *end*; no interval if no level has two values."""

    begin: int
    end: int
    value: float
    low: float | None
    high: float | None


def levels_of(values: Sequence[float], places: Sequence[int]) -> tuple[Level, ...]:
    """Return the levels that begin at the start and at each of *places*.

    Mean and t interval are those of the logarithms if all values are above 0, converted back: mean ± t s / √n. The
    spread s is pooled over all levels, since a new one may have a single run; its degrees of freedom are the number of
    values minus the number of levels.
    """
    numbers = np.asarray(values, dtype=float)
    scale = scaled(numbers)
    logarithmic = scale is not numbers
    ends = [0, *places, len(numbers)]
    parts = [scale[begin:end] for begin, end in pairwise(ends)]
    freedom = len(numbers) - len(parts)
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    reach = t_95(freedom) * math.sqrt(squares / freedom) if freedom > 0 else None

    def shown(value: float) -> float:
        return math.exp(value) if logarithmic else value

    found = []
    for (begin, end), part in zip(pairwise(ends), parts, strict=True):
        mean, half = float(part.mean()), None if reach is None else reach / math.sqrt(len(part))
        ends_of_interval = (None, None) if half is None else (shown(mean - half), shown(mean + half))
        found.append(Level(begin, end, shown(mean), *ends_of_interval))
    return tuple(found)


FEWEST_BEFORE = FEWEST["change-point"]
"""Runs of a level that are needed to detect its end; one run after it is enough."""
ALPHA = 0.03
"""Significance level: a series without changes appears to have one at most this often."""
ALPHA_OF_PARTS = 0.001
"""The same for the search in parts of a series, corrected for all splits in all parts."""
SHORTEST_PART = 8


def two_sided(statistic: float, freedom: int) -> float:
    """Return the two-sided p-value of a non-negative t statistic with so many degrees of freedom."""
    from scipy.special import stdtr

    return 2 * float(stdtr(freedom, -statistic))


@dataclass(frozen=True, slots=True)
class Split:
    """A change of level: `at` is the index of the first value of the new level, `p` its corrected p-value."""

    at: int
    p: float


def change_points(values: NDArray[np.float64], alpha: float = ALPHA) -> tuple[Split, ...]:
    """Return all changes of level of a series, in order. Values are finite, in the order of time, on the scale of
    comparison.
    """
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
    """Return the most significant split of any seeded interval; None if none is significant."""
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
    # each p-value is corrected for its own part; this many parts were tested
    p = min(1.0, best.p * looked_at)
    return Split(best.at, p) if p <= ALPHA_OF_PARTS else None


def _parts(count: int) -> list[tuple[NDArray[np.int64], int]]:
    """Intervals of a half, a quarter … of a series, at steps of half a length over the whole series.

    For each length, the indices where its intervals begin.
    """
    found = []
    length = math.ceil(count / 2)
    while SHORTEST_PART <= length < count:
        begins = [*range(0, count - length, max(length // 2, 1)), count - length]
        found.append((np.array(begins, dtype=np.int64), length))
        length = math.ceil(length / 2)
    return found


def best_split(values: NDArray[np.float64]) -> Split | None:
    """Return the most significant split; None if the series is too short."""
    count = len(values)
    if count < FEWEST_BEFORE + 1:
        return None
    (statistics,) = _statistics(values[None])
    place = int(np.argmax(statistics))
    p = two_sided(float(statistics[place]), count - 2)
    return Split(place + FEWEST_BEFORE, min(1.0, p * len(statistics)))


def _statistics(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the t statistic of every split of every row; rows have equal lengths.

    The first belongs to the split before the value FEWEST_BEFORE; 0 if all values of a row are equal.
    """
    count = rows.shape[1]
    places = np.arange(FEWEST_BEFORE, count)
    centred = rows - rows.mean(axis=1, keepdims=True)
    sums = np.cumsum(centred, axis=1)[:, places - 1]
    # the means of both sides, of centred values
    between = sums**2 * (1 / places + 1 / (count - places))
    within = np.maximum((centred**2).sum(axis=1, keepdims=True) - between, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = np.sqrt(between * (count - 2) / within)
    # 0 / 0: all values are equal except for rounding
    flat = between <= 1e-18 * np.maximum((rows**2).sum(axis=1, keepdims=True), 1e-300)
    found: NDArray[np.float64] = np.where(flat, 0.0, statistics)
    return found


@dataclass(frozen=True, slots=True)
class Effect:
    """How a level differs from the previous one: a share of it with its 95 % interval, and Hedges' g.

    `low` and `high` are None if neither side has two values; `g` is None if all values are equal.
    """

    before: float
    after: float
    change: float | None
    low: float | None
    high: float | None
    g: float | None


def effect(before: NDArray[np.float64], after: NDArray[np.float64]) -> Effect:
    """Return the difference of two levels: of medians, with the t interval of the means, and Hedges' g.

    The interval is of the ratio if all values are above 0 (of logarithms), else of the difference; both by the pooled
    variance, since a new level may have a single run. Hedges: Journal of Educational Statistics 6, 1981.
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
    """Return the scale of comparison: logarithms if all values are above 0, since noise is then proportional."""
    return np.log(values) if len(values) and values.min() > 0 else values


def corrected(p_values: Sequence[float]) -> tuple[float, ...]:
    """Return p-values corrected for the share of false discoveries among them, in the same order.

    Y. Benjamini, Y. Hochberg: Controlling the false discovery rate. J. R. Statist. Soc. B 57, 1995. The same as
    scipy.stats.false_discovery_control, whose import takes a second.
    """
    values = np.asarray(p_values, dtype=float)
    count, order = len(values), np.argsort(values)[::-1]
    ranked = values[order] * count / np.arange(count, 0, -1)
    found = np.empty(count)
    found[order] = np.minimum(np.minimum.accumulate(ranked), 1.0)
    return tuple(found.tolist())


def by_score(before: NDArray[np.float64], value: float) -> float | None:
    """Return the p-value of *value* as another draw from the distribution of *before*; None if there are too few
    values.

    t = (value - mean) / (s √(1 + 1/n)), n - 1 degrees of freedom: the prediction interval of a normal sample, which
    accounts for the uncertainty of mean and deviation, unlike a plain z score. If all earlier values are equal, any
    other value has p = 0.
    """
    count = len(before)
    if count < FEWEST["z-score"]:
        return None
    mean, deviation = float(before.mean()), float(before.std(ddof=1))
    if math.isclose(value, mean, rel_tol=1e-12, abs_tol=1e-300):
        return 1.0
    if deviation <= 1e-12 * abs(mean):
        return 0.0
    return two_sided(abs(value - mean) / (deviation * math.sqrt(1 + 1 / count)), count - 1)


def by_rank(before: NDArray[np.float64], value: float) -> float | None:
    """Return the share of ranks, of n + 1, at least as extreme as the rank of *value* on either side; None if too few.

    It assumes no distribution, and cannot be below 2 / (n + 1).
    """
    count = len(before)
    if count < FEWEST["percentile"]:
        return None
    above, below = int((before >= value).sum()), int((before <= value).sum())
    return min(1.0, 2 * (min(above, below) + 1) / (count + 1))


def z_score(before: NDArray[np.float64], value: float) -> float | None:
    """Return how many standard deviations *value* is above the mean; None if all values are equal."""
    deviation = float(before.std(ddof=1))
    return (value - float(before.mean())) / deviation if deviation > 0 else None


def percentile_rank(before: NDArray[np.float64], value: float) -> float:
    """Return the share of earlier values below *value*, ties counted half."""
    return float(((before < value).sum() + 0.5 * (before == value).sum()) / len(before))
