"""Computations on the data of a chart's layers: ranges of axes, curves that hide others, reduction of points.

Reduction keeps extremes visible, and every kept point is an original one. Of points, it keeps the lowest and highest of
each column of the chart and one point for each cell of a raster; of a line, the first, lowest, highest and last of each
section.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.charts import Axis, Chart

Ends = tuple[float, float]
ROOM = 0.05
"""Of the axis, left free above the largest value."""


def ends_of(chart: Chart) -> tuple[Ends, Ends]:
    """Return the ranges of the x and the y axis, in their units; of an axis with categories, from the last to the
    first.
    """
    across = [part for layer in chart.layers for part in (layer.x, layer.high) if part is not None]
    lows = [layer.low for layer in chart.layers if layer.kind == "band" and layer.low is not None]
    return _ends(chart.x, across), _ends(chart.y, [*(layer.y for layer in chart.layers), *lows])


def _ends(axis: Axis, parts: Sequence[NDArray[np.float64]]) -> Ends:
    """Return the range as declared, else the range of the data with a margin."""
    if axis.categories:
        return len(axis.categories) - 0.5, -0.5
    logarithmic = axis.scale == "log"
    known = np.concatenate([part[np.isfinite(part)] for part in parts]) if parts else np.array([])
    known = known[known > 0] if logarithmic else known
    least, most = (float(known.min()), float(known.max())) if len(known) else (axis.low or 0.0, axis.low or 0.0)
    low = axis.low if axis.low is not None else least
    if logarithmic and low <= 0:
        low = least or 1.0
    high = axis.high if axis.high is not None else most + ROOM * (most - low)
    return low, high if high > low else (low * 10 if logarithmic else low + 1.0)


SHARES = np.linspace(0.0, 1.0, 101)
NEAR = 0.004
"""About the width of a line, as a part of the axis."""


def labels_with_overlaps(labels: Sequence[str], samples: Sequence[NDArray[np.float64]]) -> tuple[str, ...]:
    """Return the labels of cumulative distributions in drawing order; a curve that hides an earlier one names it.

    Two curves coincide if all their percentiles differ by less than the width of a line.
    """
    ordered = [np.quantile(values, SHARES) if len(values) else None for values in samples]
    known = [curve for curve in ordered if curve is not None]
    reach = max((float(curve[-1]) for curve in known), default=0.0) - min((0.0, *(float(curve[0]) for curve in known)))
    hidden: Mapping[int, int | None] = {
        place: next((before for before in range(place) if _are_near(ordered[before], curve, NEAR * reach)), None)
        for place, curve in enumerate(ordered)
    }
    return tuple(
        label if (under := hidden[place]) is None else f"{label}, lies on {_short(labels[under])}"
        for place, label in enumerate(labels)
    )


def _are_near(first: NDArray[np.float64] | None, second: NDArray[np.float64] | None, limit: float) -> bool:
    return first is not None and second is not None and float(np.abs(first - second).max()) <= limit


def _short(label: str) -> str:
    """Return a label without the text in brackets at its end."""
    return label.rpartition(" (")[0] or label


MOST_POINTS = 4_000
"""The number of points of a layer in a page."""
COLUMNS, ROWS = 500, 250
"""The initial raster; its cells grow until few enough points are left."""


def thinned_points(
    x: NDArray[np.float64], y: NDArray[np.float64], most: int = MOST_POINTS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return at most so many of the points, in order; all if there are no more."""
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
    """Return the positions of a line to keep; `values` are the values at each position, such as height and low."""
    count = len(values[0])
    if count <= most:
        return np.arange(count)
    # the first and last of a section, and two extremes of each of the values
    stretches = np.arange(count) * max(most // (2 + 2 * len(values)), 1) // count
    starts = np.flatnonzero(np.diff(stretches, prepend=-1))
    ends = np.append(starts[1:] - 1, count - 1)
    found = [_extremes(stretches, part) for part in values]
    kept: NDArray[np.int64] = np.unique(np.concatenate([starts, ends, *found]))
    return kept


def _parts(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each value as a part of the whole range, from 0 to just below 1."""
    low, high = values.min(), values.max()
    parts: NDArray[np.float64] = (values - low) / ((high - low) or 1.0) * (1 - 1e-9)
    return parts


def _extremes(groups: NDArray[np.int64], values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the positions of the lowest and the highest value of each group, without unknown values."""
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.lexsort((values[known], groups[known]))]
    if not len(order):
        return order
    edges = np.flatnonzero(np.diff(groups[order], prepend=-1))
    return np.unique(np.concatenate([order[edges], order[np.append(edges[1:] - 1, len(order) - 1)]]))
