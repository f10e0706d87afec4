"""Rules for every figure of every kind: units on axes, marks, titles, captions with a full stop."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from perfanalysis.drawing.charts import Axis, Figure
from perfanalysis.reports.content import content_of
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.fine_tuning_runs import Training, write_tuning_run
from tests.data.synthetic_runs import Shape, write_run

pytestmark = pytest.mark.slow


def scale_tests(root: Path) -> Path:
    shape = Shape(workloads=60, nodes=4, pods=2, duration=3.0, failing=0.1, everything=True)
    return write_run(root, [shape, shape], status="failed")


def trainings(root: Path) -> Path:
    return write_tuning_run(root, [Training(gpus=1), Training(gpus=2), Training(gpus=2, batch=8, rank=4)])


@pytest.fixture(scope="module", params=[scale_tests, trainings])
def figures(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Figure]:
    directory = request.param(tmp_path_factory.mktemp("run"))
    content = content_of(analyse_run(directory, directory / "report"), directory / "report")
    return [figure for _section, _group, figure in content.figures()]


def axes(figures: list[Figure]) -> Iterator[tuple[str, Axis]]:
    for figure in figures:
        for chart in (chart for row in figure.rows for chart in row):
            yield from ((f"{figure.name}: {chart.title}", axis) for axis in (chart.x, chart.y))


def test_axes_have_units_and_counts_name_the_counted_things(figures: list[Figure]) -> None:
    numbers = [(name, axis) for name, axis in axes(figures) if not axis.categories]
    assert len(numbers) > 5
    assert [(name, axis.label) for name, axis in numbers if not axis.unit and not axis.label] == []
    plain = {axis.label for _, axis in numbers if not axis.unit and not axis.whole}
    assert plain - UNITS - NUMBERS == set()


UNITS = {"GPUs", "cores", "requests", "requests per second", "workloads per second", "pods", "MiB"}
"""Labels that are units themselves."""
NUMBERS = {"loss", "learning rate", "times that of one GPU", "norm of the gradient", "per_device_train_batch_size"}
"""Numbers without a unit."""


def test_every_figure_marks_simulated_data(figures: list[Figure]) -> None:
    assert {figure.name for figure in figures if not any("synthetic data" in mark for mark in figure.marks)} == set()


def test_every_figure_has_a_title_and_a_caption(figures: list[Figure]) -> None:
    assert [figure.name for figure in figures if not figure.title] == []
    assert [figure.name for figure in figures if figure.caption and not figure.caption.endswith((".", "!"))] == []
