"""Saved responses become a run directory: its figures, its findings, and refused files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import jsonschema
import pytest
from perfanalysis.__main__ import run
from perfanalysis.drawing.charts import Figure
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.run_analysis import analyse_run

from tests.schemas import check, schema_of

FOREIGN = Path(__file__).resolve().parents[3] / "data" / "foreign"
GOOD = ("node_cpu_busy_percent.json", "apiserver_latency_p99_seconds.json")
ANSWER = {"status": "success", "data": {"result": [{"metric": {"a": "b"}, "values": [[1, "2"]]}]}}


def import_files(into: Path, *files: Path | str) -> int:
    paths = [str(FOREIGN / "prometheus" / file if isinstance(file, str) else file) for file in files]
    return run(["import", "prometheus", *paths, "--into", str(into)])


def test_responses_and_dumps_become_a_run_with_figures(tmp_path: Path) -> None:
    assert import_files(tmp_path / "run", *GOOD, FOREIGN / "openmetrics" / "dump.om") == 0
    result = analyse_run(tmp_path / "run", tmp_path / "report")
    assert {finding.text for finding in result.findings} == {
        "no KPIs of node_load: its unit is unknown; name the file after its unit, or import it with "
        "--unit 'node_load=UNIT'",
        "no KPIs of process_cpu_seconds: process_cpu_seconds_total only grows, or is part of a histogram; query "
        "its rate",
    }
    figures = [block for section in result.sections for block in section.blocks if isinstance(block, Figure)]
    assert [figure.name for figure in figures] == ["metrics_nodes", "metrics_control_plane"]
    charts = [chart.title for figure in figures for row in figure.rows for chart in row]
    assert charts == ["Node CPU busy", "node_load", "API server latency P99", "Process CPU"]
    assert run(["report", str(tmp_path / "run")]) == 0


def test_run_records_its_source_and_follows_its_schemas(tmp_path: Path) -> None:
    assert import_files(tmp_path / "run", *GOOD) == 0
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    jsonschema.validate(document, schema_of("run"))
    assert (document["flow"], document["started"]) == ("prometheus", "2026-01-01T00:00:00.000Z")
    assert document["imported"]["from"] == "prometheus"
    (queries,) = (tmp_path / "run").rglob("prometheus_queries.yml")
    asked = json.loads(queries.read_text())
    jsonschema.validate(asked, schema_of("prometheus-queries"))
    assert asked["step_s"] == 15
    assert [(query["series"], query["samples"]) for query in asked["queries"]] == [(3, 229), (2, 82)]


def test_same_files_yield_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_RUNS_DIR", str(tmp_path))
    paths = [str(FOREIGN / "prometheus" / file) for file in GOOD]
    assert run(["import", "prometheus", *paths]) == 0
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("prometheus-20260101T000000Z-")
    assert run(["import", "prometheus", *paths]) == 2


def test_unreadable_file_is_reported_and_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torn = tmp_path / "half.json"
    torn.write_bytes((FOREIGN / "prometheus" / GOOD[0]).read_bytes()[:500])
    assert import_files(tmp_path / "run", GOOD[1], "refused.json", torn, FOREIGN / "openmetrics" / "torn.om") == 5
    errors = capsys.readouterr().err
    assert "refused: the answer cannot be read: not a response with data, but an error: parse error" in errors
    assert "torn.om:18: not OpenMetrics text" in errors
    result = analyse_run(tmp_path / "run", tmp_path / "report")
    assert [finding.text.split(":")[0] for finding in result.findings] == [
        "the query refused failed",
        "the query half failed",
        "the query torn failed",
    ]


@pytest.mark.parametrize(
    ("files", "code", "message"),
    [
        ({"a.json": "[" * 100_000}, 5, "a: the answer cannot be read: nested more than 100 levels deep"),
        (
            {"a.json": json.dumps(ANSWER).replace('"2"', "9" * 400)},
            5,
            "a sample is not a pair of time and value: int too",
        ),
        ({"a.json": json.dumps(ANSWER).replace("[1,", "[1767225600000,")}, 5, "a sample has an invalid time"),
        ({"a.json": '{"data": {"result": []}}'}, 5, "no sample in a.json"),
        ({"a.om": "a 1\n# EOF\n"}, 5, "no sample in a.om"),
        ({"a.om": "a 1 -5\n# EOF\n"}, 5, "no sample in a.om"),
        ({"a.json": json.dumps(ANSWER), "a.txt": json.dumps(ANSWER)}, 2, "have the same name as another"),
    ],
)
def test_input_without_a_run_is_one_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], code: int, message: str
) -> None:
    paths = [tmp_path / name for name in files]
    for path in paths:
        path.write_text(files[path.name])
    assert import_files(tmp_path / "run", *paths) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()


def answer(path: Path, *series: tuple[dict[str, str], Sequence[float | None]]) -> Path:
    """Return a saved response with a sample every 15 s."""
    result = [
        {
            "metric": labels,
            "values": [[15 * at, "NaN" if value is None else str(value)] for at, value in enumerate(values)],
        }
        for labels, values in series
    ]
    path.write_text(json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}}))
    return path


def kpis_of(directory: Path, tmp_path: Path) -> dict[str, KpiValue]:
    (analysis,) = analyse_run(directory, tmp_path / "tables").analyses
    return {kpi.series: kpi for kpi in analysis.kpis}


def test_each_series_has_kpis_in_base_units(tmp_path: Path) -> None:
    """By hand: for 10, 20 … 200 % mean and median are 105 %, P95 is 190.5 %, the largest is 200 %."""
    many = [None, *(10.0 * number for number in range(1, 21))]
    labels = {"__name__": "busy", "job": "node"}
    two = answer(
        tmp_path / "cpu_busy_percent.json",
        ({**labels, "instance": "a"}, many),
        ({**labels, "instance": "b"}, [1.0, 3.0]),
    )
    one = answer(tmp_path / "memory_mebibytes.json", ({"pod": "x-1"}, [1.0, 2.0, 6.0]))
    assert import_files(tmp_path / "run", two, one, "apiserver_latency_p99_seconds.json") == 0
    found = kpis_of(tmp_path / "run", tmp_path)
    numbers = [found[f'cpu_busy_{statistic}{{instance="a"}}'].number for statistic in ("mean", "p50", "p95", "max")]
    assert numbers == pytest.approx([1.05, 1.05, 1.905, 2.0])
    few = found['cpu_busy_p95{instance="b"}']
    assert (few.number, few.reason, few.unit, few.count) == (None, "needs 20 values, found 2", "ratio", 2)
    # Labels that are equal in all series of a query are omitted, because they would separate runs.
    assert (found["memory_mean"].number, found["memory_mean"].unit) == (3.0 * 2**20, "bytes")
    assert {kpi.direction for kpi in found.values()} == {"neither"}
    assert {(kpi.low, kpi.high) for kpi in found.values()} == {(None, None)}


def test_unit_and_direction_come_from_the_import_options(tmp_path: Path) -> None:
    queue = answer(tmp_path / "queue.json", ({}, [4.0, 8.0]))
    wait = answer(tmp_path / "DCGM_FI_DEV_GPU_UTIL.json", ({}, [40.0, 60.0]))
    words = ["import", "prometheus", str(queue), str(wait), "--into", str(tmp_path / "run")]
    assert run([*words, "--unit", "queue=ms", "--lower", "queue", "--higher", "DCGM*"]) == 0
    (queries,) = (tmp_path / "run").rglob("prometheus_queries.yml")
    jsonschema.validate(json.loads(queries.read_text()), schema_of("prometheus-queries"))
    found = kpis_of(tmp_path / "run", tmp_path)
    mean, busy = found["queue_mean"], found["dcgm_fi_dev_gpu_util_mean"]
    assert [mean.number, busy.number] == pytest.approx([0.006, 0.5])
    assert (mean.unit, mean.direction) == ("seconds", "lower")
    assert (busy.unit, busy.direction) == ("ratio", "higher")


def test_too_many_series_yield_no_kpis(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    many = answer(tmp_path / "wait_seconds.json", *(({"pod": str(pod)}, [1.0, 2.0]) for pod in range(51)))
    assert import_files(tmp_path / "run", many) == 0
    result = analyse_run(tmp_path / "run", tmp_path / "tables")
    assert [finding.text for finding in result.findings] == [
        "no KPIs of wait_seconds: it has 51 series; query a sum or an average"
    ]
    capsys.readouterr()


def test_two_imports_can_be_compared_and_stored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, factor in (("first", 1.0), ("second", 2.0)):
        (tmp_path / name).mkdir()
        series = [({"pod": pod}, [factor, 2 * factor, 3 * factor]) for pod in ("a", "b")]
        path = answer(tmp_path / name / "wait_seconds.json", *series)
        assert (
            run(["import", "prometheus", str(path), "--into", str(tmp_path / f"run_{name}"), "--lower", "wait*"]) == 0
        )
    runs = [str(tmp_path / f"run_{name}") for name in ("first", "second")]
    assert run(["compare", *runs, "--output", str(tmp_path / "report")]) == 0
    document = json.loads((tmp_path / "report" / "comparison.json").read_text())
    assert check(document) == "psap.perf/comparison/1"
    values = {kpi["name"]: kpi["values"] for kpi in document["pairs"][0]["kpis"]}
    assert values['wait_mean{pod="b"}'] == [2.0, 4.0]
    assert run(["history", "add", *runs, "--into", str(tmp_path / "h")]) == 0
    ids = [word for word in capsys.readouterr().out.split() if word.startswith("prometheus-")]
    words = ["compare", *ids[-2:], "--history", str(tmp_path / "h"), "--output", str(tmp_path / "report")]
    assert run(words) == 0
    document = json.loads((tmp_path / "report" / "comparison.json").read_text())
    assert {kpi["name"]: kpi["values"] for kpi in document["pairs"][0]["kpis"]} == values
