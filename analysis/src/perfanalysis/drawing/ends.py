"""From where to where the axes of a chart go, in a page and in a file alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from perfanalysis.drawing.charts import Axis, Chart

Ends = tuple[float, float]
ROOM = 0.05
"""Of the axis, left free above the largest value."""


def ends_of(chart: Chart) -> tuple[Ends, Ends]:
    """The ends of the x and of the y axis, in their units; of an axis with categories from the last to the first."""
    across = [part for layer in chart.layers for part in (layer.x, layer.high) if part is not None]
    lows = [layer.low for layer in chart.layers if layer.kind == "band" and layer.low is not None]
    return _ends(chart.x, across), _ends(chart.y, [*(layer.y for layer in chart.layers), *lows])


def _ends(axis: Axis, parts: Sequence[NDArray[np.float64]]) -> Ends:
    """As declared, else with a little room above the data's own ends."""
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
