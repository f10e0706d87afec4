"""What is drawn stands where it belongs: pixels of small pictures."""

from __future__ import annotations

import io

import numpy as np
import pytest
from numpy.typing import NDArray
from perfanalysis.drawing.charts import SHADES, Axis, Chart, Layer, Meaning, Shades, heat, moments, span
from perfanalysis.drawing.panel import panel_of
from perfanalysis.drawing.pen import Pen
from perfanalysis.drawing.png_file import png_file
from perfanalysis.drawing.png_layers import DRAWERS, MANY_POINTS, PALETTE, shade_pixels
from PIL import Image

BOX = (20.0, 10.0, 120.0, 60.0)
AXES = Axis("x", low=0.0, high=10.0), Axis("y", low=0.0, high=5.0)
WHITE = (255, 255, 255)


def drawn(layer: Layer, x: Axis = AXES[0], y: Axis = AXES[1]) -> NDArray[np.uint8]:
    """The pixels of one layer; a unit is 10 pixels on either axis, 0 | 0 is at 20 | 60."""
    pen = Pen(140, 80)
    DRAWERS[layer.kind](pen, panel_of(Chart("", x, y, (layer,)), BOX), layer)
    return pixels_of(pen)


def pixels_of(pen: Pen) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(png_file([pen.pixels()]))))


def of(colour: str) -> tuple[int, ...]:
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))


def seen(pixels: NDArray[np.uint8], x: int, y: int) -> tuple[int, ...]:
    return tuple(int(part) for part in pixels[y, x])


def test_bars_stand_on_zero() -> None:
    pixels = drawn(Layer("bars", "", np.array([5.0]), np.array([3.0]), width=2.0))
    assert seen(pixels, 70, 58) == seen(pixels, 70, 32) == of(PALETTE[0])
    assert seen(pixels, 70, 28) == seen(pixels, 82, 50) == WHITE


def test_sidebars_begin_at_the_left() -> None:
    pixels = drawn(Layer("sidebars", "", np.array([4.0]), np.array([2.0])))
    assert seen(pixels, 22, 40) != WHITE
    assert seen(pixels, 58, 40) != WHITE
    assert seen(pixels, 64, 40) == seen(pixels, 30, 50) == WHITE


def test_steps_hold_until_the_next() -> None:
    pixels = drawn(Layer("steps", "", np.array([0.0, 4.0, 8.0]), np.array([1.0, 4.0, 4.0])))
    assert seen(pixels, 40, 50) == of(PALETTE[0])
    assert seen(pixels, 40, 35) == WHITE
    assert seen(pixels, 60, 35) != WHITE
    assert seen(pixels, 80, 20) == of(PALETTE[0])


@pytest.mark.parametrize("count", [1, MANY_POINTS])
def test_points_are_at_their_place(count: int) -> None:
    """However many there are: a few are discs, many are an image."""
    x, y = np.full(count, 3.0), np.full(count, 2.0)
    x[-1], y[-1] = 9.0, 4.5
    pixels = drawn(Layer("points", "", x, y))
    coloured = np.argwhere((pixels != 255).any(axis=2))
    near = np.abs(coloured - [15, 110]).max(axis=1) <= 4
    assert near.any()
    others = np.abs(coloured - [40, 50]).max(axis=1) <= 4
    assert (near | others).all()
    assert others.any() == (count > 1)


def test_lines_are_broken_where_nothing_is_known() -> None:
    pixels = drawn(Layer("line", "", np.array([0.0, 2.0, 4.0, 6.0, 8.0]), np.array([2.0, 2.0, np.nan, 2.0, 2.0])))
    assert seen(pixels, 30, 40) == seen(pixels, 90, 40) == of(PALETTE[0])
    assert seen(pixels, 60, 40) == WHITE


def test_shades_fill_their_cells() -> None:
    values = np.array([[0.0, 100.0], [np.nan, 50.0]])
    layer = heat(np.array([0.0, 5.0, 10.0]), Shades(values, Meaning("GPUs", "%", 0.0, 100.0)))
    pixels = drawn(layer, y=Axis("", categories=("first", "second")))
    assert seen(pixels, 30, 20) == of(SHADES[0])
    assert seen(pixels, 110, 20) == of(SHADES[-1])
    assert seen(pixels, 110, 50) == pytest.approx(of(SHADES[4]), abs=3)
    assert seen(pixels, 30, 50) == (0xED, 0xF0, 0xF4)


def test_shades_are_ordered_by_lightness() -> None:
    """So that those who cannot tell the hues apart see the same order."""
    lightness = shade_pixels(np.linspace(0, 1, 50))[:, :3].astype(float) @ [0.2126, 0.7152, 0.0722]
    assert (np.diff(lightness) > 0).all()


def test_spans_and_moments_reach_over_the_height() -> None:
    pixels = drawn(span(2.0, 4.0, "", 0))
    assert seen(pixels, 50, 12) == seen(pixels, 50, 58) != WHITE
    assert seen(pixels, 65, 30) == WHITE
    pixels = drawn(moments(np.array([6.0]), "", 0))
    assert seen(pixels, 80, 12) != WHITE
    assert seen(pixels, 80, 58) != WHITE
    assert seen(pixels, 84, 30) == WHITE


def test_what_lies_outside_is_cut_off() -> None:
    pen = Pen(40, 40)
    pen.within((10, 10, 20, 20))
    pen.rectangle((0, 0, 40, 40), "#ff0000")
    pixels = pixels_of(pen)
    assert seen(pixels, 15, 15) == (255, 0, 0)
    assert seen(pixels, 25, 15) == seen(pixels, 15, 5) == WHITE


def test_texts_stand_where_they_are_aligned() -> None:
    def columns(align: float) -> tuple[int, int]:
        pen = Pen(200, 40)
        pen.text(100, 25, "Text", 12.0, "#000000", align=align)
        inked = np.flatnonzero((pixels_of(pen) != 255).any(axis=(0, 2)))
        return int(inked[0]), int(inked[-1])

    width = Pen(1, 1).text_width("Text", 12.0)
    assert columns(0.0)[0] == pytest.approx(100, abs=2)
    assert columns(1.0)[1] == pytest.approx(100, abs=2)
    assert columns(0.5)[0] == pytest.approx(100 - width / 2, abs=2)


@pytest.mark.parametrize(("parts", "mode"), [(3, "RGB"), (4, "RGBA")])
def test_strips_become_one_picture(parts: int, mode: str) -> None:
    pixels = np.random.default_rng(3).integers(0, 256, (70, 30, parts)).astype(np.uint8)
    whole = Image.open(io.BytesIO(png_file([pixels])))
    whole.verify()
    assert (whole.mode, whole.size) == (mode, (30, 70))
    whole = Image.open(io.BytesIO(png_file([pixels])))
    assert (np.asarray(whole) == pixels).all()
    assert (np.asarray(Image.open(io.BytesIO(png_file([pixels[:20], pixels[20:21], pixels[21:]])))) == pixels).all()
