"""The figures of a scale test: their contents, with and without the events that they show."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from perfanalysis.drawing.blocks import Table
from perfanalysis.drawing.charts import Chart, Figure, Layer
from perfanalysis.files.documents import Document
from perfanalysis.reports.writing import make_report
from perfanalysis.workloads.kpis import evaluate
from perfanalysis.workloads.scale_test.kpis import KPIS
from perfanalysis.workloads.scale_test.measures import Measures, measure
from perfanalysis.workloads.scale_test.plots import detailed_figure, general_figure, queues_figure
from perfanalysis.workloads.scale_test.plots_cluster import control_plane_figure, evictions_figure
from perfanalysis.workloads.scale_test.plots_over_time import (
    node_moments,
    occupation_figure,
    ramp_figure,
    requested_rate,
)
from perfanalysis.workloads.scale_test.sections import sections

from tests.data.synthetic_runs import Shape, write_run
from tests.unit.analysis.hand_made import life, submission, tables, transition
from tests.unit.analysis.pages import figures_in

pytestmark = pytest.mark.slow

EVERYTHING = Shape(workloads=300, nodes=8, pods=2, rate=10.0, failing=0.02, kind="TrainingWorkload", everything=True)
EVERY_FIGURE = {"general", "distributions", "detailed", "ramp", "queues", "evictions", "concurrency", "gpus", "nodes"}


def measures_of_tenants(*rows: dict[str, Any], recording: Document | None = None) -> Measures:
    """Return two tenants that share two GPUs of one node; *rows* are added to the transitions."""
    submitted = [
        submission("a", 100.0, queue="gold"),
        submission("b", 101.0, queue="silver"),
        submission("c", 102.0, queue="gold"),
    ]
    seen = []
    for place, name in enumerate("abc"):
        begin = 100.0 + place
        times = {"created": begin + 0.1, "pod_created": begin + 0.2, "scheduled": begin + 0.5 + 4.0 * place}
        later = {"initialized": times["scheduled"] + 0.1, "running": times["scheduled"] + 0.5}
        seen += life(name, **times, **later, ready=times["scheduled"] + 0.6, completed=times["scheduled"] + 6.0)
    on_node = ({**row, "node": "node-0"} if row["kind"] == "Pod" else row for row in seen)
    return measure(tables(submitted, [*on_node, *rows], gpus=[2.0]), recording or {}, {})


def charts(figure: Figure) -> Iterator[Chart]:
    return (chart for row in figure.rows for chart in row)


def layers(figure: Figure, kind: str) -> list[Layer]:
    return [layer for chart in charts(figure) for layer in chart.layers if layer.kind == kind]


def window(measures: Measures) -> Any:
    assert measures.window is not None
    return measures.window


def test_titles_state_average_and_median() -> None:
    measures = measures_of_tenants()
    title = next(charts(general_figure(measures, window(measures)))).title
    # 0.5, 4.5 and 8.5 s from sent to scheduled; P99 needs a hundred values
    assert title == "Sent to scheduled: all pods scheduled \u2212 sent \u00b7 average 4.50\u202fs, median 4.50\u202fs"


def test_intermediate_object_has_its_row() -> None:
    between = [transition("RunaiJob", name, "created", 100.25 + place) for place, name in enumerate("abc")]
    measures = measures_of_tenants(*between)
    first = general_figure(measures, window(measures)).rows[0][0]
    assert first.title.endswith("average 250\u202fms, median 250\u202fms")
    assert first.layers[0].y == pytest.approx(250.0)


def test_every_point_belongs_to_a_real_workload() -> None:
    measures = measures_of_tenants()
    figure = detailed_figure(measures, window(measures))
    for chart in (row[0] for row in figure.rows):
        assert set(chart.layers[0].x) <= {0.0, 1.0, 2.0}
    named = {row[0].layers[0].label: row[0].layers[0] for row in figure.rows}
    assert named["Scheduling"].y == pytest.approx([0.3, 4.3, 8.3])


def test_series_and_distribution_share_their_axis() -> None:
    measures = measures_of_tenants()
    for series, distribution in detailed_figure(measures, window(measures)).rows:
        assert (series.y.low, series.y.high, series.y.unit) == (
            distribution.y.low,
            distribution.y.high,
            distribution.y.unit,
        )
        assert distribution.x.text == "workloads"


def test_changing_nodes_are_marked() -> None:
    lost = transition("Node", "node-0", "not_ready", 103.0, workload=None)
    back = transition("Node", "node-0", "ready", 104.5, workload=None)
    measures = measures_of_tenants(lost, back)
    assert [(layer.label, list(layer.x)) for layer in node_moments(measures)] == [
        ("node lost", [3.0]),
        ("node back", [4.5]),
    ]
    for make in (ramp_figure, occupation_figure):
        assert "node lost" in {layer.label for layer in layers(make(measures, window(measures)), "moments")}


def test_node_changes_before_the_test_are_not_marked() -> None:
    assert node_moments(measures_of_tenants(transition("Node", "node-0", "deleted", 50.0, workload=None))) == ()


def test_steady_part_is_a_span() -> None:
    measures = measures_of_tenants()
    [span, _] = layers(ramp_figure(measures, window(measures)), "spans")
    assert measures.ramp is not None
    assert (span.x[0], span.high is not None and span.high[0]) == (
        measures.ramp.steady_from - 100.0,
        measures.ramp.steady_to - 100.0,
    )


@pytest.mark.parametrize(
    ("client", "expected"),
    [
        ({"rate": 5.0}, [(0.0, 5.0), (10.0, 5.0)]),
        ({"phases": [[4.0, 0.0, 8.0], [2.0, 8.0, 8.0]]}, [(0.0, 0.0), (4.0, 8.0), (4.0, 8.0), (6.0, 8.0), (10.0, 8.0)]),
        ({"phases": [[20.0, 0.0, 8.0]]}, [(0.0, 0.0), (10.0, 4.0)]),
    ],
)
def test_requested_rate_is_drawn(client: Document, expected: list[tuple[float, float]]) -> None:
    corners = requested_rate({"client": client}, 10.0)
    assert corners is not None
    assert list(zip(*corners, strict=True)) == expected


@pytest.mark.parametrize("client", [{}, {"rate": 0}, {"phases": [[1.0]]}, {"rate": "5"}, {"phases": 5}, 5, None])
def test_run_without_a_requested_rate_draws_none(client: object) -> None:
    assert requested_rate({"client": client}, 10.0) is None


def test_queue_shares_add_up_and_name_their_weight() -> None:
    measures = measures_of_tenants()
    [shares, *_] = charts(queues_figure(measures, window(measures)))
    gold, silver = (layer for layer in shares.layers if layer.kind == "steps")
    both = np.isfinite(gold.y)
    assert gold.y[both] + silver.y[both] == pytest.approx(100.0)
    weights = {layer.label: layer.y[0] for layer in shares.layers if layer.dashed}
    assert weights == pytest.approx({"gold: weight": 200 / 3, "silver: weight": 100 / 3})
    assert "Jain index" in shares.title


def test_single_namespace_without_a_queue_has_no_queue_figures() -> None:
    one = tables(
        [submission("a", 1.0)], life("a", created=1.1, pod_created=1.2, scheduled=1.5, running=2.0), gpus=[1.0]
    )
    measures = measure(one, {}, {})
    for make in (queues_figure, evictions_figure, control_plane_figure):
        assert make(measures, window(measures)).rows == ()
    names = {section.name for section in sections(measures, evaluate(KPIS, measures), ())}
    assert not names & {"queues", "evictions", "churn", "control_plane"}
    assert {"latency", "steps", "nodes", "accounting"} <= names


def test_all_recorded_data_is_shown(tmp_path: Path) -> None:
    run = write_run(tmp_path, [EVERYTHING])
    paths = make_report(run)
    assert set(figures_in(paths.index)) >= {*EVERY_FIGURE, "control_plane", "failures"}
    page = paths.index.read_text()
    for words in (
        "Pod group creation",
        "Volume binding",
        "Intermediate object",
        "Rescheduling",
        "Share of the GPUs held",
        "What each queue held while it competed",
        "Preemption by priority",
        "Submitting processes",
        "Changes of nodes",
        "Control plane: all measures",
        "Ramp, steady part and drain",
    ):
        assert words in page, words


def test_unfinished_run_has_its_plots(tmp_path: Path) -> None:
    """Interrupted during the submission, with queues, evictions and scrapes in progress."""
    run = write_run(tmp_path, [replace(EVERYTHING, cut_after=20.0)], status="running")
    paths = make_report(run)
    assert set(figures_in(paths.index)) >= {*EVERY_FIGURE, "control_plane"} - {"evictions"}
    assert all(finding.severity != "error" for finding in paths.findings)


def test_tables_list_missing_data() -> None:
    measures = measures_of_tenants()
    found = [
        block
        for section in sections(measures, evaluate(KPIS, measures), ())
        for block in section.blocks
        if isinstance(block, Table)
    ]
    cells = [cell for table in found for row in table.rows for cell in row]
    assert all(cell.text or cell.reason or cell.detail for cell in cells if cell.reason)
    assert "nan" not in {cell.text.lower() for cell in cells}
