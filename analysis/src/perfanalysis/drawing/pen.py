"""Lines, texts and pixels on a picture, by matplotlib's renderer.

Its figures and axes are not used: they cost 30 ms for every pair of axes, whatever is drawn in them, and a report has
dozens. Places are in pixels from the upper left corner.
"""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.colors import to_rgb
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.transforms import Affine2D, Bbox

if TYPE_CHECKING:
    from matplotlib.backend_bases import GraphicsContextBase
    from numpy.typing import NDArray

DOTS_PER_INCH = 120
POINTS_PER_PIXEL = 72 / DOTS_PER_INCH
MARGIN = 3
"""Around a text's pixels, for what its letters reach beyond their box."""
DISC = Path.unit_circle()
Dashes = tuple[float, ...]
Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


@cache
def _font(size: float, *, bold: bool) -> FontProperties:
    return FontProperties(family="DejaVu Sans", size=size, weight="bold" if bold else "normal")


@cache
def _size(text: str, size: float, *, bold: bool) -> tuple[float, float, float]:
    """Width, height, and depth below the baseline."""
    found: tuple[float, float, float] = _renderer(1, 1).get_text_width_height_descent(
        text, _font(size, bold=bold), False
    )
    return found


def _width(text: str, size: float, *, bold: bool) -> float:
    return _size(text, size, bold=bold)[0]


@cache
def _written(text: str, size: float, colour: str, *, bold: bool) -> tuple[NDArray[np.uint8], int]:
    """A text's pixels, and how many of their rows are above its baseline. Charts say the same words again and again."""
    width, height, depth = _size(text, size, bold=bold)
    above = round(height - depth) + MARGIN
    renderer = _renderer(math.ceil(width) + 2 * MARGIN, above + math.ceil(depth) + MARGIN)
    style = renderer.new_gc()
    style.set_foreground(colour)
    renderer.draw_text(style, MARGIN, above, text, _font(size, bold=bold), 0.0)
    return np.array(renderer.buffer_rgba()), above


def _renderer(width: int, height: int) -> Any:
    make: Any = RendererAgg
    return make(width, height, DOTS_PER_INCH)


class Pen:
    """A white picture of a given size in pixels, and what draws on it."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._renderer = _renderer(width, height)
        self._upright = Affine2D().scale(1, -1).translate(0, height)
        self._clip: Box | None = None
        self.rectangle((0, 0, width, height), "white")

    def within(self, box: Box | None) -> None:
        """What is drawn from now on is cut off at the box; None for the whole picture."""
        self._clip = box

    def _style(self, colour: str, alpha: float = 1.0, width: float = 0.0) -> GraphicsContextBase:
        style: GraphicsContextBase = self._renderer.new_gc()
        style.set_alpha(alpha)
        style.set_foreground((*to_rgb(colour), alpha), isRGBA=True)
        style.set_linewidth(width * POINTS_PER_PIXEL)
        style.set_joinstyle("round")
        if self._clip is not None:
            left, top, right, bottom = self._clip
            style.set_clip_rectangle(Bbox.from_extents(left, self.height - bottom, right, self.height - top))
        return style

    def text_width(self, text: str, size: float, *, bold: bool = False) -> float:
        """Pixels that a text takes."""
        return _width(text, size, bold=bold)

    def text(
        self, x: float, y: float, text: str, size: float, colour: str, *, align: float = 0.0, bold: bool = False
    ) -> None:
        """A text with its baseline at y; `align` is the part of its width that stands left of x. Size in points."""
        if text:
            left = x - align * _width(text, size, bold=bold)
            pixels, above = _written(text, size, colour, bold=bold)
            self.image(pixels, round(left) - MARGIN, round(y) - above)

    def text_upwards(self, x: float, y: float, text: str, size: float, colour: str) -> None:
        """A text that reads upwards, its baseline at x and its middle at y."""
        below = y + _width(text, size, bold=False) / 2
        self._renderer.draw_text(self._style(colour), x, below, text, _font(size, bold=False), 90.0)

    def line(
        self,
        x: NDArray[np.float64],
        y: NDArray[np.float64],
        colour: str,
        width: float,
        *,
        alpha: float = 1.0,
        dashes: Dashes = (),
    ) -> None:
        """A line through places; it is broken where one is NaN. `dashes` are lengths drawn and left out, in points."""
        style = self._style(colour, alpha, width)
        if dashes:
            style.set_dashes(0, list(dashes))
        self._renderer.draw_path(style, Path(np.column_stack([x, y])), self._upright, None)

    def segments(self, ends: NDArray[np.float64], colour: str, width: float, alpha: float = 1.0) -> None:
        """Straight lines; `ends` is an array of (x, y, x, y)."""
        if len(ends):
            codes = np.tile(np.array([Path.MOVETO, Path.LINETO], dtype=Path.code_type), len(ends))
            path = Path(np.asarray(ends, dtype=float).reshape(-1, 2), codes)
            self._renderer.draw_path(self._style(colour, alpha, width), path, self._upright, None)

    def polygons(self, corners: NDArray[np.float64], colour: str, alpha: float = 1.0) -> None:
        """Filled areas of equally many corners: an array of areas × corners × 2."""  # noqa: RUF002
        if len(corners):
            path = Path.make_compound_path_from_polys(np.asarray(corners, dtype=float))
            self._renderer.draw_path(self._style(colour, alpha), path, self._upright, (*to_rgb(colour), alpha))

    def rectangle(self, box: Box, colour: str, alpha: float = 1.0) -> None:
        """A filled rectangle."""
        left, top, right, bottom = box
        self.polygons(np.array([[[left, top], [right, top], [right, bottom], [left, bottom]]]), colour, alpha)

    def dots(self, x: NDArray[np.float64], y: NDArray[np.float64], radius: float, colour: str, alpha: float) -> None:
        """A disc at each place."""
        known = np.isfinite(x) & np.isfinite(y)
        path = Path(np.column_stack([x[known], y[known]]))
        size = Affine2D().scale(radius)
        face = (*to_rgb(colour), alpha)
        self._renderer.draw_markers(self._style(colour, alpha), DISC, size, path, self._upright, face)

    def image(self, pixels: NDArray[np.uint8], left: float, top: float) -> None:
        """Pixels of red, green, blue and opacity, the first row at the top."""
        below = self.height - round(top) - len(pixels)
        self._renderer.draw_image(self._style("white"), round(left), below, np.ascontiguousarray(pixels[::-1]))

    def pixels(self) -> NDArray[np.uint8]:
        """Red, green and blue of the picture, row by row."""
        return np.asarray(self._renderer.buffer_rgba())[..., :3]
