"""The place of a chart on a picture: from values to pixels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart
from perfanalysis.drawing.ticks import extent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfanalysis.drawing.pen import Box

SMALLEST = 1e-12


@dataclass(frozen=True)
class Panel:
    """The pixels of a chart's inside, and what of its axes it shows."""

    box: Box
    x_ends: tuple[float, float]
    y_ends: tuple[float, float]
    x_log: bool
    y_log: bool

    def x(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pixels from the left."""
        return _pixels(values, self.x_ends, (self.box[0], self.box[2]), logarithmic=self.x_log)

    def y(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Pixels from the top."""
        return _pixels(values, self.y_ends, (self.box[3], self.box[1]), logarithmic=self.y_log)


def panel_of(chart: Chart, box: Box) -> Panel:
    """The panel of a chart, with the extent of each axis that is not declared taken from its layers."""
    x_parts = [part for layer in chart.layers for part in (layer.x, layer.high) if part is not None]
    x_ends = extent(chart.x, _ends(x_parts))
    x_ends = (min(x_ends), max(x_ends))
    lows = [layer.low for layer in chart.layers if layer.kind == "band" and layer.low is not None]
    y_ends = extent(chart.y, _ends([*(layer.y for layer in chart.layers), *lows]))
    return Panel(box, x_ends, y_ends, _is_log(chart.x), _is_log(chart.y))


def _ends(parts: list[NDArray[np.float64]]) -> list[tuple[float, float]]:
    finite = [part[np.isfinite(part)] for part in parts]
    return [(float(part.min()), float(part.max())) for part in finite if len(part)]


def _is_log(axis: Axis) -> bool:
    return axis.scale == "log" and not axis.categories


def _pixels(
    values: NDArray[np.float64], ends: tuple[float, float], pixels: tuple[float, float], *, logarithmic: bool
) -> NDArray[np.float64]:
    low, high = ends
    if logarithmic:
        values, low, high = np.log10(np.maximum(values, SMALLEST)), np.log10(low), np.log10(high)
    placed: NDArray[np.float64] = pixels[0] + (values - low) / (high - low) * (pixels[1] - pixels[0])
    return placed
