"""Draw figures as PNG files, for slides and documents: light background, titles, units, legends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, Meaning
from perfanalysis.drawing.panel import Panel, panel_of
from perfanalysis.drawing.pen import Pen
from perfanalysis.drawing.png_file import png_file
from perfanalysis.drawing.png_layers import DRAWERS, colour_of, dashes_of, shade_pixels
from perfanalysis.drawing.ticks import ticks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from perfanalysis.drawing.pen import Box

PenType = TypeVar("PenType", bound=Pen)
INK, MUTED, GRID, EDGE = "#1b2430", "#5d6b7a", "#e4e8ee", "#c4ccd6"
MARK_INK, MARK_BACK = "#9a5b00", "#fff3d6"
WIDTH = 1440
SCALE = 1.43
"""Pixels for a CSS pixel of a chart's declared height."""
HEAD, TITLES, FOOT, LAST_FOOT = 106, 34, 104, 74
"""Above the first row: the figure's title and its charts'; above others: their titles; below each, with the next row's
titles: its x axis."""
MARKS_LINE = 42
"""What the figure's marks take more, where they do not fit beside its title."""
LEFT, RIGHT, BETWEEN = 92, 26, 84
TITLE_LEFT = 28
MOST_NAMES = 440
"""Most room for the names of categories left of a panel."""
BAR, BAR_WIDTH = 120, 18
"""Room right of a panel for the bar that says what shades mean, and its width."""
TITLE_SIZE, CHART_SIZE, SIZE, SMALL = 15.0, 10.5, 9.5, 8.5
X_TICK, Y_TICK, NAME_TICK = 100, 56, 26
FEWEST_TICKS = 4
"""Pixels of an axis for a tick, and how many there are however small it is."""
LEGEND_TOP, LEGEND_LINE, KEY, LEGEND_GAP = 82, 24, 24, 22


def draw(figure: Figure) -> bytes:
    """The figure as a PNG file's content; the same figure gives the same bytes."""
    return png_file(pen.pixels() for pen in strips(figure, Pen))


def strips(figure: Figure, make: Callable[[int, int], PenType]) -> Iterator[PenType]:
    """Each row of charts as a picture of its own, with the titles above it; the first has the figure's title too.

    `make` gives a pen for a picture of so many pixels.
    """
    measure = Pen(1, 1)
    for place, row in enumerate(figure.rows):
        above = HEAD + _marks_line(measure, figure) if place == 0 else TITLES
        below = LAST_FOOT if place == len(figure.rows) - 1 else FOOT - TITLES
        boxes = _row_boxes(measure, row)
        lines = max(
            _legend_lines(measure, chart, right - left) for chart, (left, right) in zip(row, boxes, strict=True)
        )
        height = round(SCALE * max(chart.height for chart in row))
        pen = make(WIDTH, above + height + below + (LEGEND_LINE * lines + 8 if lines else 0))
        if place == 0:
            _head(pen, figure)
        for chart, (left, right) in zip(row, boxes, strict=True):
            _chart(pen, chart, (left, above, right, above + height))
        yield pen


def _head(pen: Pen, figure: Figure) -> None:
    pen.text(TITLE_LEFT, 40, figure.title, TITLE_SIZE, INK, bold=True)
    if figure.marks:
        line, text = _marks_line(pen, figure), _marks_text(figure)
        width = pen.text_width(text, SIZE)
        left = TITLE_LEFT + 10 if line else WIDTH - RIGHT - 10 - width
        pen.rectangle((left - 10, 18 + line, left + width + 10, 50 + line), MARK_BACK)
        pen.text(left, 40 + line, text, SIZE, MARK_INK)


def _marks_text(figure: Figure) -> str:
    return " \u00b7 ".join(figure.marks)


def _marks_line(measure: Pen, figure: Figure) -> int:
    """Pixels of a line for the figure's marks: 0 where there are none, or where they fit beside its title."""
    room = WIDTH - RIGHT - TITLE_LEFT - measure.text_width(figure.title, TITLE_SIZE, bold=True) - 3 * 10
    fits = not figure.marks or measure.text_width(_marks_text(figure), SIZE) <= room
    return 0 if fits else MARKS_LINE


def _row_boxes(measure: Pen, row: tuple[Chart, ...]) -> list[tuple[float, float]]:
    """Left and right end of each panel of a row."""
    before = [max(LEFT if place == 0 else BETWEEN, _names_width(measure, chart.y)) for place, chart in enumerate(row)]
    after = [BAR if chart.meaning is not None else 0 for chart in row]
    room = WIDTH - RIGHT - sum(before) - sum(after)
    shares = sum(chart.share for chart in row)
    boxes, left = [], 0.0
    for chart, space, bar in zip(row, before, after, strict=True):
        left += space
        right = left + room * chart.share / shares
        boxes.append((round(left), round(right)))
        left = right + bar
    return [(float(first), float(last)) for first, last in boxes]


def _names_width(measure: Pen, axis: Axis) -> float:
    """Room that the names of an axis take; none where it has no names."""
    return min(MOST_NAMES, 34 + max((measure.text_width(name, SIZE) for name in axis.categories), default=-34.0))


def _chart(pen: Pen, chart: Chart, box: Box) -> None:
    panel = panel_of(chart, box)
    _axis_x(pen, chart.x, panel)
    _axis_y(pen, chart.y, panel)
    left, top, right, bottom = box
    # half a dot of what stands on an axis is not cut off
    pen.within((left - 4, top - 4, right + 4, bottom + 4))
    for layer in chart.layers:
        DRAWERS[layer.kind](pen, panel, layer)
    pen.within(None)
    pen.segments(np.array([[left, top, left, bottom], [left, bottom, right, bottom]]), EDGE, 1.3)
    if chart.title:
        pen.text(left, top - 13, chart.title, CHART_SIZE, INK)
    _legend(pen, chart, panel)
    if chart.meaning is not None:
        _bar(pen, chart.meaning, (right + 26, top, right + 26 + BAR_WIDTH, bottom))


def _axis_x(pen: Pen, axis: Axis, panel: Panel) -> None:
    left, top, right, bottom = panel.box
    found = ticks(axis, *_sorted(panel.x_ends), max(int((right - left) / X_TICK), FEWEST_TICKS))
    at = panel.x(np.array([tick.at for tick in found]))
    pen.segments(np.column_stack([at, np.full(len(at), top), at, np.full(len(at), bottom)]), GRID, 1.3)
    for place, tick in zip(at.tolist(), found, strict=True):
        pen.text(place, bottom + 25, tick.text, SIZE, MUTED, align=0.5)
    pen.text((left + right) / 2, bottom + 52, axis.text, SIZE, MUTED, align=0.5)


def _axis_y(pen: Pen, axis: Axis, panel: Panel) -> None:
    left, top, right, bottom = panel.box
    most = max(int((bottom - top) / (NAME_TICK if axis.categories else Y_TICK)), FEWEST_TICKS)
    found = ticks(axis, *_sorted(panel.y_ends), most)
    at = panel.y(np.array([tick.at for tick in found]))
    pen.segments(np.column_stack([np.full(len(at), left), at, np.full(len(at), right), at]), GRID, 1.3)
    if not axis.labelled:
        return
    for place, tick in zip(at.tolist(), found, strict=True):
        pen.text(left - 9, place + 5, tick.text, SIZE, MUTED, align=1.0)
    if axis.text:
        widest = max((pen.text_width(tick.text, SIZE) for tick in found), default=0.0)
        pen.text_upwards(max(left - 22 - widest, 18), (top + bottom) / 2, axis.text, SIZE, MUTED)


def _sorted(ends: tuple[float, float]) -> tuple[float, float]:
    return min(ends), max(ends)


def _bar(pen: Pen, meaning: Meaning, box: Box) -> None:
    """What the shades mean, as a bar beside the panel."""
    left, top, right, bottom = box
    ramp = np.repeat(np.linspace(1, 0, int(bottom - top))[:, None], int(right - left), axis=1)
    pen.image(shade_pixels(ramp), left, top)
    for tick in ticks(Axis(""), meaning.low, meaning.high, 5):
        part = (tick.at - meaning.low) / ((meaning.high - meaning.low) or 1.0)
        pen.text(right + 7, bottom - part * (bottom - top) + 5, tick.text, SIZE, MUTED)
    pen.text_upwards(right + 62, (top + bottom) / 2, meaning.text, SIZE, MUTED)


@dataclass(frozen=True)
class _Entry:
    """A name in a legend: its place, and in which line it stands."""

    layer: Layer
    left: float
    line: int


def _entries(pen: Pen, chart: Chart, room: float) -> tuple[list[_Entry], float]:
    """The named layers in lines no longer than the room, and the length of the first line."""
    named = [layer for layer in chart.layers if layer.kind != "heat"]
    entries: list[_Entry] = []
    left, line, longest = 0.0, 0, 0.0
    for layer in named if len(chart.layers) > 1 else []:
        width = KEY + pen.text_width(layer.label, SMALL)
        if left and left + width > room:
            left, line = 0.0, line + 1
        entries.append(_Entry(layer, left, line))
        longest = max(longest, left + width)
        left += width + LEGEND_GAP
    return entries, longest


def _beside_title(pen: Pen, chart: Chart, room: float) -> float | None:
    """Where the legend begins on the line of the title, from the left of the panel; None where there is no room."""
    entries, length = _entries(pen, chart, room)
    taken = pen.text_width(chart.title, CHART_SIZE) + LEGEND_GAP if chart.title else 0.0
    fits = entries and entries[-1].line == 0 and taken + length <= room
    return room - length if fits else None


def _legend_lines(pen: Pen, chart: Chart, room: float) -> int:
    """Lines that the legend takes below the x axis."""
    entries, _ = _entries(pen, chart, room)
    return entries[-1].line + 1 if entries and _beside_title(pen, chart, room) is None else 0


def _legend(pen: Pen, chart: Chart, panel: Panel) -> None:
    left, top, right, bottom = panel.box
    entries, _ = _entries(pen, chart, right - left)
    beside = _beside_title(pen, chart, right - left)
    for entry in entries:
        x = left + entry.left + (beside or 0.0)
        y = top - 13 if beside is not None else bottom + LEGEND_TOP + LEGEND_LINE * entry.line
        _key(pen, entry.layer, x, y - 6)
        pen.text(x + KEY, y, entry.layer.label, SMALL, MUTED)


def _key(pen: Pen, layer: Layer, x: float, y: float) -> None:
    """What a layer looks like, in a legend; y is the middle."""
    colour, end = colour_of(layer), x + KEY - 7
    if layer.kind == "moments":
        pen.rectangle((x + 7, y - 8, x + 10, y + 8), colour)
    elif layer.kind == "spans":
        pen.rectangle((x, y - 7, end, y + 7), colour, 0.25)
    elif dashes_of(layer):
        middle = (x + end) / 2 if layer.dashed else end - 7
        pen.rectangle((x, y - 2.5, middle - 2, y + 2.5), colour)
        pen.rectangle((middle + 2, y - 2.5, end, y + 2.5), colour)
    else:
        pen.rectangle((x, y - 2.5, end, y + 2.5), colour)
