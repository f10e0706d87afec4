"""Draw figures as SVG files: the same picture as the PNG file, of lines and texts, sharp at any size.

Many points are an image within it, as in the PNG file: a hundred thousand discs would be a file of megabytes.

The elements are written here and not by matplotlib's RendererSVG, which makes the same line twice and the same points
eight times as long (2,000 of them: 206 kB, here 27 kB), and of each strip a document with ids of its own.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape

import numpy as np

from perfanalysis.drawing.charts import Figure
from perfanalysis.drawing.pen import DOTS_PER_INCH, Pen
from perfanalysis.drawing.png import WIDTH, strips
from perfanalysis.drawing.png_file import png_file

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from perfanalysis.drawing.pen import Box, Dashes

FONT = "DejaVu Sans, Verdana, sans-serif"
DIGITS = 1
"""Decimals of a place: a tenth of a pixel of the PNG file."""


def draw_svg(figure: Figure) -> bytes:
    """The figure as an SVG file's content; the same figure gives the same bytes."""
    parts, top = [], 0
    for pen in strips(figure, SvgPen):
        parts.append(f'<g transform="translate(0 {top})">{pen.content()}</g>')
        top += pen.height
    title = escape(" \u00b7 ".join((figure.title, *figure.marks)))
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top}" width="{WIDTH}" height="{top}"'
    font = f'font-family="{FONT}" role="img"'
    return f"{head} {font}><title>{title}</title>{''.join(parts)}</svg>\n".encode()


class SvgPen(Pen):
    """Writes elements where a Pen makes pixels."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._elements: list[str] = []
        self._open = False
        self.rectangle((0, 0, width, height), "white")

    def content(self) -> str:
        """The elements drawn so far."""
        self.within(None)
        return "".join(self._elements)

    def within(self, box: Box | None) -> None:
        """What is drawn from now on is cut off at the box; None for the whole picture."""
        if self._open:
            self._elements.append("</svg>")
            self._open = False
        if box is not None:
            left, top, width, height = map(_short, (box[0], box[1], box[2] - box[0], box[3] - box[1]))
            place = f'x="{left}" y="{top}" width="{width}" height="{height}"'
            self._elements.append(f'<svg {place} viewBox="{left} {top} {width} {height}" overflow="hidden">')
            self._open = True

    def text(
        self, x: float, y: float, text: str, size: float, colour: str, *, align: float = 0.0, bold: bool = False
    ) -> None:
        """A text with its baseline at y."""
        if text:
            anchor = {0.5: ' text-anchor="middle"', 1.0: ' text-anchor="end"'}.get(align, "")
            weight = ' font-weight="bold"' if bold else ""
            place = f'x="{_short(x)}" y="{_short(y)}" font-size="{_pixels(size)}" fill="{colour}"'
            self._elements.append(f"<text {place}{anchor}{weight}>{escape(text)}</text>")

    def text_upwards(self, x: float, y: float, text: str, size: float, colour: str) -> None:
        """A text that reads upwards, its baseline at x and its middle at y."""
        if text:
            turned = f'transform="translate({_short(x)} {_short(y)}) rotate(-90)"'
            style = f'font-size="{_pixels(size)}" fill="{colour}" text-anchor="middle"'
            self._elements.append(f"<text {turned} {style}>{escape(text)}</text>")

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
        """A line through places; it is broken where one is NaN."""
        known = np.isfinite(x) & np.isfinite(y)
        breaks = np.flatnonzero(~known)
        parts = (part[np.isfinite(part).all(axis=1)] for part in np.split(np.column_stack([x, y]), breaks))
        path = "".join(f"M{_places(part)}" for part in parts if len(part))
        lengths = " ".join(_pixels(length) for length in dashes)
        dashed = f' stroke-dasharray="{lengths}"' if dashes else ""
        stroke = _stroke(colour, width, alpha)
        self._elements.append(f'<path d="{path}" fill="none" stroke-linejoin="round" {stroke}{dashed}/>')

    def segments(self, ends: NDArray[np.float64], colour: str, width: float, alpha: float = 1.0) -> None:
        """Straight lines; `ends` is an array of (x, y, x, y)."""
        pairs = np.asarray(ends, dtype=float).reshape(-1, 2, 2)
        path = "".join(f"M{_places(pair)}" for pair in pairs if np.isfinite(pair).all())
        if path:
            self._elements.append(f'<path d="{path}" fill="none" {_stroke(colour, width, alpha)}/>')

    def polygons(self, corners: NDArray[np.float64], colour: str, alpha: float = 1.0) -> None:
        """Filled areas of equally many corners: an array of areas by corners by 2."""
        path = "".join(f"M{_places(area)}Z" for area in np.asarray(corners, dtype=float))
        if path:
            self._elements.append(f'<path d="{path}" {_fill(colour, alpha)}/>')

    def dots(self, x: NDArray[np.float64], y: NDArray[np.float64], radius: float, colour: str, alpha: float) -> None:
        """A disc at each place: a line of no length with round ends, which is shorter than a circle."""
        known = np.isfinite(x) & np.isfinite(y)
        path = "".join(f"M{_short(left)} {_short(top)}h0" for left, top in zip(x[known], y[known], strict=True))
        if path:
            stroke = _stroke(colour, 2 * radius, alpha)
            self._elements.append(f'<path d="{path}" fill="none" stroke-linecap="round" {stroke}/>')

    def image(self, pixels: NDArray[np.uint8], left: float, top: float) -> None:
        """Pixels of red, green, blue and opacity, the first row at the top."""
        data = base64.b64encode(png_file([pixels])).decode()
        size = f'width="{pixels.shape[1]}" height="{pixels.shape[0]}" image-rendering="pixelated"'
        self._elements.append(f'<image x="{round(left)}" y="{round(top)}" {size} href="data:image/png;base64,{data}"/>')


def _short(value: float) -> str:
    return f"{float(value):.{DIGITS}f}".removesuffix(".0")


def _pixels(points: float) -> str:
    return _short(points * DOTS_PER_INCH / 72)


def _places(part: NDArray[np.float64]) -> str:
    return "L".join(f"{_short(left)} {_short(top)}" for left, top in part)


def _stroke(colour: str, width: float, alpha: float) -> str:
    return f'stroke="{colour}" stroke-width="{_short(width)}"' + (f' stroke-opacity="{alpha:g}"' if alpha < 1 else "")


def _fill(colour: str, alpha: float) -> str:
    return f'fill="{colour}"' + (f' fill-opacity="{alpha:g}"' if alpha < 1 else "")
