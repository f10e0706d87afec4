"""Charts as Plotly figures: its own validation accepts them, and every number, unit and name is in its place."""

from __future__ import annotations

import base64
import gzip
import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import plotly.graph_objects as go
import pytest
from perfanalysis.drawing.charts import (
    DARK,
    LIGHT,
    SHADES,
    Axis,
    Chart,
    Layer,
    LayerKind,
    Meaning,
    Shades,
    heat,
    moments,
    span,
)
from perfanalysis.drawing.plotly import TEMPLATE, faded, library, plotly_figure
from perfanalysis.reports.writing import make_report

from tests.unit.analysis.pages import numbers

X, Y = Axis("time", "s", low=0.0, high=10.0), Axis("pods", low=0.0, whole=True)
NAMES = Axis("", categories=("first", "second", "third"))
VALUES = np.array([0.0, 1.0, 2.0])
KINDS = get_args(LayerKind)


def chart_of(*layers: Layer, x: Axis = X, y: Axis = Y) -> Chart:
    return Chart("its chart", x, y, layers)


def layer_of(kind: LayerKind) -> Layer:
    if kind == "heat":
        return heat(np.arange(3.0), Shades(np.array([[0.0, 1.0], [np.nan, 2.0]]), Meaning("GPUs", "%", 0.0, 2.0)))
    return Layer(kind, "values", VALUES, VALUES, low=VALUES - 0.5, high=VALUES + 0.5, names=("a", "b", "c"))


def draw(*layers: Layer, x: Axis = X, y: Axis = Y) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return traces and layout after Plotly's own validation."""
    found = plotly_figure(chart_of(*layers, x=x, y=y))
    go.Figure(data=found["data"], layout={**found["layout"], "template": TEMPLATE})
    json.dumps(found, allow_nan=False)
    return found["data"], found["layout"]


@pytest.mark.parametrize("y", [Y, NAMES], ids=["numbers", "names"])
@pytest.mark.parametrize("kind", KINDS)
def test_plotly_accepts_every_layer_kind(kind: LayerKind, y: Axis) -> None:
    traces, _ = draw(layer_of(kind), y=NAMES if kind == "heat" else y)
    assert traces


@pytest.mark.parametrize("kind", ["points", "line", "steps", "bars"])
def test_numbers_equal_those_of_the_layer(kind: LayerKind) -> None:
    [trace], _ = draw(layer_of(kind))
    assert numbers(trace["x"]).tolist() == VALUES.tolist()
    assert numbers(trace["y"]).tolist() == VALUES.tolist()
    assert trace["hovertemplate"].startswith("%{y}")


def test_area_lies_between_its_edges() -> None:
    for kind, shape in (("area", "hv"), ("band", "linear")):
        [lower, upper], _ = draw(layer_of(kind))  # type: ignore[arg-type]
        assert numbers(lower["y"]).tolist() == (VALUES - 0.5).tolist()
        assert (upper["fill"], upper["fillcolor"]) == ("tonexty", faded(LIGHT[0]))
        assert (lower["legendgroup"], lower["showlegend"]) == (upper["legendgroup"], False)
        assert upper["line"]["shape"] == shape


def test_steps_hold_until_the_next_and_gaps_stay() -> None:
    [trace], _ = draw(Layer("steps", "", VALUES, np.array([1.0, np.nan, 2.0])))
    assert trace["line"]["shape"] == "hv"
    assert np.isnan(numbers(trace["y"])[1])


def test_values_too_large_for_a_page_become_gaps() -> None:
    [trace], _ = draw(Layer("line", "", np.array([1.0, 2.0]), np.array([1e300, 3.0])))
    assert numbers(trace["y"]).tolist() == [np.inf, 3.0]


def test_ranges_reach_from_low_to_high_and_name_their_row() -> None:
    [trace], layout = draw(layer_of("ranges"), y=NAMES)
    assert numbers(trace["error_x"]["array"]).tolist() == [0.5] * 3
    assert numbers(trace["error_x"]["arrayminus"]).tolist() == [0.5] * 3
    assert trace["customdata"] == list(NAMES.categories)
    assert layout["yaxis"]["ticktext"] == list(NAMES.categories)
    assert layout["yaxis"]["range"] == [2.5, -0.5]


def test_stretches_have_their_begin_and_end() -> None:
    layer = Layer(
        "stretches", "phases", np.array([0.0, 4.0]), np.zeros(2), high=np.array([4.0, 10.0]), names=("a", "b")
    )
    [trace], _ = draw(layer, y=NAMES)
    assert numbers(trace["base"]).tolist() == [0.0, 4.0]
    assert numbers(trace["x"]) == pytest.approx([4.0, 6.0], abs=0.05)
    assert trace["text"] == ["a", "b"]
    assert trace["customdata"] == ["0\u20134", "4\u201310"]


def test_shades_have_a_scale_and_rows_run_top_to_bottom() -> None:
    values = np.array([[0.0, 100.0], [np.nan, 50.0], [1.0, 2.0]])
    [trace], layout = draw(heat(np.array([0.0, 5.0, 10.0]), Shades(values, Meaning("GPUs", "%", 0.0, 100.0))), y=NAMES)
    assert np.array_equal(numbers(trace["z"]), values, equal_nan=True)
    assert (trace["zmin"], trace["zmax"], trace["y"]) == (0.0, 100.0, list(NAMES.categories))
    assert [shade for _, shade in trace["colorscale"]] == list(SHADES)
    assert trace["colorbar"]["title"]["text"] == "GPUs (%)"
    assert layout["yaxis"]["range"] == [2.5, -0.5]


def test_spans_and_moments_cover_the_full_height() -> None:
    [shaded, upright], layout = draw(span(2.0, 4.0, "steady", 0), moments(np.array([6.0]), "lost", 1))
    assert layout["yaxis2"]["range"] == [0, 1]
    assert (shaded["yaxis"], upright["yaxis"]) == ("y2", "y2")
    assert numbers(shaded["x"])[:2].tolist() == [2.0, 4.0]
    assert numbers(upright["x"])[:2].tolist() == [6.0, 6.0]
    assert numbers(upright["y"])[:2].tolist() == [0.0, 1.0]


def test_axes_have_units_ends_and_scale() -> None:
    _, layout = draw(layer_of("line"), y=Axis("latency", "s", "log", 0.001, 10.0))
    assert layout["xaxis"]["title"]["text"] == "time (s)"
    assert layout["xaxis"]["range"] == [0.0, 10.0]
    assert (layout["yaxis"]["type"], layout["yaxis"]["range"]) == ("log", [-3.0, 1.0])


@pytest.mark.parametrize(
    ("axis", "ends"),
    [
        (Axis("x", low=0.0, high=5.0), [0.0, 5.0]),
        (Axis("x", low=0.0), [0.0, 2.1]),
        (Axis("x"), [0.0, 2.1]),
        (Axis("x", categories=("a", "b")), [1.5, -0.5]),
        (Axis("x", scale="log"), [0.0, np.log10(2.05)]),
    ],
)
def test_axis_ends_are_declared_or_padded(axis: Axis, ends: list[float]) -> None:
    _, layout = draw(Layer("line", "", VALUES, VALUES), x=axis)
    assert layout["xaxis"]["range"] == pytest.approx(ends)


def test_empty_chart_has_axes() -> None:
    _, layout = draw(Layer("line", "", VALUES[:0], VALUES[:0]), x=Axis("x"), y=Axis("y", scale="log"))
    assert layout["xaxis"]["range"] == [0.0, 1.0]
    assert np.isfinite(layout["yaxis"]["range"]).all()


def test_run_names_are_escaped() -> None:
    [trace, _], layout = draw(Layer("line", "<b>queue & more</b> " + "long " * 20, VALUES, VALUES), layer_of("points"))
    assert trace["name"].startswith("&lt;b&gt;queue &amp; more&lt;/b&gt; long")
    assert max(len(line) for line in trace["name"].split("<br>")) < 70
    assert layout["showlegend"]


def test_many_names_are_thinned() -> None:
    axis = Axis("", categories=tuple(f"run {place}" for place in range(100)))
    _, layout = draw(layer_of("ranges"), y=axis)
    assert len(layout["yaxis"]["ticktext"]) == len(layout["yaxis"]["tickvals"]) < 20


def test_count_axes_have_whole_ticks() -> None:
    _, layout = draw(layer_of("points"))
    assert layout["yaxis"]["dtick"] == 1


def test_page_has_the_library_once_and_each_colour_in_both_schemes(small_run: Path) -> None:
    page = make_report(small_run).index.read_text()
    assert page.count('id="plotly"') == 1
    packed = page.partition('id="plotly">')[2].partition("<")[0]
    assert gzip.decompress(base64.b64decode(packed)) == library()
    assert len(page) < 4_000_000
    for colour in (*LIGHT, *DARK, *map(faded, LIGHT), *map(faded, DARK)):
        assert f'"{colour}"' in page
