"""Prometheus' data about a window: responses as tables, units, figures, and their places."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from perfanalysis.drawing.charts import Chart
from perfanalysis.files.discovery import Place
from perfanalysis.files.recording_files import RecordingFiles
from perfanalysis.reports.writing import make_report
from perfanalysis.workloads.prometheus.figures import range_figures
from perfanalysis.workloads.prometheus_ranges import (
    RANGES,
    Ranges,
    parse,
    quantity_of,
    ranges_of,
    read_answer,
    samples_of,
)

from tests.data.fine_tuning_runs import Training, write_tuning_run
from tests.data.prometheus_windows import Series, gpu, write_window
from tests.data.synthetic_runs import EPOCH
from tests.schemas import check_file
from tests.unit.analysis.pages import figures_in
from tests.unit.analysis.reports.test_report import page_of

SERIES = [{"metric": {"__name__": "up", "job": "b", "a": "1"}, "values": [[12.5, "1"], [10, "NaN"], [14, "+Inf"]]}]
ROWS: list[tuple[Any, ...]] = [
    ("q", "up", '{"a": "1", "job": "b"}', 10.0, None),
    ("q", "up", '{"a": "1", "job": "b"}', 12.5, 1.0),
    ("q", "up", '{"a": "1", "job": "b"}', 14.0, None),
]


def _rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    plain = frame.astype("object").where(frame.notna(), None)
    return [tuple(row) for row in plain.itertuples(index=False)]


@pytest.mark.parametrize(
    "loaded",
    [
        {"status": "success", "data": {"resultType": "matrix", "result": SERIES}},
        {"resultType": "matrix", "result": SERIES},
        SERIES,
        [{**SERIES[0], "values": {"12.5": 1, "10": "NaN", "14": "Inf"}}],
    ],
)
def test_responses_of_any_client_are_read(loaded: object) -> None:
    assert _rows(samples_of(loaded, "q")) == ROWS


def test_instant_response_has_one_sample_and_computed_ones_no_metric(tmp_path: Path) -> None:
    path = tmp_path / "load.json"
    path.write_text(json.dumps({"data": {"resultType": "vector", "result": [{"metric": {}, "value": [5, "0.5"]}]}}))
    assert _rows(read_answer(path)) == [("load", None, "{}", 5.0, 0.5)]


@pytest.mark.parametrize(
    ("loaded", "message"),
    [
        ({"status": "error", "error": "parse error"}, "an error: parse error"),
        ({"hits": 3}, "no list of series"),
        ([{"values": []}], "a series has no labels"),
        ([{"metric": {}, "values": [[1, "two"]]}], "not a pair of time and value"),
        ([{"metric": {}, "values": [5]}], "not a pair of time and value"),
    ],
)
def test_invalid_response_is_reported(loaded: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        samples_of(loaded, "q")


def _place(folder: Path) -> Place:
    return Place(folder, folder.name, "prometheus_queries.yml", None)


def _window(folder: Path, answers: dict[str, list[Series] | None], end_s: float = 100.0) -> Ranges:
    write_window(folder, (0.0, end_s), answers)
    return ranges_of(_place(folder), parse(RecordingFiles(_place(folder))))


def test_missing_or_damaged_responses_are_findings(tmp_path: Path) -> None:
    write_window(tmp_path, (0, 10), {"up": [Series({"job": "a"}, [1, 1], 0)], "broken": None, "torn": []})
    check_file(tmp_path / "prometheus_queries.yml")
    (tmp_path / "torn.json").write_text('{"status": "succ')
    source = RecordingFiles(_place(tmp_path))
    tables = parse(source)
    assert RANGES.tables is type(tables)
    assert _rows(tables.prometheus_samples) == [
        ("up", None, '{"job": "a"}', 0.0, 1.0),
        ("up", None, '{"job": "a"}', 2.0, 1.0),
    ]
    warning, error = source.findings
    assert (warning.severity, error.severity) == ("warning", "error")
    assert "the query broken failed: Prometheus refused" in warning.text
    assert error.where.endswith("torn.json")


@pytest.mark.parametrize(
    ("name", "title", "unit", "factor"),
    [
        ("gpu_usage_percent", "GPU usage", "%", 1.0),
        ("gpu_memory_used_mebibytes", "GPU memory used", "GiB", 1 / 1024),
        ("node_memory_used_bytes", "Node memory used", "GiB", 2.0**-30),
        ("node_network_received_bytes_per_second", "Node network received", "MiB/s", 2.0**-20),
        ("apiserver_latency_p99_seconds", "API server latency P99", "s", 1.0),
        ("control_plane_cpu_usage_cores", "Control plane CPU usage", "cores", 1.0),
        ("etcd_database_size_bytes", "etcd database size", "GiB", 2.0**-30),
        ("hit_ratio", "Hit", "%", 100.0),
        ("DCGM_FI_DEV_FB_USED", "GPU memory used", "GiB", 1 / 1024),
        ("anything else", "Anything else", "", 1.0),
    ],
)
def test_query_name_yields_title_and_unit(name: str, title: str, unit: str, factor: float) -> None:
    found = quantity_of(name)
    assert (found.title, found.unit, found.factor) == (title, unit, factor)


def _charts(ranges: Ranges, **more: Any) -> dict[str, Chart]:
    return {chart.title: chart for figure in range_figures(ranges, **more) for row in figure.rows for chart in row}


def test_each_query_has_a_chart_by_group_with_units(tmp_path: Path) -> None:
    ranges = _window(
        tmp_path,
        {
            "apiserver_latency_p99_seconds": [Series({"verb": "GET"}, [0.004, 0.008], 10)],
            "gpu_usage_percent": [gpu("DCGM_FI_DEV_GPU_UTIL", "a", 0, [50, 100], 10)],
            "mine": [gpu("DCGM_FI_DEV_FB_USED", "a", 0, [2048], 10)],
            "nothing_bytes": [],
        },
    )
    figures = range_figures(ranges, marks=("simulated: nodes",))
    assert [figure.name for figure in figures] == ["metrics_gpus", "metrics_control_plane", "metrics_others"]
    assert {figure.marks for figure in figures} == {("simulated: nodes",)}
    charts = _charts(ranges)
    assert set(charts) == {"GPU usage", "API server latency P99", "GPU memory used"}
    assert charts["API server latency P99"].y.unit == "ms"
    assert charts["API server latency P99"].layers[0].y.tolist() == [4.0, 8.0]
    assert charts["GPU usage"].y.high == 100.0
    assert charts["GPU memory used"].layers[0].y.tolist() == [2.0]
    assert (charts["GPU usage"].x.text, charts["GPU usage"].x.high) == ("time since the start of the window (s)", 100.0)


def test_lines_have_gaps_without_scrapes(tmp_path: Path) -> None:
    [chart] = _charts(_window(tmp_path, {"x_cores": [Series({}, [1, 1, 1, None, None, None, 2, 2], 0)]})).values()
    line = chart.layers[0]
    assert line.x.tolist() == [0, 2, 4, 8, 12, 14]
    assert np.isnan(line.y).tolist() == [False, False, False, True, False, False]
    assert line.label == "all"


def test_series_have_distinguishing_names_largest_first(tmp_path: Path) -> None:
    series = [Series({"node": f"n{n // 2}", "gpu": str(n % 2), "job": "dcgm"}, [n], 0) for n in range(10)]
    [(title, chart)] = _charts(_window(tmp_path, {"gpu_power_watts": series})).items()
    assert title == "GPU power, the largest 8 of 10 series"
    assert [layer.label for layer in chart.layers][:3] == ["n4, gpu 1", "n4, gpu 0", "n3, gpu 1"]
    assert len(chart.layers) == 8


def test_workload_time_is_shaded(tmp_path: Path) -> None:
    ranges = _window(tmp_path, {"x_cores": [Series({}, [1, 1], 0)]})
    [chart] = _charts(ranges, within=(-5.0, 40.0)).values()
    shaded = chart.layers[0]
    assert shaded.kind == "spans"
    assert shaded.high is not None
    assert (shaded.x.tolist(), shaded.high.tolist()) == ([0.0], [40.0])


def _write_query(run: Path, cell: str, window: tuple[float, float]) -> None:
    folder = run / cell / "009__cluster__query_prometheus_db" / "artifacts"
    write_window(folder, window, {"apiserver_requests_per_second": [Series({"code": "200"}, [1, 2], window[0])]})


def test_window_is_shown_with_its_recording_or_the_run(tmp_path: Path) -> None:
    run = write_tuning_run(tmp_path, [Training(gpus=1), Training(gpus=2)])
    first, second = sorted(json.loads(path.read_text())["started_s"] for path in run.rglob("fine_tuning.json"))
    assert second > first
    cells = sorted(path.parent.name for path in run.rglob("cell.json"))
    _write_query(run, cells[0], (first - 1, first + 5))
    _write_query(run, ".", (EPOCH - 7200, EPOCH - 3600))
    paths = make_report(run)
    names = figures_in(paths.index)
    assert "cell_0.metrics_control_plane" in names
    assert "cell_1.metrics_control_plane" not in names
    assert "run.metrics_control_plane" in names
    page = page_of(run)
    assert len(page.identifiers) == len(set(page.identifiers))
    assert set(page.links) <= set(page.identifiers)
    [kept, _] = sorted(paths.tables.rglob("prometheus_samples.parquet"), key=lambda path: path.parent.name)
    assert list(pd.read_parquet(kept).columns) == ["query", "metric", "labels", "at_s", "value"]


def test_prometheus_data_is_a_separate_report(tmp_path: Path) -> None:
    write_window(tmp_path, (0, 10), {"up": [Series({"job": "a"}, [1, 1], 0)]})
    assert "run.metrics_others" in figures_in(make_report(tmp_path).index)
