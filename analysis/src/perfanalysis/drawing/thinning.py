"""Fewer points of a layer, such that nobody who looks at them misses an extreme.

Every kept point is a real one. Of points the lowest and highest of each column of the chart are kept, and of the rest
one for each square of a raster; of a line the first, lowest, highest and last of each stretch of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_POINTS = 4_000
"""Points of a layer in a page."""
COLUMNS, ROWS = 500, 250
"""The raster to begin with; its squares grow until there are few enough."""


def thinned_points(
    x: NDArray[np.float64], y: NDArray[np.float64], most: int = MOST_POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """At most so many of the points, in their order; all where they are as few."""
    if len(x) <= most:
        return x, y
    across, down = _parts(x), _parts(y)
    extremes = _extremes((across * COLUMNS).astype(np.int64), y)
    room = most - len(extremes)
    for size in range(1, COLUMNS):
        squares = (across * (COLUMNS // size)).astype(np.int64) * ROWS + (down * (ROWS // size or 1)).astype(np.int64)
        rest = np.unique(squares, return_index=True)[1]
        if len(rest) <= room:
            break
    kept = np.union1d(extremes, rest)[:most]
    return x[kept], y[kept]


def thinned_line(values: tuple[NDArray[np.float64], ...], most: int = MOST_POINTS) -> NDArray[np.int64]:
    """Which places of a line to keep; `values` are what is drawn at each place: its height, and its lower edge."""
    count = len(values[0])
    if count <= most:
        return np.arange(count)
    # the first and last of a stretch, and two extremes of each of the values
    stretches = np.arange(count) * max(most // (2 + 2 * len(values)), 1) // count
    starts = np.flatnonzero(np.diff(stretches, prepend=-1))
    ends = np.append(starts[1:] - 1, count - 1)
    found = [_extremes(stretches, part) for part in values]
    kept: NDArray[np.int64] = np.unique(np.concatenate([starts, ends, *found]))
    return kept


def _parts(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Each value as a part of the whole range, from 0 to just below 1."""
    low, high = values.min(), values.max()
    parts: NDArray[np.float64] = (values - low) / ((high - low) or 1.0) * (1 - 1e-9)
    return parts


def _extremes(groups: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """The places of the lowest and the highest value of each group; unknown values are none."""
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.lexsort((values[known], groups[known]))]
    if not len(order):
        return order
    edges = np.flatnonzero(np.diff(groups[order], prepend=-1))
    return np.unique(np.concatenate([order[edges], order[np.append(edges[1:] - 1, len(order) - 1)]]))
