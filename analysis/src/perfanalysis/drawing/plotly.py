"""Charts as Plotly's figures: dictionaries that plotly.js draws in a page.

Numbers are base64 of typed arrays, which Plotly accepts since 6 (plotly.js since 2.35); layers with very many points
are reduced to those that a reader can distinguish. Colours are for the light page; the page's script replaces each by
the dark colour with the same index.
"""

from __future__ import annotations

import base64
import html
import importlib.util
import textwrap
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.charts import LIGHT_BACKGROUND, SHADES, Axis, Chart, Layer
from perfanalysis.drawing.layers import MOST_POINTS, Ends, ends_of, thinned_line, thinned_points

Trace = dict[str, Any]
NUMBER = ",.4~r"
"""Four significant digits, in d3's notation."""
LONGEST_NAME = 44
"""Characters of a line in a legend that fit on a phone."""
NAME_PIXELS = 15
FRAME_PIXELS = 60
"""Of a chart's height, for the parts above and below the plot area."""
FEW_WHOLE = 8
"""Up to this number, each whole number has a tick."""
BETWEEN_STRETCHES = 0.0015
"""Part of the axis left free between two stretches, and the length of the shortest."""
MOST_UNIFIED = 12
"""Lines whose values at the pointer's position are shown together."""
LINES = ("line", "steps", "area", "band")
UPRIGHT = ("moments", "spans")
"""Layers over the whole height: they have a separate y axis, from 0 to 1."""

TEMPLATE: dict[str, Any] = {
    "layout": {
        "autosize": True,
        "barmode": "overlay",
        "separators": ".\u202f",
        "margin": {"l": 8, "r": 12, "t": 8, "b": 8, "pad": 2},
        "font": {
            "family": "system-ui, Segoe UI, Roboto, Noto Sans, DejaVu Sans, sans-serif",
            "size": 12,
        },
        "legend": {"orientation": "h", "x": 0, "xanchor": "left", "y": 1, "yanchor": "bottom", "traceorder": "normal"},
        "hoverlabel": {"namelength": -1, "align": "left"},
        "uniformtext": {"minsize": 9, "mode": "hide"},
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        **{
            name: {
                "automargin": True,
                "ticks": "",
                "zeroline": False,
                "exponentformat": "none",
                "separatethousands": True,
                "hoverformat": NUMBER,
                "title": {"standoff": 8, "font": {"size": 12}},
            }
            for name in ("xaxis", "yaxis")
        },
    }
}
"""Return the settings that all charts share, for both colours of the page."""


@cache
def library() -> bytes:
    """Return the text of plotly.js from the installed package, without importing it."""
    found = importlib.util.find_spec("plotly")
    assert found is not None and found.submodule_search_locations  # noqa: S101 - a dependency of this package
    return (Path(found.submodule_search_locations[0]) / "package_data" / "plotly.min.js").read_bytes()


def plotly_figure(chart: Chart) -> dict[str, Any]:
    """Return the chart as `data` and `layout`."""
    traces = [trace for layer in chart.layers for trace in TRACES[layer.kind](layer, chart)]
    return {"data": traces, "layout": _layout(chart)}


def fewer(chart: Chart) -> int:
    """Return the number of points of the largest layer that was reduced; 0 if none was."""
    counts = [len(layer.x) for layer in chart.layers if layer.kind == "points"]
    return max((count for count in counts if count > MOST_POINTS), default=0)


def _layout(chart: Chart) -> dict[str, Any]:
    x_ends, y_ends = ends_of(chart)
    named = [layer for layer in chart.layers if layer.kind != "heat"]
    layout: dict[str, Any] = {
        "height": chart.height,
        "showlegend": len(named) > 1,
        "hovermode": _hover_mode(chart),
        "xaxis": _axis(chart.x, x_ends),
        "yaxis": _axis(chart.y, y_ends),
    }
    if chart.y.categories:
        _thin_names(layout["yaxis"], (chart.height - FRAME_PIXELS) // NAME_PIXELS)
        if chart.meaning is not None:
            layout["yaxis"] = {"type": "category", "title": {"text": ""}, "range": list(y_ends)}
    if any(layer.kind in UPRIGHT for layer in chart.layers):
        layout["yaxis2"] = {"overlaying": "y", "range": [0, 1], "visible": False, "fixedrange": True}
    return layout


def _hover_mode(chart: Chart) -> str:
    """Show values of lines at one position together, else the values below the pointer."""
    kinds = [layer.kind for layer in chart.layers if layer.kind not in UPRIGHT]
    together = kinds and all(kind in LINES for kind in kinds) and len(kinds) <= MOST_UNIFIED
    return "x unified" if together else "closest"


def _axis(axis: Axis, ends: Ends) -> dict[str, Any]:
    found: dict[str, Any] = {"title": {"text": _text(axis.text)}}
    if axis.categories:
        found |= {"tickvals": list(range(len(axis.categories))), "ticktext": [_text(name) for name in axis.categories]}
        return {**found, "range": list(ends)}
    if axis.scale == "log":
        return {**found, "type": "log", "range": np.log10(ends).tolist(), "dtick": 1}
    if axis.whole and ends[1] - ends[0] <= FEW_WHOLE:
        found["dtick"] = 1
    return {**found, "range": list(ends), "unifiedhovertitle": {"text": f"%{{x}}{_unit(axis)}"}}


def _thin_names(axis: dict[str, Any], most: int) -> None:
    """Return as many names as fit."""
    every = -(-len(axis["tickvals"]) // max(most, 1))
    axis |= {name: axis[name][::every] for name in ("tickvals", "ticktext")}


def _numbers(values: NDArray[np.float64]) -> dict[str, Any]:
    """Single precision: finer than the pixels of a screen. Larger numbers become infinite, which is a gap."""
    with np.errstate(over="ignore"):
        array = np.ascontiguousarray(values, dtype="<f4")
    packed: dict[str, Any] = {"dtype": "f4", "bdata": base64.b64encode(array.tobytes()).decode()}
    return packed if array.ndim == 1 else {**packed, "shape": ", ".join(str(size) for size in array.shape)}


def _text(text: str) -> str:
    """Return a text that Plotly, which interprets some HTML, shows unchanged."""
    return html.escape(text, quote=False)


def _name(layer: Layer) -> str:
    lines = textwrap.wrap(layer.label, LONGEST_NAME) or [""]
    return "<br>".join(_text(line) for line in lines)


def _unit(axis: Axis) -> str:
    return f" {_text(axis.unit)}" if axis.unit else ""


def faded(colour: str) -> str:
    """Return a transparent colour."""
    return f"rgba({', '.join(str(int(colour[place : place + 2], 16)) for place in (1, 3, 5))}, 0.28)"


def _y_at_x(chart: Chart) -> str:
    """Return the hover text of a single point."""
    return f"%{{y}}{_unit(chart.y)} at %{{x}}{_unit(chart.x)}"


def _points(layer: Layer, chart: Chart) -> list[Trace]:
    known = np.isfinite(layer.x) & np.isfinite(layer.y)
    x, y = thinned_points(layer.x[known], layer.y[known])
    marker = {"color": layer.light, "size": 5 if len(x) < 1000 else 3, "opacity": 0.75 if len(x) < 1000 else 0.5}
    return [{**_scatter(layer, x, y), "hovertemplate": _y_at_x(chart), "mode": "markers", "marker": marker}]


def _scatter(layer: Layer, x: NDArray[np.float64], y: NDArray[np.float64]) -> Trace:
    return {"type": "scatter", "name": _name(layer), "x": _numbers(x), "y": _numbers(y)}


def _line(layer: Layer, chart: Chart) -> list[Trace]:
    kept = thinned_line((layer.y,))
    style = {"color": layer.light, "width": 1.8, "dash": layer.dash}
    if layer.kind == "steps":
        style["shape"] = "hv"
    mode = "lines+markers" if layer.dots else "lines"
    hover = f"%{{y}}{_unit(chart.y)}" if _hover_mode(chart) == "x unified" else _y_at_x(chart)
    look = {"mode": mode, "line": style, "marker": {"color": layer.light, "size": 7}}
    return [{**_scatter(layer, layer.x[kept], layer.y[kept]), "hovertemplate": hover, **look}]


def _filled(layer: Layer, chart: Chart) -> list[Trace]:
    """Return two traces: the lower edge, and the upper edge with the area between them."""
    low = np.zeros(len(layer.x)) if layer.low is None else layer.low
    known = np.isfinite(layer.x) & np.isfinite(layer.y) & np.isfinite(low)
    x, y, low = layer.x[known], layer.y[known], low[known]
    kept = thinned_line((y, low))
    line = {"width": 0, "color": layer.light, "shape": "hv" if layer.kind == "area" else "linear"}
    both = {"mode": "lines", "line": line, "legendgroup": f"{layer.label} {layer.colour}"}
    fill = {"fill": "tonexty", "fillcolor": faded(layer.light)}
    lower = {**_scatter(layer, x[kept], low[kept]), **both, "showlegend": False, "hoverinfo": "skip"}
    return [lower, {**_scatter(layer, x[kept], y[kept]), **both, **fill, "hovertemplate": f"%{{y}}{_unit(chart.y)}"}]


def _bar(layer: Layer, lengths: NDArray[np.float64]) -> Trace:
    """Return bars to the right: the orientation of all kinds of layers except one."""
    return {
        "type": "bar",
        "name": _name(layer),
        "orientation": "h",
        "x": _numbers(lengths),
        "y": _numbers(layer.y),
        "width": 0.9 * layer.width,
        "marker": {"color": layer.light, "line": {"width": 0}},
    }


def _bars(layer: Layer, chart: Chart) -> list[Trace]:
    return [{**_bar(layer, layer.x), "orientation": "v", "hovertemplate": _y_at_x(chart)}]


def _sidebars(layer: Layer, chart: Chart) -> list[Trace]:
    return [{**_bar(layer, layer.x), **_x_of_row(layer, chart)}]


def _x_of_row(layer: Layer, chart: Chart) -> Trace:
    """Return the hover text of a value to the right: the name of its category, else its position."""
    value = f"%{{x}}{_unit(chart.x) or f' {_text(chart.x.label)}'}"
    if not chart.y.categories:
        return {"hovertemplate": f"{value} at %{{y}}{_unit(chart.y)}"}
    last = len(chart.y.categories) - 1
    names = [_text(chart.y.categories[min(max(round(place), 0), last)]) for place in layer.y.tolist()]
    return {"hovertemplate": f"%{{customdata}}: {value}", "customdata": names}


def _ranges(layer: Layer, chart: Chart) -> list[Trace]:
    look: Trace = {"mode": "markers", "marker": {"color": layer.light, "size": 8}}
    if layer.low is not None and layer.high is not None:
        bar = {"type": "data", "symmetric": False, "color": layer.light, "thickness": 2, "width": 4}
        ends = {"array": _numbers(layer.high - layer.x), "arrayminus": _numbers(layer.x - layer.low)}
        look["error_x"] = {**bar, **ends}
    return [{**_scatter(layer, layer.x, layer.y), **look, **_x_of_row(layer, chart)}]


def _heat(layer: Layer, chart: Chart) -> list[Trace]:
    assert layer.shades is not None  # noqa: S101 - a heat layer has shades
    meaning = layer.shades.meaning
    bar = {"orientation": "h", "x": 1, "xanchor": "right", "y": 1, "yanchor": "bottom", "len": 0.5, "thickness": 9}
    return [
        {
            "type": "heatmap",
            "name": _name(layer),
            "x": _numbers(layer.x),
            "y": [_text(name) for name in chart.y.categories],
            "z": _numbers(layer.shades.values),
            "zmin": meaning.low,
            "zmax": meaning.high if meaning.high > meaning.low else meaning.low + 1,
            "colorscale": [[place / (len(SHADES) - 1), shade] for place, shade in enumerate(SHADES)],
            "colorbar": {
                **bar,
                "outlinewidth": 0,
                "title": {"text": _text(meaning.text), "side": "top", "font": {"size": 12}},
            },
            "hoverongaps": False,
            "hovertemplate": f"%{{y}}: %{{z:{NUMBER}}} {_text(meaning.unit)} at %{{x}}{_unit(chart.x)}<extra></extra>",
        }
    ]


def _moments(layer: Layer, chart: Chart) -> list[Trace]:
    gaps = np.full(len(layer.x), np.nan)
    x = np.column_stack([layer.x, layer.x, gaps]).ravel()
    y = np.column_stack([np.zeros(len(gaps)), np.ones(len(gaps)), gaps]).ravel()
    look = {"mode": "lines", "line": {"color": layer.light, "width": 1.3}, "opacity": 0.8, "yaxis": "y2"}
    return [{**_scatter(layer, x, y), **look, "hovertemplate": f"at %{{x}}{_unit(chart.x)}"}]


def _spans(layer: Layer, chart: Chart) -> list[Trace]:  # noqa: ARG001 - as all of them
    ends = layer.x if layer.high is None else layer.high
    gaps = np.full(len(ends), np.nan)
    x = np.column_stack([layer.x, ends, ends, layer.x, layer.x, gaps]).ravel()
    y = np.tile([0.0, 0.0, 1.0, 1.0, 0.0, np.nan], len(ends))
    colour = layer.light
    look = {"mode": "lines", "line": {"width": 0, "color": colour}, "fill": "toself", "fillcolor": colour}
    return [{**_scatter(layer, x, y), **look, "opacity": 0.14, "yaxis": "y2", "hoverinfo": "skip"}]


def _stretches(layer: Layer, chart: Chart) -> list[Trace]:
    ends = layer.x if layer.high is None else layer.high
    names = [_text(name) for name in layer.names]
    times = [f"{begin:,.4g}\u2013{end:,.4g}".replace(",", "\u202f") for begin, end in zip(layer.x, ends, strict=True)]
    x_ends, _ = ends_of(chart)
    gap = BETWEEN_STRETCHES * (x_ends[1] - x_ends[0])
    look = {
        "base": _numbers(layer.x),
        "text": names,
        "textposition": "inside",
        "insidetextanchor": "start",
        "insidetextfont": {"color": LIGHT_BACKGROUND},
        "textangle": 0,
        "customdata": times,
        "hovertemplate": f"%{{text}}: %{{customdata}}{_unit(chart.x)}",
    }
    return [{**_bar(layer, np.maximum(ends - layer.x - gap, gap)), **look}]


TRACES: dict[str, Callable[[Layer, Chart], list[Trace]]] = {
    "points": _points,
    "line": _line,
    "steps": _line,
    "area": _filled,
    "band": _filled,
    "bars": _bars,
    "sidebars": _sidebars,
    "ranges": _ranges,
    "heat": _heat,
    "moments": _moments,
    "spans": _spans,
    "stretches": _stretches,
}
