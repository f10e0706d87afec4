"""The layers of a chart, drawn on its panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.colors import to_rgb

from perfanalysis.drawing.charts import SHADES, Layer
from perfanalysis.drawing.palette import LIGHT, SOLID

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfanalysis.drawing.panel import Panel
    from perfanalysis.drawing.pen import Dashes, Pen

PALETTE = LIGHT
DASHED, SECOND = (5.0, 3.0), (8.0, 2.0, 1.5, 2.0)
"""Lengths drawn and left out, in points."""
NO_DATA = "#edf0f4"
MANY_POINTS = 3_000
"""From here on points are drawn as an image: the pixels are the same, a marker for each costs twenty times as much."""
OPACITY = np.rint(255 * (1 - 0.72 ** np.arange(16))).astype(np.uint8)
"""By how many points fall on a pixel."""
SHADE_STEPS = 256
NARROWEST, BETWEEN_STRETCHES = 2.0, 1.5
"""Pixels of the shortest stretch, and what is left free where one follows another."""
NAME_SIZE = 8.0


def colour_of(layer: Layer) -> str:
    """The layer's colour, by its place in the palette."""
    return PALETTE[layer.colour % len(PALETTE)]


def dashes_of(layer: Layer) -> Dashes:
    """How a layer's line is broken: as it says, else by its colour where colours alone are too many to tell."""
    second = layer.kind in ("line", "steps") and layer.colour % len(PALETTE) >= SOLID
    return DASHED if layer.dashed else SECOND if second else ()


def _points(pen: Pen, panel: Panel, layer: Layer) -> None:
    x, y = panel.x(layer.x), panel.y(layer.y)
    if len(x) >= MANY_POINTS:
        _cloud(pen, panel, x, y, colour_of(layer))
        return
    radius, alpha = (3.6, 0.75) if len(x) < 1000 else (2.2, 0.45)
    pen.dots(x, y, radius, colour_of(layer), alpha)


def _cloud(pen: Pen, panel: Panel, x: NDArray[np.float64], y: NDArray[np.float64], colour: str) -> None:
    """Every point as two by two pixels that let through what lies below, so that dense places are darker."""
    left, top, right, bottom = (round(end) for end in panel.box)
    width, height = right - left + 1, bottom - top + 1
    known = np.isfinite(x) & np.isfinite(y)
    columns = np.clip(np.rint(x[known]).astype(np.int64) - left, 0, width - 1)
    lines = np.clip(np.rint(y[known]).astype(np.int64) - top, 0, height - 1)
    counts = np.bincount(lines * width + columns, minlength=height * width).reshape(height, width)
    counts[1:] += counts[:-1].copy()
    counts[:, 1:] += counts[:, :-1].copy()
    image = np.empty((height, width, 4), dtype=np.uint8)
    image[..., :3] = _bytes(colour)
    image[..., 3] = OPACITY[np.minimum(counts, len(OPACITY) - 1)]
    pen.image(image, left, top)


def _bytes(colour: str) -> NDArray[np.uint8]:
    parts: NDArray[np.float64] = np.array(to_rgb(colour))
    return np.rint(255 * parts).astype(np.uint8)


def _line(pen: Pen, panel: Panel, layer: Layer) -> None:
    pen.line(panel.x(layer.x), panel.y(layer.y), colour_of(layer), 2.6, dashes=dashes_of(layer))
    if layer.dots:
        pen.dots(panel.x(layer.x), panel.y(layer.y), 4.4, colour_of(layer), 1.0)


def _steps(pen: Pen, panel: Panel, layer: Layer) -> None:
    x, y = _as_steps(panel.x(layer.x), panel.y(layer.y))
    pen.line(x, y, colour_of(layer), 2.4, dashes=dashes_of(layer))


def _as_steps(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Each value holds until the next place."""
    return np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]


def _area(pen: Pen, panel: Panel, layer: Layer) -> None:
    low = np.zeros(len(layer.x)) if layer.low is None else layer.low
    x, upper = _as_steps(panel.x(layer.x), panel.y(layer.y))
    _, lower = _as_steps(panel.x(layer.x), panel.y(low))
    known = np.isfinite(x) & np.isfinite(upper) & np.isfinite(lower)
    outline = np.concatenate([np.column_stack([x, upper])[known], np.column_stack([x, lower])[known][::-1]])
    pen.polygons(outline[None], colour_of(layer), 0.3)


def _band(pen: Pen, panel: Panel, layer: Layer) -> None:
    if layer.low is None:
        return
    x, upper, lower = panel.x(layer.x), panel.y(layer.y), panel.y(layer.low)
    known = np.isfinite(x) & np.isfinite(upper) & np.isfinite(lower)
    outline = np.concatenate([np.column_stack([x, upper])[known], np.column_stack([x, lower])[known][::-1]])
    pen.polygons(outline[None], colour_of(layer), 0.22)


def _bars(pen: Pen, panel: Panel, layer: Layer) -> None:
    half = 0.45 * layer.width
    left, right = panel.x(layer.x - half), panel.x(layer.x + half)
    zero = np.zeros(len(layer.x))
    pen.polygons(_rectangles(left, panel.y(layer.y), right, panel.y(zero)), colour_of(layer))


def _sidebars(pen: Pen, panel: Panel, layer: Layer) -> None:
    half = 0.45 * layer.width
    top, bottom = panel.y(layer.y + half), panel.y(layer.y - half)
    zero = panel.x(np.zeros(len(layer.x)))
    pen.polygons(_rectangles(zero, top, panel.x(layer.x), bottom), colour_of(layer), 0.85)


def _rectangles(
    left: NDArray[np.float64], top: NDArray[np.float64], right: NDArray[np.float64], bottom: NDArray[np.float64]
) -> NDArray[np.float64]:
    corners = np.stack([[left, top], [right, top], [right, bottom], [left, bottom]]).transpose(2, 0, 1)
    known: NDArray[np.float64] = corners[np.isfinite(corners).all(axis=(1, 2))]
    return known


def _ranges(pen: Pen, panel: Panel, layer: Layer) -> None:
    y = panel.y(layer.y)
    if layer.low is not None and layer.high is not None:
        pen.polygons(_rectangles(panel.x(layer.low), y - 2, panel.x(layer.high), y + 2), colour_of(layer), 0.55)
    pen.dots(panel.x(layer.x), y, 3.7, colour_of(layer), 1.0)


def _heat(pen: Pen, panel: Panel, layer: Layer) -> None:
    if layer.shades is None:
        return
    meaning, values = layer.shades.meaning, layer.shades.values
    ends = panel.x(layer.x[[0, -1]]), panel.y(layer.y[[0, -1]])
    left, right, top, bottom = (round(float(end)) for pair in ends for end in pair)
    rows, columns = _nearest(bottom - top, values.shape[0]), _nearest(right - left, values.shape[1])
    shades = (values - meaning.low) / ((meaning.high - meaning.low) or 1.0)
    pen.image(shade_pixels(shades)[rows][:, columns], left, top)


def _nearest(pixels: int, cells: int) -> NDArray[np.int64]:
    """Which cell each pixel shows."""
    return ((np.arange(max(pixels, 1)) + 0.5) * cells / max(pixels, 1)).astype(np.int64)


def shade_pixels(parts: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Pixels of parts between 0, the darkest, and 1; NaN is where there is no value."""
    stops = np.linspace(0, 1, len(SHADES))
    colours = np.array([_bytes(colour) for colour in SHADES], dtype=float)
    at = np.linspace(0, 1, SHADE_STEPS)
    table = np.stack([np.interp(at, stops, colours[:, part]) for part in range(3)], axis=1)
    table = np.vstack([table, _bytes(NO_DATA)])
    places = np.where(np.isfinite(parts), np.rint(np.clip(parts, 0, 1) * (SHADE_STEPS - 1)), SHADE_STEPS)
    opaque = np.column_stack([np.rint(table), np.full(len(table), 255)]).astype(np.uint8)
    pixels: NDArray[np.uint8] = opaque[places.astype(np.int64)]
    return pixels


def _moments(pen: Pen, panel: Panel, layer: Layer) -> None:
    x = panel.x(layer.x)
    ends = np.column_stack([x, np.full(len(x), panel.box[1]), x, np.full(len(x), panel.box[3])])
    pen.segments(ends, colour_of(layer), 1.8, 0.8)


def _spans(pen: Pen, panel: Panel, layer: Layer) -> None:
    ends = layer.x if layer.high is None else layer.high
    top, bottom = np.full(len(ends), panel.box[1]), np.full(len(ends), panel.box[3])
    pen.polygons(_rectangles(panel.x(layer.x), top, panel.x(ends), bottom), colour_of(layer), 0.1)


def _stretches(pen: Pen, panel: Panel, layer: Layer) -> None:
    ends = layer.x if layer.high is None else layer.high
    half = 0.45 * layer.width
    left, right = panel.x(layer.x), panel.x(ends)
    right = np.maximum(right - BETWEEN_STRETCHES, left + NARROWEST)
    top, bottom = panel.y(layer.y - half), panel.y(layer.y + half)
    pen.polygons(_rectangles(left, top, right, bottom), colour_of(layer))
    for place, name in enumerate(layer.names):
        text = _clipped(pen, name, right[place] - left[place] - 12)
        if text:
            middle = (top[place] + bottom[place]) / 2
            pen.text(left[place] + 6, middle + 5, text, NAME_SIZE, "white")


def _clipped(pen: Pen, text: str, room: float) -> str:
    """A text with its end cut off where there is no room for it; nothing where there is none at all."""
    if pen.text_width(text, NAME_SIZE) <= room:
        return text
    while text and pen.text_width(f"{text}\u2026", NAME_SIZE) > room:
        text = text[:-1]
    return f"{text}\u2026" if len(text) > 1 else ""


DRAWERS = {
    "points": _points,
    "line": _line,
    "steps": _steps,
    "area": _area,
    "band": _band,
    "bars": _bars,
    "sidebars": _sidebars,
    "ranges": _ranges,
    "heat": _heat,
    "moments": _moments,
    "spans": _spans,
    "stretches": _stretches,
}
