"""Durations over a time or a number: a row of points, with their distribution on the same axis."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.charts import Axis, Chart, Layer, histogram, seconds_scale

WORKLOADS = Axis("workloads", low=0.0, whole=True)
MOST_BARS = 60
"""Up to this number, each point has a bar that shows its accuracy; of more, one bar at the end of the axis does."""
SMALLEST_BAR = 0.005
"""Part of the height below which a bar is not visible."""
BAR_COLOUR = 8


def row_of(
    label: str,
    title: str,
    x_axis: Axis,
    x: NDArray[np.float64],
    values: NDArray[np.float64],
    *,
    colour: int,
    height: int,
    resolution: float = 0.0,
    counted: Axis = WORKLOADS,
) -> tuple[Chart, ...]:
    """Return values in seconds over x, and on the right their distribution on the same axis.

    Args:
        resolution: The accuracy of each value in seconds, drawn if large enough to be visible.
        counted: The axis of the numbers of values.
    """
    factor, unit = seconds_scale(values)
    known = np.isfinite(values) & np.isfinite(x)
    values = values * factor
    low, high = limits(values)
    axis = Axis("", unit, low=low, high=high)
    beside = replace(axis, labelled=False)
    layers = [Layer("points", label, x[known], values[known], colour)]
    if resolution * factor > SMALLEST_BAR * (high - low) and known.any():
        layers.insert(0, exactness(x[known], values[known], resolution * factor, unit))
    bars = histogram(values, label, colour)
    return (
        Chart(title, x_axis, axis, tuple(layers), share=3.4, height=height),
        Chart("", counted, beside, (bars,), height=height),
    )


def exactness(x: NDArray[np.float64], values: NDArray[np.float64], resolution: float, unit: str) -> Layer:
    """Return vertical bars as long as the values are uncertain: one for each, or one after the last."""
    if len(x) > MOST_BARS:
        x = np.array([x.max() + 0.02 * ((x.max() - x.min()) or 1.0)])
        values = np.array([resolution])
    places = np.column_stack([x, x, np.full(len(x), np.nan)]).ravel()
    ends = np.column_stack([values - resolution, values + resolution, np.full(len(x), np.nan)]).ravel()
    return Layer("line", f"\u00b1{resolution:g}\u202f{unit}: accuracy of a value", places, ends, BAR_COLOUR)


def limits(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the range of an axis that shows all finite values, and zero."""
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 1.0)
    room = 0.04 * (high - low) or 0.5
    return (min(0.0, low - room) if low < 0 else 0.0), high + room
