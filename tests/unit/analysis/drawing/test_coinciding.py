"""The legend names curves that hide one another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from perfanalysis.drawing.layers import labels_with_overlaps
from perfanalysis.verdicts.comparison.comparison import compare
from perfanalysis.verdicts.comparison.figures import distribution_figure
from perfanalysis.verdicts.comparison.sides import side_of_run
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.synthetic_runs import Shape, write_run

VALUES = np.linspace(1.0, 2.0, 50)


def test_hidden_curve_names_the_curve_above_it() -> None:
    labels = ("A (50 workloads)", "B (50 workloads)", "C (25 workloads)", "D (50 workloads)")
    samples = (VALUES, VALUES + 0.3, np.linspace(1.001, 2.001, 25), VALUES[::-1] + 0.3)
    assert labels_with_overlaps(labels, samples) == (
        "A (50 workloads)",
        "B (50 workloads)",
        "C (25 workloads), lies on A",
        "D (50 workloads), lies on B",
    )


def test_curve_without_values_coincides_with_none() -> None:
    assert labels_with_overlaps(("cell 0", "cell 1: 4"), (np.empty(0), np.zeros(3))) == ("cell 0", "cell 1: 4")
    assert labels_with_overlaps(("cell 0", "cell 1: 4"), (np.zeros(2), np.zeros(3))) == (
        "cell 0",
        "cell 1: 4, lies on cell 0",
    )


def test_run_compared_with_itself_is_reported(tmp_path: Path) -> None:
    run = write_run(tmp_path, [Shape(workloads=20, nodes=4, duration=1.0)], run="a")
    side = side_of_run(analyse_run(run, tmp_path))
    comparison = compare([side, side])
    figure = distribution_figure(comparison, comparison.groups[0], 0)
    assert figure is not None
    labels = [[layer.label for layer in chart.layers] for row in figure.rows for chart in row]
    assert ["A (20 workloads)", "B (20 workloads), lies on A"] in labels
