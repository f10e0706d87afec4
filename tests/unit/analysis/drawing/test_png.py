"""Drawn reports: every file is there, and the same run gives the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pytest
from perfanalysis.drawing.charts import Axis, Chart, Figure, Layer, LayerKind, Meaning, Shades, heat
from perfanalysis.drawing.png import WIDTH, draw
from perfanalysis.drawing.png_layers import MANY_POINTS
from perfanalysis.reports.writing import make_report

from tests.schemas import schema_of


def test_a_finished_run_gives_every_file(small_run: Path) -> None:
    paths = make_report(small_run)
    assert paths.findings == ()
    names = {"general", "detailed", "distributions", "ramp", "concurrency", "gpus", "nodes", "timeline"}
    assert {path.name for path in paths.plots} == {f"{name}.png" for name in names}
    assert all(path.read_bytes().startswith(b"\x89PNG") for path in paths.plots)
    document = json.loads(paths.kpis.read_text())
    jsonschema.validate(document, schema_of("kpis"))
    assert document["simulated"] == ["nodes", "pods", "synthetic data"]
    assert paths.openmetrics.read_text().endswith("# EOF\n")
    latencies = pd.read_parquet(paths.tables / "latencies.parquet")
    assert len(latencies) == 60
    assert set(latencies["recording"]) == {"002__scale_test__submit"}


def test_the_same_run_gives_the_same_bytes(small_run: Path, tmp_path: Path) -> None:
    first = make_report(small_run, tmp_path / "first")
    second = make_report(small_run, tmp_path / "second")
    for one, other in [
        (first.index, second.index),
        (first.kpis, second.kpis),
        *zip(first.plots, second.plots, strict=True),
    ]:
        assert one.read_bytes() == other.read_bytes(), one.name
    assert not (small_run / "report").exists()


@pytest.mark.parametrize(
    "kind", ["points", "line", "steps", "area", "bars", "sidebars", "ranges", "moments", "spans", "stretches"]
)
def test_every_kind_of_layer_is_drawn(kind: LayerKind) -> None:
    values = np.array([1.0, 2.0, np.nan])
    layer = Layer(kind, "values", values, values, low=values - 0.5, high=values + 0.5)
    axis = Axis("x", "s", low=0.0, high=3.0)

    def pixels(*layers: Layer) -> bytes:
        return draw(Figure("f", "Figure", "", ((Chart("chart", axis, axis, layers),),)))

    assert pixels(layer) != pixels()


def test_shades_are_drawn_with_their_meaning() -> None:
    def pixels(values: list[list[float]], high: float = 100.0) -> bytes:
        shades = Shades(np.array(values), Meaning("GPUs", "%", 0.0, high))
        axes = Axis("x", "s", low=0.0, high=2.0), Axis("", categories=("a", "b"))
        return draw(Figure("f", "Figure", "", ((Chart("chart", *axes, (heat(np.arange(3.0), shades),)),),)))

    one = pixels([[0.0, 50.0], [100.0, 20.0]])
    assert one == pixels([[0.0, 50.0], [100.0, 20.0]])
    assert one != pixels([[0.0, 50.0], [100.0, float("nan")]])
    assert one != pixels([[0.0, 50.0], [100.0, 20.0]], high=200.0)


def test_many_points_are_each_on_the_picture() -> None:
    """As an image from MANY_POINTS on: one point far from all others must still be seen."""

    def pixels(*more: float) -> bytes:
        x = np.concatenate([np.linspace(0.0, 9.0, MANY_POINTS), more])
        y = np.concatenate([np.full(MANY_POINTS, 1.0), np.full(len(more), 5.0)])
        axes = Axis("x", low=0.0, high=10.0), Axis("y", low=0.0, high=6.0)
        return draw(Figure("f", "Figure", "", ((Chart("chart", *axes, (Layer("points", "p", x, y),)),),)))

    assert pixels(4.0) != pixels()
    assert pixels(4.0) != pixels(6.0)


def test_marks_are_on_every_figure() -> None:
    def pixels(marks: tuple[str, ...]) -> bytes:
        chart = Chart("chart", Axis("x", low=0.0, high=1.0), Axis("y", low=0.0, high=1.0), ())
        return draw(Figure("f", "Figure", "", ((chart,),), marks))

    assert pixels(("simulated: nodes",)) != pixels(())


def test_size_in_pixels() -> None:
    chart = Chart("chart", Axis("x", low=0.0, high=1.0), Axis("y", low=0.0, high=1.0), ())
    header = draw(Figure("f", "Figure", "", ((chart,),)))[16:24]
    assert int.from_bytes(header[:4]) == WIDTH


def test_marks_beside_a_long_title_take_a_line_of_their_own() -> None:
    """They never cover the title."""

    def height(title: str, *marks: str) -> int:
        axis = Axis("x", "s", low=0.0, high=3.0)
        drawn = draw(Figure("f", title, "", ((Chart("chart", axis, axis, ()),),), marks=marks))
        return int.from_bytes(drawn[20:24], "big")

    emulated = "emulated: " + ", ".join(["an emulator"] * 8)
    assert height("Timeline", emulated) == height("Timeline") == height("Timeline " * 6)
    assert height("Timeline " * 6, emulated) > height("Timeline " * 6)
