"""Step functions of time: counts of concurrent intervals. Computed by sorted cumulative sums, n log n."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class StepSeries:
    """`values[i]` applies from `times[i]` until `times[i + 1]`; times ascend strictly; before the first it is 0."""

    times: NDArray[np.float64]
    values: NDArray[np.float64]

    def at(self, moments: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the value at each time."""
        places = np.searchsorted(self.times, moments, side="right")
        return np.concatenate(([0.0], self.values))[places]

    def maximum(self) -> float:
        """Return the largest value, 0 for an empty series."""
        return float(self.values.max()) if len(self.values) else 0.0

    def integral(self, start: float, end: float) -> float:
        """Return the integral between two times, in units of the value times seconds."""
        inside = self.times[(self.times > start) & (self.times < end)]
        edges = np.concatenate(([start], inside, [end]))
        return float(np.sum(self.at(edges[:-1]) * np.diff(edges)))

    def means(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean value within each of the len(edges) - 1 intervals."""
        if not len(self.times):
            return np.zeros(len(edges) - 1)
        areas = np.concatenate(([0.0], np.cumsum(self.values[:-1] * np.diff(self.times))))
        places = np.searchsorted(self.times, edges, side="right") - 1
        known = np.maximum(places, 0)
        until = np.where(places >= 0, areas[known] + self.values[known] * (edges - self.times[known]), 0.0)
        lengths = np.diff(edges)
        return np.divide(np.diff(until), lengths, out=self.at(edges[:-1]), where=lengths > 0)

    def extremes(self, edges: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return smallest and largest value within each of the len(edges) - 1 intervals."""
        low = self.at(edges[:-1])
        high = low.copy()
        bins = np.searchsorted(edges, self.times, side="right") - 1
        inside = (bins >= 0) & (bins < len(low))
        np.minimum.at(low, bins[inside], self.values[inside])
        np.maximum.at(high, bins[inside], self.values[inside])
        return low, high


def count_between(
    starts: NDArray[np.float64], ends: NDArray[np.float64], weights: NDArray[np.float64] | None = None
) -> StepSeries:
    """Return how many intervals [start, end) contain each time, or the sum of their weights.

    An interval without a start is left out; one without an end never ends; one that ends before it starts is left out
    (the caller counts those).
    """
    weight = np.ones(len(starts)) if weights is None else np.asarray(weights, dtype=float)
    usable = np.isfinite(starts) & ~(ends < starts)
    ended = usable & np.isfinite(ends)
    moments = np.concatenate((starts[usable], ends[ended]))
    changes = np.concatenate((weight[usable], -weight[ended]))
    times, places = np.unique(moments, return_inverse=True)
    totals = np.zeros(len(times))
    np.add.at(totals, places, changes)
    return StepSeries(times, np.cumsum(totals))


def combine(
    first: StepSeries,
    second: StepSeries,
    function: Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.float64]],
) -> StepSeries:
    """Return the step function of two others, value by value."""
    times = np.union1d(first.times, second.times)
    return StepSeries(times, function(first.at(times), second.at(times)))


def nice_width(span: float, parts: int) -> float:
    """Return a round width (1, 2 or 5 times a power of ten) that divides a span into about so many parts."""
    if span <= 0:
        return 1.0
    exact = span / parts
    power = 10.0 ** np.floor(np.log10(exact))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= exact * 0.999))
