"""The figures of a declared kind: a function for each kind of plot, from the columns to a chart."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, LayerKind, cumulative
from perfanalysis.workloads.declared.checks import split
from perfanalysis.workloads.declared.columns import Columns, numbers_of, statistic_of
from perfanalysis.workloads.declared.model import PlotDeclared, PlotKind
from perfanalysis.workloads.step_series import count_between

if TYPE_CHECKING:
    import pandas as pd

MOST_SERIES = 12
MOST_BARS = 40
FEW_POINTS = 20
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
    shown = sorted(found[:MOST_SERIES], key=str)
    rest = len(found) - len(shown)
    left_out = f"Only the {MOST_SERIES} most frequent of {len(found)} are drawn." if rest else ""
    return [(str(key), frame[(keys == key).to_numpy(dtype=bool)]) for key in shown], left_out


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
        y_axis = Axis(columns.label(plot.y), columns.declaration(plot.y).unit or "")
        return (Chart(plot.title, x_axis, y_axis, tuple(layers), height=320),), left_out

    return draw


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


def _waterfall(columns: Columns, plot: PlotDeclared) -> Drawn:
    assert plot.begin is not None and plot.end is not None and plot.by is not None  # noqa: S101 - by declared.checks
    frame = columns.frame(plot.begin, plot.where)
    begin, end = numbers_of(frame, plot.begin), numbers_of(frame, plot.end)
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


DRAWN: Mapping[PlotKind, Callable[[Columns, PlotDeclared], Drawn]] = {
    "distribution": _distribution,
    "points": _over("points"),
    "line": _over("line"),
    "bars": _bars,
    "concurrency": _concurrency,
    "waterfall": _waterfall,
}


def figures(columns: Columns) -> Iterator[tuple[PlotDeclared, Figure | None]]:
    """Return every declared plot with its figure."""
    yield from ((plot, figure_of(columns, plot)) for plot in columns.declared.plots)
