"""Figures as PNG and SVG files, rendered with matplotlib, for slides and documents. They contain every point."""

from __future__ import annotations

import io
import re
import textwrap
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from perfanalysis.drawing.charts import LIGHT_BACKGROUND, SHADES, Axis, Chart, Figure, Layer
from perfanalysis.drawing.layers import ends_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture
    from matplotlib.figure import SubFigure

Format = Literal["png", "svg"]
WIDTH, DOTS_PER_INCH = 1440, 100
SCALE = 1.35
"""Pixels per CSS pixel of a chart's declared height."""
ROW_PIXELS, LEGEND_PIXELS, HEAD_PIXELS = 70, 22, 60
"""Heights for the titles and x axis of a row, for a line of its legend, and for the title of the figure."""
NAME_PIXELS = 17
"""Height of a name at an axis with categories."""
INK, MUTED, GRID, MARK_INK, NO_DATA = "#1b2430", "#5d6b7a", "#e4e8ee", "#9a5b00", "#edf0f4"
DASHES = {"solid": "-", "dash": "--", "dashdot": "-."}
MANY_POINTS = 3_000
"""From this number on, points are an image in an SVG file too."""
LONGEST_NAME, MOST_COLUMNS, LETTERS = 60, 6, 170
"""Characters of a legend entry, entries of a line, and characters that fit on a line of full width."""
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9,
    "text.parse_math": False,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": "#c4ccd6",
    "axes.titlecolor": INK,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "legend.labelcolor": MUTED,
    "path.simplify": True,
    "svg.fonttype": "none",
    "svg.hashsalt": "psap.perf",
}
_CLIP = re.compile(rb'<clipPath id="(\w+)"')
_CLIP_NAME = re.compile(rb'(<clipPath id="|clip-path="url\(#)(\w+)')


def image(figure: Figure, form: Format) -> bytes:
    """Return the content of a PNG or SVG file, WIDTH pixels wide; equal figures have equal bytes."""
    import matplotlib
    from matplotlib.figure import Figure as Picture

    heights = [_row_pixels(row) for row in figure.rows]
    content = io.BytesIO()
    with matplotlib.rc_context(STYLE), warnings.catch_warnings():
        # boxes replace letters that the font does not have
        warnings.filterwarnings("ignore", "Glyph .* missing")
        size = (WIDTH / DOTS_PER_INCH, (HEAD_PIXELS + sum(heights)) / DOTS_PER_INCH)
        picture = Picture(figsize=size, dpi=DOTS_PER_INCH, layout="constrained")
        _title(picture, figure)
        if figure.rows:
            parts = picture.subfigures(len(figure.rows), 1, height_ratios=heights, squeeze=False)
            for part, row in zip(parts[:, 0], figure.rows, strict=True):
                _row(part, row)
        picture.savefig(content, format=form, metadata={"Date": None} if form == "svg" else {"Software": None})
    return _with_numbered_clips(content.getvalue()) if form == "svg" else content.getvalue()


def _with_numbered_clips(svg: bytes) -> bytes:
    """Name clip paths by their order: matplotlib names them by a hash of their bounds, whose last digits depend on the
    memory layout of its solver.
    """
    numbers = {name: b"clip%d" % number for number, name in enumerate(_CLIP.findall(svg))}
    return _CLIP_NAME.sub(lambda match: match[1] + numbers[match[2]], svg)


def _row_pixels(row: tuple[Chart, ...]) -> float:
    lines = max(_legend_lines(chart, len(row)) for chart in row)
    return SCALE * max(chart.height for chart in row) + ROW_PIXELS + LEGEND_PIXELS * lines


def _title(picture: Picture, figure: Figure) -> None:
    picture.suptitle(figure.title, x=0.01, ha="left", fontsize=14, fontweight="bold")
    if figure.marks:
        picture.supxlabel(" \u00b7 ".join(figure.marks), x=0.99, ha="right", fontsize=9, color=MARK_INK)


def _row(part: SubFigure, row: tuple[Chart, ...]) -> None:
    shares = [chart.share for chart in row]
    every = part.subplots(1, len(row), width_ratios=shares, squeeze=False)[0]
    for axes, chart in zip(every, row, strict=True):
        _chart(part, axes, chart, len(row))


def _chart(part: SubFigure, axes: Axes, chart: Chart, beside: int) -> None:
    axes.set_title(chart.title)
    x_ends, y_ends = ends_of(chart)
    for name, axis, ends in (("x", chart.x, x_ends), ("y", chart.y, y_ends)):
        axes.set(**{f"{name}label": axis.text, f"{name}scale": axis.scale, f"{name}lim": ends})
        _ticks(axes, name, axis, max(chart.height // NAME_PIXELS, 40) if name == "y" else 8)
    if not chart.y.labelled:
        axes.set_ylabel("")
        axes.tick_params(labelleft=False)
    handles = [LAYERS[layer.kind](axes, layer) for layer in chart.layers]
    axes.set(xlim=x_ends, ylim=y_ends)
    if chart.meaning is not None:
        part.colorbar(axes.images[-1], ax=axes, label=chart.meaning.text)
    lines = _legend_lines(chart, beside)
    if lines:
        named = [
            (handle, _short(layer.label))
            for handle, layer in zip(handles, chart.layers, strict=True)
            if layer.kind != "heat"
        ]
        columns = -(-len(named) // lines)
        # below the x axis with its label
        place: dict[str, Any] = {"bbox_to_anchor": (0, 0), "borderaxespad": 5.2, "ncols": columns}
        axes.legend([handle for handle, _ in named], [name for _, name in named], loc="upper left", **place)


def _legend_lines(chart: Chart, beside: int) -> int:
    """Return the lines of the legend of a chart that shares its row with others; a single layer needs no legend."""
    names = [_short(layer.label) for layer in chart.layers if layer.kind != "heat"]
    if len(names) < 2:
        return 0
    columns = min(MOST_COLUMNS, int(LETTERS / beside / (max(len(name) for name in names) + 6)))
    return int(-(-len(names) // max(columns, 1)))


def _short(label: str) -> str:
    # matplotlib leaves out labels that begin with _
    return textwrap.shorten(label, LONGEST_NAME, placeholder="\u2026").replace("_", "\u200a_", label.startswith("_"))


def _ticks(axes: Axes, name: str, axis: Axis, most: int) -> None:
    """Set the ticks of an axis; of categories, at most so many names."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    if axis.categories:
        every = -(-len(axis.categories) // most)
        places = range(0, len(axis.categories), every)
        axes.set(**{f"{name}ticks": list(places), f"{name}ticklabels": [axis.categories[place] for place in places]})
        return
    of = axes.xaxis if name == "x" else axes.yaxis
    if axis.whole:
        of.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    of.set_major_formatter(FuncFormatter(_number))


def _number(value: float, _: object) -> str:
    return f"{value:,.12g}".replace(",", "\u202f").replace("-", "\u2212")


def _points(axes: Axes, layer: Layer) -> Any:
    many = len(layer.x) >= MANY_POINTS
    size, alpha = (2.0, 0.3) if many else (4.5, 0.7)
    look: dict[str, Any] = {"markersize": size, "alpha": alpha, "markeredgewidth": 0, "rasterized": many}
    return axes.plot(layer.x, layer.y, "o", color=layer.light, **look)[0]


def _line(axes: Axes, layer: Layer) -> Any:
    look: dict[str, Any] = (
        {"drawstyle": "steps-post"} if layer.kind == "steps" else {"marker": "o" if layer.dots else ""}
    )
    return axes.plot(layer.x, layer.y, color=layer.light, linestyle=DASHES[layer.dash], linewidth=1.6, **look)[0]


def _filled(axes: Axes, layer: Layer) -> Any:
    low = np.zeros(len(layer.x)) if layer.low is None else layer.low
    step: Literal["post"] | None = "post" if layer.kind == "area" else None
    return axes.fill_between(layer.x, low, layer.y, step=step, color=layer.light, alpha=0.28, linewidth=0)


def _bars(axes: Axes, layer: Layer) -> Any:
    return axes.bar(layer.x, layer.y, 0.9 * layer.width, color=layer.light)


def _sidebars(axes: Axes, layer: Layer) -> Any:
    return axes.barh(layer.y, layer.x, 0.9 * layer.width, color=layer.light)


def _ranges(axes: Axes, layer: Layer) -> Any:
    if layer.low is not None and layer.high is not None:
        axes.hlines(layer.y, layer.low, layer.high, color=layer.light, alpha=0.5, linewidth=3.5)
    return axes.plot(layer.x, layer.y, "o", color=layer.light, markersize=6)[0]


def _heat(axes: Axes, layer: Layer) -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    assert layer.shades is not None  # noqa: S101 - a heat layer has shades
    meaning = layer.shades.meaning
    shades = LinearSegmentedColormap.from_list("shades", SHADES).with_extremes(bad=NO_DATA)
    edges = (layer.x[0], layer.x[-1], layer.y[-1], layer.y[0])
    look: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest", "extent": edges, "cmap": shades}
    axes.grid(visible=False)
    return axes.imshow(layer.shades.values, vmin=meaning.low, vmax=meaning.high, **look)


def _moments(axes: Axes, layer: Layer) -> Any:
    return axes.vlines(layer.x, 0, 1, color=layer.light, linewidth=1.2, alpha=0.8, transform=axes.get_xaxis_transform())


def _spans(axes: Axes, layer: Layer) -> Any:
    ends = layer.x if layer.high is None else layer.high
    pairs = list(zip(layer.x.tolist(), (ends - layer.x).tolist(), strict=True))
    look: dict[str, Any] = {"facecolors": layer.light, "alpha": 0.12, "transform": axes.get_xaxis_transform()}
    return axes.broken_barh(pairs, (0, 1), **look)


def _stretches(axes: Axes, layer: Layer) -> Any:
    ends = layer.x if layer.high is None else layer.high
    bars = axes.barh(layer.y, ends - layer.x, 0.9 * layer.width, left=layer.x, color=layer.light, edgecolor="white")
    for bar, name in zip(bars, layer.names, strict=False):
        middle = (bar.get_x(), bar.get_y() + bar.get_height() / 2)
        look: dict[str, Any] = {"fontsize": 7.5, "color": LIGHT_BACKGROUND, "va": "center", "in_layout": False}
        axes.annotate(name, middle, xytext=(4, 0), textcoords="offset points", **look).set_clip_path(bar)
    return bars


LAYERS: dict[str, Callable[[Axes, Layer], Any]] = {
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
