"""Declared kinds: KPIs and samples for each value of a column, stacks, coloured waterfalls, trends, and matrices."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from perfanalysis.drawing.charts import Chart, Figure
from perfanalysis.verdicts.comparison.sides import sampled_of
from perfanalysis.workloads.kinds import shipped
from perfanalysis.workloads.run_analysis import AnalysisOptions, RunAnalysis, analyse_run

from tests.data.downloads import DOWNLOADS

ADDED = """
matrix:
  - {name: by_clients, title: Over clients, over: counts.clients, kpis: [client_max, clients_seen]}
plots:
  - {name: stack, title: Stack, kind: stack, begin: transfers.started_s, end: transfers.ended_s, by: transfers.status}
  - {name: lines, title: Lines, kind: waterfall, begin: transfers.started_s, end: transfers.ended_s,
     by: transfers.client, of: transfers.status}
  - {name: trend, title: Trend, kind: points, x: transfers.size_bytes, y: transfers.took_s, by: transfers.client,
     trend: true}
"""
KPIS = """
  - {name: client, help: Time, unit: seconds, direction: lower, of: transfers.took_s, statistic: [p50, max],
     by: transfers.client, where: {status: ok}}
"""
SAMPLES = """
  - {name: client, label: Client, unit: seconds, of: transfers.took_s, by: transfers.client, where: {status: ok}}
"""
COUNTS = """
  counts:
    help: One row
    columns: [{name: clients, kind: integer, help: clients}]
"""
TRANSFERS = [
    ("a b", 0.0, 2.0, 1, "ok"),
    ("a b", 3.0, 7.0, 2, "ok"),
    ("a b", 7.0, 9.0, 4, "torn"),
    ("c", 1.0, 9.0, 3, "ok"),
]


@pytest.fixture
def kind(tmp_path: Path) -> Path:
    folder = Path(shutil.copytree(DOWNLOADS, tmp_path / "kind"))
    text = (folder / "workload.yml").read_text()
    text = text[: text.index("plots:")] + ADDED.lstrip()
    text = text.replace("\nkpis:\n", f"\nkpis:{KPIS}", 1).replace("\nsamples:\n", f"\nsamples:{SAMPLES}", 1)
    (folder / "workload.yml").write_text(text.replace("\nfacts:", f"{COUNTS}facts:", 1))
    parser = (folder / "parser.py").read_text()
    row = '"counts": [{"clients": len({one["client"] for one in transfers})}]'
    (folder / "parser.py").write_text(parser.replace('"servers":', f'{row}, "servers":', 1))
    return folder


def recording(place: Path, transfers: list[tuple[str, float, float, int, str]]) -> None:
    (place / "clients").mkdir(parents=True)
    (place / "downloads.json").write_text(json.dumps({"servers": [{"server": "s"}]}))
    names = ("client", "start", "end", "size_bytes", "status")
    text = "".join(f"{json.dumps(dict(zip(names, one, strict=True)))}\n" for one in transfers)
    (place / "clients" / "all.jsonl").write_text(text)


def analyse(run: Path, kind: Path) -> RunAnalysis:
    return analyse_run(run, run / "report", AnalysisOptions(shipped().with_folders([kind])))


def chart_of(result: RunAnalysis, name: str) -> Chart:
    (analysis,) = result.analyses
    blocks = (block for section in analysis.sections for block in section.blocks if isinstance(block, Figure))
    ((chart,),) = next(figure.rows for figure in blocks if figure.name == name)
    return chart


@pytest.fixture
def result(tmp_path: Path, kind: Path) -> RunAnalysis:
    recording(tmp_path / "run" / "000__download", TRANSFERS)
    return analyse(tmp_path / "run", kind)


def test_kpi_and_sample_exist_for_each_value(result: RunAnalysis) -> None:
    (analysis,) = result.analyses
    found = {value.series: value.number for value in analysis.kpis if value.name.startswith("client_")}
    assert found == {
        'client_p50{client="a b"}': 3,
        'client_p50{client="c"}': None,
        'client_max{client="a b"}': 4,
        'client_max{client="c"}': 8,
    }
    samples = {sample.name: sample.label for sample in analysis.samples}
    assert samples["client_a_b"] == "Client: a b"
    directions = {sampled.name: sampled.direction for sampled in sampled_of(analysis)}
    assert (directions["client_a_b"], directions["client_c"]) == ("lower", "lower")


def test_stack_adds_the_numbers_in_order_of_their_start(result: RunAnalysis) -> None:
    ok, torn = chart_of(result, "stack").layers
    assert (ok.label, torn.label) == ("ok", "torn")
    assert ok.x.tolist() == [0, 1, 2, 3, 7, 9]
    assert ok.y.tolist() == [1, 2, 1, 2, 1, 0]
    assert torn.low is not None
    assert torn.low.tolist() == ok.y.tolist()
    assert torn.y.tolist() == [1, 2, 1, 2, 2, 0]


def test_coloured_waterfall_has_a_line_for_each_value(result: RunAnalysis) -> None:
    chart = chart_of(result, "lines")
    assert chart.y.categories == ("a b", "c")
    assert [(layer.label, layer.y.tolist()) for layer in chart.layers] == [("ok", [0, 0, 1]), ("torn", [0])]


def test_trend_is_drawn_through_all_points(result: RunAnalysis) -> None:
    *_, trend = chart_of(result, "trend").layers
    x, y = np.array([1, 2, 4, 3]), np.array([2, 4, 2, 8])
    slope, intercept = np.polyfit(x, y, 1)
    assert trend.y.tolist() == pytest.approx([intercept + slope, intercept + 4 * slope])
    assert trend.label.startswith(f"trend: {slope:+.3g} ± ")


def test_matrix_draws_kpis_over_a_number_of_each_recording(tmp_path: Path, kind: Path) -> None:
    run = tmp_path / "run"
    recording(run / "000__download", TRANSFERS[:1])
    recording(run / "001__download", TRANSFERS)
    (figure,) = analyse(run, kind).figures
    times, counts = figure.rows[0]
    assert [(layer.label, layer.x.tolist(), layer.y.tolist()) for layer in times.layers] == [
        ("a b", [1, 2], [2, 4]),
        ("c", [2], [8]),
    ]
    assert (times.x.text, times.y.text, counts.y.text) == ("clients", "client, max (s)", "clients seen (count)")


def test_recordings_at_one_place_of_a_matrix_have_no_figure(tmp_path: Path, kind: Path) -> None:
    run = tmp_path / "run"
    recording(run / "000__download", TRANSFERS)
    recording(run / "001__download", TRANSFERS)
    assert analyse(run, kind).figures == ()
