"""A chart as data, and the colours of its layers. A plot is a function that returns a Figure, for both renderers.

The colours of layers, by index, on the light and the dark background.

Any two of the first SOLID differ by a CIE76 distance of at least 20, for readers with full colour vision and for
readers with protanopia, deuteranopia or tritanopia, as simulated by Machado, Oliveira and Fernandes (2009) at full
severity. Every colour has a contrast of at least 3 : 1 to its background, as WCAG 2.2 requires for graphics. Lines in
further colours are dashed, so that no reader depends on colour alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

LIGHT = (
    "#2f3ff0", "#df7400", "#14a08a", "#a05ad8", "#103a5c", "#8a0f2a", "#93935f",
    "#c2539f", "#5b6b7d", "#a8632c", "#3f52a8", "#2f8f46", "#8c3f3f",
)  # fmt: skip
DARK = (
    "#7aa1ff", "#e18718", "#34e1ad", "#7e59f6", "#c6e5ff", "#d9455f", "#efe07a",
    "#e582c4", "#93a4b8", "#d1905c", "#7f90ea", "#63c47a", "#cc7b7b",
)  # fmt: skip
SOLID = 7
LIGHT_BACKGROUND, DARK_BACKGROUND = "#ffffff", "#171e28"


Scale = Literal["linear", "log"]
LayerKind = Literal[
    "points", "line", "steps", "area", "band", "bars", "sidebars", "ranges", "heat", "moments", "spans", "stretches"
]  # fmt: skip
MOST_LINE_POINTS = 600
FEWEST_BARS, MOST_BARS = 8, 40
SHADES = (
    "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725",
)  # fmt: skip
"""Viridis, from low to high: its lightness rises evenly, so that the order is visible without distinguishing hues."""


@dataclass(frozen=True)
class Axis:
    """An axis; `unit` follows the label. `categories` name the positions 0, 1, 2 … from top to bottom."""

    label: str
    unit: str = ""
    scale: Scale = "linear"
    low: float | None = None
    high: float | None = None
    categories: tuple[str, ...] = ()
    whole: bool = False
    """For counts: no ticks between whole numbers."""
    labelled: bool = True
    """False if the chart to the left has the same axis; stacked charts show it nevertheless."""

    @property
    def text(self) -> str:
        """Return label and unit as one text."""
        return f"{self.label} ({self.unit})" if self.label and self.unit else self.label or self.unit


@dataclass(frozen=True)
class Meaning:
    """The meaning of shades: from `low`, the darkest, to `high`."""

    label: str
    unit: str
    low: float
    high: float

    @property
    def text(self) -> str:
        """Return label and unit as one text."""
        return f"{self.label} ({self.unit})"


@dataclass(frozen=True)
class Shades:
    """Values[row, column] of a heat layer; NaN if missing."""

    values: NDArray[np.float64]
    meaning: Meaning


@dataclass(frozen=True)
class Layer:
    """One series of a chart.

    points, line, steps: y over x. area: between `low` and y over x, as steps; band: the same with straight lines. bars:
    height y at x, `width` wide. sidebars: length x at y, `width` high. ranges: from `low` to `high` on the x axis at
    position y, with a dot at x; NaN if unknown. heat: `shades` between the edges x and the edges y, both evenly spaced.
    moments: vertical lines at x. spans: shaded from x to `high` on the x axis, over the whole height. stretches: from x
    to `high` on the x axis at position y, `width` high, each with one of `names`. `colour` is an index of the palette.
    """

    kind: LayerKind
    label: str
    x: NDArray[np.float64]
    y: NDArray[np.float64]
    colour: int = 0
    low: NDArray[np.float64] | None = None
    high: NDArray[np.float64] | None = None
    width: float = 1.0
    dashed: bool = False
    dots: bool = False
    """Whether points of the line are marked: it has few values, each meaningful by itself."""
    shades: Shades | None = None
    names: tuple[str, ...] = ()

    @property
    def light(self) -> str:
        """Return its colour on the light background."""
        return LIGHT[self.colour % len(LIGHT)]

    @property
    def dash(self) -> Literal["solid", "dash", "dashdot"]:
        """Return the style of its line: as declared, else dashed if there are too many colours to distinguish."""
        further = self.kind in ("line", "steps") and self.colour % len(LIGHT) >= SOLID
        return "dash" if self.dashed else "dashdot" if further else "solid"


@dataclass(frozen=True)
class Chart:
    """A pair of axes with layers. `share` is its part of the row's width."""

    title: str
    x: Axis
    y: Axis
    layers: tuple[Layer, ...]
    share: float = 1.0
    height: int = 260
    """In CSS pixels."""

    @property
    def meaning(self) -> Meaning | None:
        """The meaning of the shades, if the chart has any."""
        return next((layer.shades.meaning for layer in self.layers if layer.shades is not None), None)


NOT_REAL = ("simulated:", "emulated:")
"""The beginning of marks that list simulated parts."""


@dataclass(frozen=True)
class Figure:
    """Rows of related charts: one PNG file and one card of the report."""

    name: str
    title: str
    caption: str
    rows: tuple[tuple[Chart, ...], ...]
    marks: tuple[str, ...] = field(default=())

    @property
    def short_marks(self) -> tuple[str, ...]:
        """Return the marks on the figure itself: one word for simulated parts, which the page's head lists.

        The recordings that a mark names after the parts, in brackets, follow that word.
        """
        not_real = [mark for mark in self.marks if mark.startswith(NOT_REAL)]
        words = ("".join((mark.partition(":")[0], *mark.partition(" (")[1:])) for mark in not_real)
        return (*dict.fromkeys(words), *(mark for mark in self.marks if mark not in not_real))


def in_rows(charts: Sequence[Chart], count: int = 2) -> tuple[tuple[Chart, ...], ...]:
    """Charts side by side, at most so many in a row."""
    return tuple(tuple(charts[first : first + count]) for first in range(0, len(charts), count))


def moments(times: NDArray[np.float64], label: str, colour: int) -> Layer:
    """Return vertical lines at times."""
    return Layer("moments", label, times, np.zeros(len(times)), colour)


def span(begin: float, end: float, label: str, colour: int) -> Layer:
    """Return one shaded part of the x axis."""
    return Layer("spans", label, np.array([begin]), np.zeros(1), colour, high=np.array([end]))


def heat(x_edges: NDArray[np.float64], shades: Shades) -> Layer:
    """Return shades whose rows are the categories of the y axis, from top to bottom."""
    y_edges = np.arange(len(shades.values) + 1, dtype=float) - 0.5
    return Layer("heat", shades.meaning.label, x_edges, y_edges, shades=shades)


def seconds_scale(*values: NDArray[np.float64]) -> tuple[float, str]:
    """Return factor and unit for durations in seconds: milliseconds if none exceeds one second."""
    largest = max((float(np.nanmax(np.abs(part))) for part in values if np.isfinite(part).any()), default=0.0)
    if largest >= 1.0 or largest == 0.0:
        return 1.0, "s"
    return 1000.0, "ms"


def histogram(values: NDArray[np.float64], label: str, colour: int) -> Layer:
    """Return the distribution of finite values as bars next to a time series that shares the y axis."""
    finite = values[np.isfinite(values)]
    parts = int(np.clip(2 * np.sqrt(len(finite)), FEWEST_BARS, MOST_BARS))
    counts, edges = np.histogram(finite, bins=parts) if len(finite) else (np.zeros(1), np.array([0.0, 1.0]))
    middles = (edges[:-1] + edges[1:]) / 2
    return Layer("sidebars", label, counts.astype(float), middles, colour, width=float(edges[1] - edges[0]))


def cumulative(values: NDArray[np.float64], label: str, colour: int) -> Layer:
    """Return the share of finite values up to each value, in percent, reduced to MOST_LINE_POINTS actual values."""
    ordered = np.sort(values[np.isfinite(values)])
    places = np.unique(np.linspace(0, max(len(ordered) - 1, 0), MOST_LINE_POINTS).astype(int))
    if not len(ordered):
        return Layer("steps", label, ordered, ordered, colour)
    return Layer("steps", label, ordered[places], 100.0 * (places + 1) / len(ordered), colour)
