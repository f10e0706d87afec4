"""Figures as PNG and SVG files: every layer is drawn, texts are included, and equal figures have equal bytes."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import get_args

import numpy as np
import pytest
from matplotlib.image import imread
from perfanalysis.drawing.charts import LIGHT, Axis, Chart, Figure, Layer, LayerKind, Meaning, Shades, heat
from perfanalysis.drawing.matplotlib import MANY_POINTS, WIDTH, image
from perfanalysis.reports.writing import Wanted, make_report

pytestmark = pytest.mark.slow

SVG = "{http://www.w3.org/2000/svg}"
AXIS = Axis("time & place", "s", low=0.0, high=4.0)
KINDS = sorted(set(get_args(LayerKind)) - {"heat"})


def figure_of(*layers: Layer, marks: tuple[str, ...] = (), y: Axis = AXIS) -> Figure:
    return Figure("f", "A <figure>", "", ((Chart("its chart", AXIS, y, layers),),), marks)


def texts(content: bytes) -> set[str]:
    return {element.text or "" for element in ElementTree.fromstring(content).iter(f"{SVG}text")}


@pytest.mark.parametrize("kind", KINDS)
def test_every_layer_kind_is_drawn_in_its_colour(kind: LayerKind) -> None:
    values = np.array([1.0, 2.0, np.nan])
    names = ("a", "b", "c") if kind == "stretches" else ()
    layer = Layer(kind, "values", values, values, 3, low=values - 0.5, high=values + 0.5, names=names)
    content = image(figure_of(layer), "svg")
    assert LIGHT[3].encode() in content
    assert LIGHT[3].encode() not in image(figure_of(), "svg")
    assert content == image(figure_of(layer), "svg")
    assert b"nan" not in content


def test_curves_have_their_points() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    root = ElementTree.fromstring(
        image(figure_of(Layer("line", "curve", x, np.array([0.0, 4.0, 0.0, 4.0, 0.0]))), "svg")
    )
    paths = [path.get("d", "") for path in root.iter(f"{SVG}path") if LIGHT[0] in path.get("style", "")]
    [curve] = [path.split() for path in paths if "L" in path]
    heights = [float(word) for word in curve[2::3]]
    assert len(heights) == 5
    assert heights[0] == heights[2] == heights[4] > heights[1] == heights[3]


def test_figure_contains_its_texts_and_marks() -> None:
    values = np.array([1.0, 2.0])
    layers = Layer("line", "first $ series", values, values), Layer("line", "_second", values, values, 1)
    found = texts(image(figure_of(*layers, marks=("simulated: nodes",)), "svg"))
    assert {"A <figure>", "its chart", "time & place (s)", "simulated: nodes", "first $ series"} <= found
    assert any(text.endswith("_second") for text in found)


def test_figure_contains_the_row_names() -> None:
    values = np.array([0.0, 1.0])
    layer = Layer("sidebars", "pods", values, values)
    assert {"node-a", "node-b"} <= texts(image(figure_of(layer, y=Axis("", categories=("node-a", "node-b"))), "svg"))


def test_svg_embeds_many_points_and_shades_as_images() -> None:
    x = np.linspace(0.0, 4.0, MANY_POINTS)
    shades = heat(np.arange(3.0), Shades(np.array([[0.0, 1.0]]), Meaning("GPUs", "%", 0.0, 1.0)))
    for layer, y in ((Layer("points", "p", x, x), AXIS), (shades, Axis("", categories=("row",)))):
        root = ElementTree.fromstring(image(figure_of(layer, y=y), "svg"))
        assert list(root.iter(f"{SVG}image"))
    assert "GPUs (%)" in texts(image(figure_of(shades, y=Axis("", categories=("row",))), "svg"))


def test_png_is_as_wide_as_a_slide() -> None:
    assert imread(io.BytesIO(image(figure_of(), "png"))).shape[1] == WIDTH


def test_report_writes_files_on_request(small_run: Path) -> None:
    assert make_report(small_run).plots == ()
    only = small_run.parent / "report.yml"
    only.write_text("schema: psap.perf/report/1\nvisualize:\n  - {id: index, generate: [concurrency, timeline]}\n")
    paths = make_report(small_run, wanted=Wanted(only, ("png", "svg")))
    names = {f"{name}.{form}" for name in ("concurrency", "timeline") for form in ("png", "svg")}
    assert {path.name for path in paths.plots} == names
    page = paths.index.read_text()
    assert all(f'href="{name}"' in page for name in names)
