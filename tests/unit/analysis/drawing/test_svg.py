"""Figures as SVG files: well formed, the same texts as the PNG file, nothing loaded, the same bytes again."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, LayerKind, Meaning, Shades, heat
from perfanalysis.drawing.png import WIDTH
from perfanalysis.drawing.png_layers import DRAWERS, MANY_POINTS
from perfanalysis.drawing.svg import draw_svg
from perfanalysis.reports.writing import Wanted, make_report

SVG = "{http://www.w3.org/2000/svg}"
AXIS = Axis("time & place", "s", low=0.0, high=4.0)


def figure_of(*layers: Layer, marks: tuple[str, ...] = ()) -> Figure:
    return Figure("f", "A <figure>", "", ((Chart("its chart", AXIS, AXIS, layers),),), marks)


def texts(content: bytes) -> list[str]:
    return [element.text or "" for element in ElementTree.fromstring(content).iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", sorted(set(DRAWERS) - {"heat"}))
def test_every_kind_of_layer_is_drawn(kind: LayerKind) -> None:
    values = np.array([1.0, 2.0, np.nan])
    names = ("a", "b", "c") if kind == "stretches" else ()
    layer = Layer(kind, "values", values, values, low=values - 0.5, high=values + 0.5, names=names)
    content = draw_svg(figure_of(layer))
    assert content != draw_svg(figure_of())
    assert content == draw_svg(figure_of(layer))
    assert b"nan" not in content


def test_texts_and_marks_stand_in_it() -> None:
    content = draw_svg(figure_of(marks=("simulated: nodes",)))
    found = texts(content)
    assert {"A <figure>", "its chart", "time & place (s)", "simulated: nodes"} <= set(found)
    root = ElementTree.fromstring(content)
    assert root.attrib["width"] == str(WIDTH)
    assert root.findtext(f"{SVG}title") == "A <figure> \u00b7 simulated: nodes"


def test_many_points_and_shades_are_images() -> None:
    x = np.linspace(0.0, 4.0, MANY_POINTS)
    shades = heat(np.arange(3.0), Shades(np.array([[0.0, 1.0]]), Meaning("GPUs", "%", 0.0, 1.0)))
    for layer in (Layer("points", "p", x, x), shades):
        root = ElementTree.fromstring(draw_svg(figure_of(layer)))
        sources = [element.attrib["href"] for element in root.iter(f"{SVG}image")]
        assert sources
        assert all(source.startswith("data:image/png;base64,") for source in sources)


def test_a_report_has_them_when_asked(small_run: Path) -> None:
    assert not [path for path in make_report(small_run).plots if path.suffix == ".svg"]
    paths = make_report(small_run, wanted=Wanted(svg=True))
    names = {path.stem for path in paths.plots if path.suffix == ".png"}
    assert {path.stem for path in paths.plots if path.suffix == ".svg"} == names
    page = paths.index.read_text()
    assert all(f'href="{name}.svg"' in page for name in names)
