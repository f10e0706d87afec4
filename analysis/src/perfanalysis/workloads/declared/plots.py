"""The figures of a declared kind: a function for each kind of plot, from the columns to a chart."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, LayerKind, cumulative
from perfanalysis.workloads.declared.checks import split
from perfanalysis.workloads.declared.columns import Columns, numbers_of, statistic_of
from perfanalysis.workloads.declared.model import PlotDeclared, PlotKind
from perfanalysis.workloads.step_series import count_between
from perfanalysis.workloads.trend import trend_of

if TYPE_CHECKING:
    import pandas as pd

MOST_SERIES = 12
MOST_BARS = 40
FEW_POINTS = 20
LONGEST_NUMBER = 18
LOW_PART, ROOM = 0.8, 0.05
"""Axes of points begin at 0 if the least value is at most this part of the most; else with this room below."""
FEW_ROWS, MOST_ROWS = 20, 100
"""Lines of a waterfall with colours: higher ones up to the first number, and at most the second."""
Drawn = tuple[tuple[Chart, ...], str]
"""Charts side by side, and notes for the caption about omitted parts."""


def figure_of(columns: Columns, plot: PlotDeclared) -> Figure | None:
    """Return the figure of a plot; None if no row has its values."""
    charts, left_out = DRAWN[plot.kind](columns, plot)
    charts = tuple(chart for chart in charts if any(len(layer.x) for layer in chart.layers))
    if not charts:
        return None
    caption = " ".join(text for text in (plot.caption, left_out) if text)
    return Figure(plot.name, plot.title, caption, (charts,))


def _distribution(columns: Columns, plot: PlotDeclared) -> Drawn:
    """Return one chart for each unit, since values of different units cannot share an axis."""
    units: dict[str, list[str]] = {}
    for reference in plot.columns_of:
        units.setdefault(columns.declaration(reference).unit or "", []).append(reference)
    charts = []
    for unit, references in units.items():
        curves = (
            cumulative(columns.numbers(reference, plot.where), columns.label(reference), place)
            for place, reference in enumerate(references)
        )
        layers = tuple(curve for curve in curves if len(curve.x))
        label = columns.label(references[0]) if len(references) == 1 else "value"
        charts.append(Chart(plot.title, Axis(label, unit), Axis("share", "%", low=0.0, high=100.0), layers, height=320))
    return tuple(charts), ""


def _series(columns: Columns, plot: PlotDeclared, reference: str) -> tuple[list[tuple[str, pd.DataFrame]], str]:
    """Return the rows of a plot by its `by`: the most frequent values, and a note about the others."""
    frame = columns.frame(reference, plot.where)
    if plot.by is None:
        return [(columns.label(plot.y or reference), frame)], ""
    keys = frame[split(plot.by)[1]].astype("object")
    found = list(keys.value_counts().index)
    shown = sorted(found[:MOST_SERIES], key=_natural)
    rest = len(found) - len(shown)
    left_out = f"Only the {MOST_SERIES} most frequent of {len(found)} are drawn." if rest else ""
    return [(str(key), frame[(keys == key).to_numpy(dtype=bool)]) for key in shown], left_out


def _natural(key: object) -> list[tuple[int, str]]:
    """Return the order in which `user 2` is before `user 10`."""
    return [
        (int(part[:LONGEST_NUMBER]), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", str(key))
    ]


def _over(kind: LayerKind) -> Callable[[Columns, PlotDeclared], Drawn]:
    def draw(columns: Columns, plot: PlotDeclared) -> Drawn:
        assert plot.x is not None and plot.y is not None  # noqa: S101 - by declared.checks
        series, left_out = _series(columns, plot, plot.x)
        start, x_axis = _x_axis(columns, plot)
        layers = []
        for place, (label, frame) in enumerate(series):
            x, y = numbers_of(frame, plot.x) - start, numbers_of(frame, plot.y)
            known = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
            known = known[np.argsort(x[known], kind="stable")]
            few = kind == "line" and len(known) <= FEW_POINTS
            layers.append(Layer(kind, label, x[known], y[known], place, dots=few))
        if plot.trend:
            layers += _trend(columns, plot, start, len(layers))
        of_y = columns.declaration(plot.y)
        y_axis = Axis(columns.label(plot.y), of_y.unit or "", whole=of_y.kind == "integer" and not of_y.unit)
        if kind == "points":
            x_axis, y_axis = _with_room(columns, plot, x_axis, y_axis, layers)
        return (Chart(plot.title, x_axis, y_axis, tuple(layers), height=320),), left_out

    return draw


def _with_room(
    columns: Columns, plot: PlotDeclared, x_axis: Axis, y_axis: Axis, layers: list[Layer]
) -> tuple[Axis, Axis]:
    """Return axes that do not cut the first and the lowest points."""
    x, y = _together(layers, "x"), _together(layers, "y")
    if not len(x):
        return x_axis, y_axis
    if columns.declaration(str(plot.x)).kind == "integer":
        x_axis = replace(x_axis, low=float(x.min()) - 0.5, high=float(x.max()) + 0.5, whole=True)
    least, most = float(y.min()), float(y.max())
    low = 0.0 if 0 <= least <= most * LOW_PART or least == most > 0 else least - ROOM * (most - least)
    return x_axis, replace(y_axis, low=low)


def _together(layers: list[Layer], axis: Literal["x", "y"]) -> NDArray[np.float64]:
    return np.concatenate([getattr(layer, axis) for layer in layers] or [np.zeros(0)])


def _trend(columns: Columns, plot: PlotDeclared, start: float, colour: int) -> list[Layer]:
    """Return the least-squares line through all points, also those that are not drawn."""
    assert plot.x is not None and plot.y is not None  # noqa: S101 - by declared.checks
    x, y = columns.numbers(plot.x, plot.where) - start, columns.numbers(plot.y, plot.where)
    found = trend_of(x, y)
    if found is None:
        return []
    known = x[np.isfinite(x) & np.isfinite(y)]
    ends = np.array([known.min(), known.max()])
    unit = columns.declaration(plot.y).unit
    words = f"trend: {found.slope:+.3g} ± {found.reach:.2g}{f' {unit}' if unit else ''} each".replace("-", "\u2212")
    return [Layer("line", words, ends, found.at(ends), colour, dashed=True)]


def _x_axis(columns: Columns, plot: PlotDeclared) -> tuple[float, Axis]:
    """Return the offset of x, and its axis: times count from the first."""
    assert plot.x is not None  # noqa: S101 - by declared.checks
    column = columns.declaration(plot.x)
    if column.kind != "time":
        return 0.0, Axis(columns.label(plot.x), column.unit or "")
    return _first(columns.numbers(plot.x, plot.where)), Axis("time since the first", "s", low=0.0)


def _first(times: NDArray[np.float64]) -> float:
    finite = times[np.isfinite(times)]
    return float(finite.min()) if len(finite) else 0.0


def _bars(columns: Columns, plot: PlotDeclared) -> Drawn:
    assert plot.by is not None  # noqa: S101 - by declared.checks
    (reference,) = plot.columns_of
    statistic = plot.statistic or "count"
    frame = columns.frame(reference, plot.where)
    keys = frame[split(plot.by)[1]].astype("object")
    found = list(keys.value_counts().index)
    shown = found[:MOST_BARS]
    heights = []
    for key in shown:
        own = frame[(keys == key).to_numpy(dtype=bool)]
        known = own[split(reference)[1]].notna()
        if statistic == "count":
            heights.append(float(known.sum()))
        elif statistic == "distinct":
            heights.append(float(own[split(reference)[1]].nunique()))
        else:
            number = statistic_of(numbers_of(own, reference), statistic, columns.method).number
            heights.append(np.nan if number is None else number)
    layer = Layer("sidebars", columns.label(plot.by), np.array(heights), np.arange(len(shown), dtype=float), width=0.6)
    counted = statistic in ("count", "distinct")
    unit = "" if counted else columns.declaration(reference).unit or ""
    label = statistic if counted else f"{statistic} of {columns.label(reference)}"
    names = tuple(str(key)[:60] for key in shown)
    chart = Chart(
        plot.title,
        Axis(label, unit, low=0.0 if not any(height < 0 for height in heights) else None, whole=counted),
        Axis("", categories=names),
        (layer,) if shown else (),
        height=90 + 30 * len(names),
    )
    left_out = f"Only the {MOST_BARS} most frequent of {len(found)} are drawn." if len(found) > MOST_BARS else ""
    return (chart,), left_out


def _concurrency(columns: Columns, plot: PlotDeclared) -> Drawn:
    assert plot.begin is not None and plot.end is not None  # noqa: S101 - by declared.checks
    series, left_out = _series(columns, plot, plot.begin)
    start = _first(columns.numbers(plot.begin, plot.where))
    layers = []
    for place, (label, frame) in enumerate(series):
        counted = count_between(numbers_of(frame, plot.begin), numbers_of(frame, plot.end))
        name = label if plot.by else "concurrent"
        layers.append(Layer("steps", name, counted.times - start, counted.values, place))
    chart = Chart(
        plot.title, Axis("time since the first", "s", low=0.0), Axis("concurrent", low=0.0, whole=True), tuple(layers)
    )
    return (chart,), left_out


def _stack(columns: Columns, plot: PlotDeclared) -> Drawn:
    """Return the numbers of `_concurrency` on top of each other, the series that begins first at the bottom."""
    assert plot.begin is not None and plot.end is not None and plot.by is not None  # noqa: S101 - by declared.checks
    frame = columns.frame(plot.begin, plot.where)
    begin, end = numbers_of(frame, plot.begin), numbers_of(frame, plot.end)
    keys = frame[split(plot.by)[1]].astype("object").to_numpy()
    names, left_out = _by_first(keys, begin)
    start, last = _first(begin), _last(begin, end)
    counted = [count_between(begin[keys == name], end[keys == name]) for name in names]
    times = np.unique(np.concatenate([*(one.times for one in counted), np.array([last])])) if counted else np.zeros(0)
    layers, low = [], np.zeros(len(times))
    for place, (name, one) in enumerate(zip(names, counted, strict=True)):
        high = low + one.at(times)
        layers.append(Layer("area", name, times - start, high, place, low=low))
        low = high
    x_axis = Axis("time since the first", "s", low=0.0)
    return (Chart(plot.title, x_axis, Axis("concurrent", low=0.0, whole=True), tuple(layers), height=320),), left_out


def _by_first(keys: NDArray[np.object_], begin: NDArray[np.float64]) -> tuple[list[str], str]:
    """Return the values in the order in which they begin, and a note about omitted ones."""
    firsts: dict[str, float] = {}
    for key, at in zip(keys, begin, strict=True):
        if isinstance(key, str) and np.isfinite(at):
            firsts[key] = min(float(at), firsts.get(key, np.inf))
    names = sorted(firsts, key=lambda name: firsts[name])
    left_out = f"Only the first {MOST_SERIES} of {len(names)} are drawn." if len(names) > MOST_SERIES else ""
    return names[:MOST_SERIES], left_out


def _last(*times: NDArray[np.float64]) -> float:
    together = np.concatenate(times)
    finite = together[np.isfinite(together)]
    return float(finite.max()) if len(finite) else 0.0


def _waterfall(columns: Columns, plot: PlotDeclared) -> Drawn:
    assert plot.begin is not None and plot.end is not None and plot.by is not None  # noqa: S101 - by declared.checks
    frame = columns.frame(plot.begin, plot.where)
    begin, end = numbers_of(frame, plot.begin), numbers_of(frame, plot.end)
    if plot.of:
        return _coloured(plot, frame, begin, np.where(np.isfinite(end), end, _last(begin, end)))
    known = np.flatnonzero(np.isfinite(begin) & np.isfinite(end))
    shown = known[np.argsort(begin[known], kind="stable")][:MOST_BARS]
    start = float(begin[shown[0]]) if len(shown) else 0.0
    names = tuple(str(frame[split(plot.by)[1]].iloc[place])[:60] for place in shown)
    rows = np.arange(len(shown), dtype=float)
    label = columns.label(plot.by)
    layer = Layer("stretches", label, begin[shown] - start, rows, high=end[shown] - start, width=0.6, names=names)
    x_axis = Axis("time since the first", "s", low=0.0)
    chart = Chart(plot.title, x_axis, Axis("", categories=names), (layer,), height=90 + 30 * len(names))
    return (chart,), f"Only the first {MOST_BARS} of {len(known)} are drawn." if len(known) > MOST_BARS else ""


def _coloured(plot: PlotDeclared, frame: pd.DataFrame, begin: NDArray[np.float64], end: NDArray[np.float64]) -> Drawn:
    """Return a line for each value of `by`, in the order of the table, with a colour for each value of `of`."""
    (reference,) = plot.columns_of
    of = frame[split(reference)[1]].astype("object").to_numpy()
    names, left_out = _by_first(of, begin)
    lines = frame[split(str(plot.by))[1]].astype("object").to_numpy()
    known = np.isfinite(begin) & (end >= begin)
    rows = {name: row for row, name in enumerate(dict.fromkeys(lines[known]))}
    places = np.array([rows.get(name, MOST_ROWS) for name in lines], dtype=float)
    start = _first(begin)
    layers = []
    for colour, name in enumerate(names):
        own = np.flatnonzero(known & (of == name) & (places < MOST_ROWS))
        layers.append(
            Layer("stretches", name, begin[own] - start, places[own], colour, high=end[own] - start, width=0.7)
        )
    x_axis = Axis("time since the first", "s", low=0.0)
    shown = tuple(str(name)[:60] for name in rows)[:MOST_ROWS]
    height = 110 + (30 if len(shown) <= FEW_ROWS else 17) * len(shown)
    chart = Chart(plot.title, x_axis, Axis("", categories=shown), tuple(layers), height=height)
    rest = f"Only the first {MOST_ROWS} of {len(rows)} are drawn." if len(rows) > MOST_ROWS else ""
    return (chart,), " ".join(text for text in (left_out, rest) if text)


DRAWN: Mapping[PlotKind, Callable[[Columns, PlotDeclared], Drawn]] = {
    "distribution": _distribution,
    "points": _over("points"),
    "line": _over("line"),
    "bars": _bars,
    "concurrency": _concurrency,
    "stack": _stack,
    "waterfall": _waterfall,
}


def figures(columns: Columns) -> Iterator[tuple[PlotDeclared, Figure | None]]:
    """Return every declared plot with its figure."""
    yield from ((plot, figure_of(columns, plot)) for plot in columns.declared.plots)
