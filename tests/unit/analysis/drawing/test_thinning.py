"""Layers of many points are thinned for a page: few points, real ones, and every extreme."""

from __future__ import annotations

import numpy as np
import pytest
from perfanalysis.drawing.charts import Axis, Chart, Layer, LayerKind
from perfanalysis.drawing.layers import MOST_POINTS, thinned_line, thinned_points
from perfanalysis.drawing.plotly import fewer, plotly_figure

from tests.unit.analysis.pages import numbers

RANDOM = np.random.default_rng(7)


def test_few_points_are_kept() -> None:
    x, y = RANDOM.random((2, MOST_POINTS))
    kept = thinned_points(x, y)
    assert (kept[0] is x, kept[1] is y) == (True, True)


@pytest.mark.parametrize("count", [4_001, 20_000, 100_000])
@pytest.mark.parametrize("shape", ["cloud", "band", "two levels"])
def test_thinned_points_are_real_and_include_extremes(count: int, shape: str) -> None:
    x = np.sort(RANDOM.random(count) * 100)
    y = {
        "cloud": RANDOM.random(count),
        "band": RANDOM.normal(5, 0.01, count),
        "two levels": np.repeat([0.0, 9.0], count)[::2],
    }
    values = y[shape].copy()
    values[count // 3], values[count // 2] = 1e3, -1e3
    kept = thinned_points(x, values)
    assert len(kept[0]) <= MOST_POINTS
    assert set(zip(*kept, strict=True)) <= set(zip(x, values, strict=True))
    assert (kept[1].min(), kept[1].max()) == (-1e3, 1e3)
    # In every hundredth of the time its highest and lowest point
    parts, of_kept = np.floor(x).astype(int), np.floor(kept[0]).astype(int)
    for part in (0, 33, 50, 99):
        assert kept[1][of_kept == part].max() == pytest.approx(values[parts == part].max())
        assert kept[1][of_kept == part].min() == pytest.approx(values[parts == part].min())


def test_thinned_line_keeps_ends_and_peaks() -> None:
    values = np.sin(np.arange(50_000) / 50)
    values[[123, 40_321]] = 7.0, -7.0
    kept = thinned_line((values,))
    assert len(kept) <= MOST_POINTS
    assert {0, 123, 40_321, 49_999} <= set(kept.tolist())


def test_thinned_area_keeps_extremes_of_both_edges() -> None:
    upper, lower = RANDOM.random((2, 30_000))
    lower[17_000] = -5.0
    kept = thinned_line((upper, lower))
    assert len(kept) <= MOST_POINTS
    assert 17_000 in kept


def test_unknown_values_are_not_extremes() -> None:
    values = np.full(10_000, np.nan)
    assert 0 < len(thinned_line((values,))) <= MOST_POINTS


@pytest.mark.parametrize("kind", ["points", "line", "steps"])
def test_page_limits_the_points_per_layer(kind: LayerKind) -> None:
    x = np.arange(100_000.0)
    layer = Layer(kind, "values", x, RANDOM.random(100_000))
    chart = Chart("", Axis("x", "s"), Axis("y", "s"), (layer,))
    [trace] = plotly_figure(chart)["data"]
    assert 0 < len(numbers(trace["x"])) == len(numbers(trace["y"])) <= MOST_POINTS
    assert fewer(chart) == (100_000 if kind == "points" else 0)
