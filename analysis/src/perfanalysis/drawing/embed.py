"""Figures as compact JSON that the report's script draws on canvases, at any width, in light and dark."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import numpy as np

from perfanalysis.drawing.charts import SHADES, Axis, Chart, Figure, Layer, Meaning, Shades
from perfanalysis.drawing.thinning import thinned_line, thinned_points

if TYPE_CHECKING:
    from numpy.typing import NDArray

PLACES = 65535
"""A point's place on each axis is embedded with 16 bits: far finer than a screen's pixels."""
DIGITS = 5
LINES = ("line", "steps", "area", "band")
NO_SHADE = 255


def embedded(figure: Figure) -> dict[str, Any]:
    """The figure for the report's script."""
    return {
        "name": figure.name,
        "rows": [[_chart(chart) for chart in row] for row in figure.rows],
    }


def _chart(chart: Chart) -> dict[str, Any]:
    return {
        "title": chart.title,
        "share": chart.share,
        "height": chart.height,
        "x": _axis(chart.x, [layer.x for layer in chart.layers]),
        "y": _axis(chart.y, [*(layer.y for layer in chart.layers), *_lower_edges(chart)]),
        "layers": [_layer(layer) for layer in chart.layers],
        "meaning": _meaning(chart.meaning),
    }


def _lower_edges(chart: Chart) -> list[NDArray[np.float64]]:
    return [layer.low for layer in chart.layers if layer.kind == "band" and layer.low is not None]


def _meaning(meaning: Meaning | None) -> dict[str, Any] | None:
    if meaning is None:
        return None
    ends = {"low": _short(meaning.low), "high": _short(meaning.high)}
    return {"text": meaning.text, "unit": meaning.unit, "colours": list(SHADES), **ends}


def _axis(axis: Axis, values: list[NDArray[np.float64]]) -> dict[str, Any]:
    finite = [part[np.isfinite(part)] for part in values]
    joined = np.concatenate(finite) if finite else np.array([])
    low = axis.low if axis.low is not None else (float(joined.min()) if len(joined) else 0.0)
    high = axis.high if axis.high is not None else (float(joined.max()) if len(joined) else 1.0)
    return {
        "text": axis.text,
        "unit": axis.unit,
        "log": axis.scale == "log",
        "low": _short(low),
        "high": _short(high),
        "fixed": axis.high is not None,
        "whole": axis.whole,
        "categories": list(axis.categories),
    }


def _layer(layer: Layer) -> dict[str, Any]:
    shared = {"kind": layer.kind, "label": layer.label, "colour": layer.colour}
    if layer.kind == "points":
        return {**shared, **_points(layer.x, layer.y)}
    if layer.shades is not None:
        return {**shared, **_shades(layer.shades), "x": _numbers(layer.x)}
    kept = _kept(layer)
    given = {name: getattr(layer, name) for name in ("x", "y", "low", "high")}
    numbers = {name: _numbers(values[kept]) for name, values in given.items() if values is not None}
    named = {"names": list(layer.names)} if layer.names else {}
    return {**shared, **numbers, "width": _short(layer.width), "dashed": layer.dashed, "dots": layer.dots, **named}


def _kept(layer: Layer) -> NDArray[np.int64]:
    """The places of a layer that a page has: all, but for lines of very many."""
    if layer.kind not in LINES:
        return np.arange(len(layer.x))
    return thinned_line((layer.y,) if layer.low is None else (layer.y, layer.low))


def _shades(shades: Shades) -> dict[str, Any]:
    """Shades as base64 of a byte for each cell, row by row: 0 to 254 from low to high, 255 where there is no value."""
    meaning = shades.meaning
    parts = (shades.values - meaning.low) / ((meaning.high - meaning.low) or 1.0)
    places = np.where(np.isfinite(parts), np.rint((NO_SHADE - 1) * np.clip(parts, 0, 1)), NO_SHADE)
    rows, columns = shades.values.shape
    return {"data": base64.b64encode(places.astype(np.uint8).tobytes()).decode(), "rows": rows, "columns": columns}


def _points(x: NDArray[np.float64], y: NDArray[np.float64]) -> dict[str, Any]:
    """Places of the points as base64 of little-endian 16-bit pairs, with the ranges they are counted in.

    Of many points so few are kept as a page can carry, among them the extremes; `of` is how many there are.
    """
    known = np.isfinite(x) & np.isfinite(y)
    kept = thinned_points(x[known], y[known])
    (x_places, x_range), (y_places, y_range) = (_places(values) for values in kept)
    data = base64.b64encode(np.stack([x_places, y_places], axis=1).astype("<u2").tobytes()).decode()
    return {"data": data, "count": len(x_places), "of": int(known.sum()), "xRange": x_range, "yRange": y_range}


def _places(values: NDArray[np.float64]) -> tuple[NDArray[np.int64], list[float]]:
    if not len(values):
        return np.array([], dtype=np.int64), [0.0, 1.0]
    low, high = float(values.min()), float(values.max())
    span = (high - low) or 1.0
    return np.rint((values - low) / span * PLACES).astype(np.int64), [low, low + span]


def _numbers(values: NDArray[np.float64]) -> list[float | None]:
    return [_short(value) if np.isfinite(value) else None for value in values.tolist()]


def _short(value: float) -> float:
    rounded = float(f"{value:.{DIGITS}g}")
    return int(rounded) if rounded.is_integer() else rounded
