"""Answers that someone saved become a run directory: its figures, its findings, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from perfanalysis.__main__ import run
from perfanalysis.charts.model import Figure
from perfanalysis.pipeline import analyse_run

from tests.schemas import schema_of

FOREIGN = Path(__file__).resolve().parents[2] / "data" / "foreign"
GOOD = ("node_cpu_busy_percent.json", "apiserver_latency_p99_seconds.json")
ANSWER = {"status": "success", "data": {"result": [{"metric": {"a": "b"}, "values": [[1, "2"]]}]}}


def imported(into: Path, *files: Path | str) -> int:
    paths = [str(FOREIGN / "prometheus" / file if isinstance(file, str) else file) for file in files]
    return run(["import", "prometheus", *paths, "--into", str(into)])


def test_answers_and_dumps_become_a_run_with_figures(tmp_path: Path) -> None:
    assert imported(tmp_path / "run", *GOOD, FOREIGN / "openmetrics" / "dump.om") == 0
    result = analyse_run(tmp_path / "run", tmp_path / "report")
    assert result.findings == ()
    figures = [block for section in result.sections for block in section.blocks if isinstance(block, Figure)]
    assert [figure.name for figure in figures] == ["metrics_nodes", "metrics_control_plane"]
    charts = [chart.title for figure in figures for row in figure.rows for chart in row]
    assert charts == ["Node CPU busy", "node_load", "API server latency P99", "Process CPU"]
    assert run(["report", str(tmp_path / "run")]) == 0


def test_the_run_says_where_it_came_from_and_follows_its_schemas(tmp_path: Path) -> None:
    assert imported(tmp_path / "run", *GOOD) == 0
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    jsonschema.validate(document, schema_of("run"))
    assert (document["flow"], document["started"]) == ("prometheus", "2026-01-01T00:00:00.000Z")
    assert document["imported"]["from"] == "prometheus"
    (queries,) = (tmp_path / "run").rglob("prometheus_queries.yml")
    asked = json.loads(queries.read_text())
    jsonschema.validate(asked, schema_of("prometheus-queries"))
    assert asked["step_s"] == 15
    assert [(query["series"], query["samples"]) for query in asked["queries"]] == [(3, 229), (2, 82)]


def test_the_same_files_give_the_same_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERF_RUNS_DIR", str(tmp_path))
    paths = [str(FOREIGN / "prometheus" / file) for file in GOOD]
    assert run(["import", "prometheus", *paths]) == 0
    (made,) = tmp_path.iterdir()
    assert made.name.startswith("prometheus-20260101T000000Z-")
    assert run(["import", "prometheus", *paths]) == 2


def test_a_file_that_cannot_be_read_is_named_and_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torn = tmp_path / "half.json"
    torn.write_bytes((FOREIGN / "prometheus" / GOOD[0]).read_bytes()[:500])
    assert imported(tmp_path / "run", GOOD[1], "refused.json", torn, FOREIGN / "openmetrics" / "torn.om") == 5
    told = capsys.readouterr().err
    assert "refused: the answer cannot be read: it is no answer, but an error: parse error" in told
    assert "torn.om:18: it is no OpenMetrics text" in told
    result = analyse_run(tmp_path / "run", tmp_path / "report")
    assert [finding.text.split(":")[0] for finding in result.findings] == [
        "the query refused was not answered",
        "the query half was not answered",
        "the query torn was not answered",
    ]


@pytest.mark.parametrize(
    ("files", "code", "message"),
    [
        ({"a.json": "[" * 100_000}, 5, "a: the answer cannot be read: it is nested too deeply"),
        ({"a.json": json.dumps(ANSWER).replace('"2"', "9" * 400)}, 5, "a sample is no pair of time and value: int too"),
        ({"a.json": json.dumps(ANSWER).replace("[1,", "[1767225600000,")}, 5, "a sample has a time that is none"),
        ({"a.json": '{"data": {"result": []}}'}, 5, "a.json: there is no sample in it"),
        ({"a.om": "a 1\n# EOF\n"}, 5, "a.om: there is no sample in it"),
        ({"a.om": "a 1 -5\n# EOF\n"}, 5, "a.om: there is no sample in it"),
        ({"a.json": json.dumps(ANSWER), "a.txt": json.dumps(ANSWER)}, 2, "would have the name of another"),
    ],
)
def test_what_gives_no_run_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], code: int, message: str
) -> None:
    paths = [tmp_path / name for name in files]
    for path in paths:
        path.write_text(files[path.name])
    assert imported(tmp_path / "run", *paths) == code
    assert message in capsys.readouterr().err
    assert not (tmp_path / "run").exists()
