"""Declared kinds of workloads: their results, and the message for each mistake in a declaration."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from perfanalysis.__main__ import run
from perfanalysis.drawing.charts import Figure
from perfanalysis.errors import UsageError
from perfanalysis.files.typed_yaml import load_typed
from perfanalysis.verdicts.comparison.sides import sampled_of
from perfanalysis.verdicts.thresholds.threshold import declared_measures, measure_of
from perfanalysis.workloads.declared.loading import declaration, load_workload
from perfanalysis.workloads.declared.model import WorkloadDeclared, schema_text
from perfanalysis.workloads.kinds import PYTHON_KINDS, SHIPPED, shipped
from perfanalysis.workloads.run_analysis import AnalysisOptions, RunAnalysis, analyse_run
from perfanalysis.workloads.workload_type import Analysis

from tests.data.downloads import DOWNLOADS, START, write_downloads
from tests.schemas import FOLDER


@pytest.fixture
def kind(tmp_path: Path) -> Path:
    """Return a copy of the kind to change."""
    return Path(shutil.copytree(DOWNLOADS, tmp_path / "kind"))


@pytest.fixture
def recorded_run(tmp_path: Path) -> Path:
    """Return a run of one recording."""
    write_downloads(tmp_path / "run" / "000__download" / "artifacts", 1)
    return tmp_path / "run"


def analyse(recorded_run: Path, kind: Path) -> RunAnalysis:
    return analyse_run(recorded_run, recorded_run / "report", AnalysisOptions(shipped().with_folders([kind])))


def analyse_recording(recorded_run: Path, kind: Path) -> Analysis:
    (analysis,) = analyse(recorded_run, kind).analyses
    return analysis


def rows_of(recorded_run: Path) -> list[dict[str, Any]]:
    folder = recorded_run / "000__download" / "artifacts" / "clients"
    return [json.loads(line) for path in sorted(folder.iterdir()) for line in path.read_text().splitlines()]


def test_kpis_are_computed_from_the_rows(recorded_run: Path) -> None:
    """Compute the KPIs again from the files."""
    rows = rows_of(recorded_run)
    kpis = {value.name: value for value in analyse_recording(recorded_run, DOWNLOADS).kpis}
    took = np.array([row["end"] - row["start"] for row in rows if row["status"] == "ok"])
    assert kpis["transfer_p50"].number == pytest.approx(np.quantile(took, 0.5), abs=1e-9)
    assert kpis["transfers_failed"].number == len(rows) - len(took)
    assert kpis["clients_seen"].number == 3
    span = max(row["end"] for row in rows) - min(row["start"] for row in rows)
    assert kpis["throughput"].number == pytest.approx(sum(row["size_bytes"] for row in rows) / span)
    assert kpis["transfer_p50"].count == len(took)
    assert kpis["transfer_p50"].headline == "Transfer, P50"


def test_statistic_is_declared_and_not_derived_from_the_name(recorded_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "renamed"
    shutil.copytree(DOWNLOADS, folder)
    path = folder / "workload.yml"
    text = path.read_text().replace("transfer_p50", "usual_wait").replace("clients_seen", "clients_p50")
    path.write_text(text.replace("name: transfer_p99", "name: wait_p99"))
    analysis = analyse_recording(recorded_run, folder)
    (sampled,) = sampled_of(analysis)
    assert (sampled.name, sampled.help, sampled.direction) == ("transfer", "Transfer", "lower")
    measures = declared_measures(shipped().with_folders((folder,)))
    assert {"transfer_p90", "transfer_mean", "usual_wait", "wait_p99", "clients_p50"} <= measures.keys()
    assert not {"usual_wait_p90", "wait_p90", "clients_p90", "clients_max"} & measures.keys()
    took = [row["end"] - row["start"] for row in rows_of(recorded_run) if row["status"] == "ok"]
    measured = measure_of(analysis, {})(measures["transfer_mean"])
    assert measured.number == pytest.approx(np.mean(took), abs=1e-9)


def test_statistic_without_values_is_not_judged(recorded_run: Path) -> None:
    shutil.rmtree(recorded_run / "000__download" / "artifacts" / "clients")
    analysis = analyse_recording(recorded_run, DOWNLOADS)
    known = declared_measures(shipped().with_folders((DOWNLOADS,)))
    measured = measure_of(analysis, {})(known["transfer_p90"])
    assert (measured.number, measured.reason) == (None, "no row has transfers.took_s")


def test_percentile_of_too_few_values_is_refused(recorded_run: Path) -> None:
    for path in (recorded_run / "000__download" / "artifacts" / "clients").iterdir():
        path.write_text("".join(f"{line}\n" for line in path.read_text().splitlines()[:2]))
    kpis = {value.name: value for value in analyse_recording(recorded_run, DOWNLOADS).kpis}
    assert (kpis["transfer_p99"].number, kpis["transfer_p99"].reason) == (None, "needs 100 values, found 6")


def test_missing_value_has_its_reason(recorded_run: Path) -> None:
    shutil.rmtree(recorded_run / "000__download" / "artifacts" / "clients")
    analysis = analyse_recording(recorded_run, DOWNLOADS)
    kpis = {value.name: value for value in analysis.kpis}
    assert (kpis["transfer_p50"].number, kpis["transfer_p50"].reason) == (None, "no row has transfers.took_s")
    assert kpis["throughput"].reason == "no transfer has a beginning and an end"
    assert kpis["transfers_failed"].number == 0
    assert analysis.period is None
    texts = [block.text for section in analysis.sections for block in section.blocks if hasattr(block, "text")]
    assert "Durations: no row has these values." in texts


def test_figures_show_the_rows(recorded_run: Path) -> None:
    rows = rows_of(recorded_run)
    analysis = analyse_recording(recorded_run, DOWNLOADS)
    figures = {
        block.name: block for section in analysis.sections for block in section.blocks if isinstance(block, Figure)
    }
    assert list(figures) == ["durations", "over_time", "sizes", "outcomes", "at_once"]
    (chart,) = figures["over_time"].rows[0]
    assert [layer.label for layer in chart.layers] == ["c0", "c1", "c2"]
    assert sum(len(layer.x) for layer in chart.layers) == len(rows)
    assert (chart.x.text, chart.y.text) == ("time since the first (s)", "duration (s)")
    assert min(layer.x.min() for layer in chart.layers) == 0
    (chart,) = figures["outcomes"].rows[0]
    counted = dict(zip(chart.y.categories, chart.layers[0].x, strict=True))
    assert counted == {status: sum(row["status"] == status for row in rows) for status in ("ok", "torn")}
    (chart,) = figures["at_once"].rows[0]
    assert all(layer.y[-1] == 0 for layer in chart.layers)
    assert len(figures["sizes"].rows[0][0].layers[0].x) == sum(row["status"] == "ok" for row in rows)


def test_parser_returns_facts_period_and_samples(recorded_run: Path) -> None:
    analysis = analyse_recording(recorded_run, DOWNLOADS)
    assert analysis.facts == {"server": "server-1"}
    assert analysis.period is not None
    assert START < analysis.period[0] < analysis.period[1]
    assert [(sample.name, sample.of) for sample in analysis.samples] == [("transfer", "transfers")]


def test_all_commands_work_with_the_parser(recorded_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Report, KPIs, tables, thresholds and comparison need only the folder of a kind."""
    option = ["--workload", str(DOWNLOADS)]
    for command in (["report"], ["kpi"], ["tables"], ["parse"], ["judge", "--threshold", "transfer_p90=100"]):
        assert run([*command, str(recorded_run), *option]) == 0, capsys.readouterr().err
    assert run(["compare", str(recorded_run), str(recorded_run), *option]) == 0
    assert "Transfer" in capsys.readouterr().out
    assert run(["measures", *option]) == 0
    assert "transfer_p90" in capsys.readouterr().out
    assert (recorded_run / "report" / "tables" / "downloads_transfers.parquet").is_file()
    assert run(["report", str(recorded_run)]) == 2


def test_option_is_read_from_the_environment(recorded_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PERFANALYSIS_WORKLOADS", str(DOWNLOADS))
    assert run(["kpi", str(recorded_run)]) == 0


def test_kind_passed_to_a_command_is_known_there_only() -> None:
    assert "downloads.json" in shipped().with_folders([DOWNLOADS]).markers
    assert "downloads.json" not in shipped().markers


def test_two_kinds_in_one_folder_are_two_recordings(recorded_run: Path, kind: Path) -> None:
    for file, old, new in (
        ("workload.yml", "name: downloads", "name: others"),
        ("workload.yml", "marker: downloads.json", "marker: other.json"),
    ):
        path = kind / file
        path.write_text(path.read_text().replace(old, new, 1))
    (recorded_run / "000__download" / "artifacts" / "other.json").write_text("{}")
    result = analyse_run(
        recorded_run, recorded_run / "report", AnalysisOptions(shipped().with_folders([DOWNLOADS, kind]))
    )
    assert [analysis.place.name for analysis in result.analyses] == ["000__download.downloads", "000__download.other"]
    assert len({str(labels) for labels, _ in result.labelled_kpis()}) == 2


def test_records_of_other_types_are_counted(recorded_run: Path) -> None:
    path = recorded_run / "000__download" / "artifacts" / "clients" / "c1.jsonl"
    path.write_text(path.read_text() + '{"client": 7}\n[1]\nnot json\n{"client": "c1", "size_bytes": "many"}\n')
    found = [finding.text for finding in analyse(recorded_run, DOWNLOADS).findings if finding.severity == "error"]
    assert found == [
        "2 entries are not JSON objects and were left out",
        "2 rows of transfers do not have the declared types and were left out",
    ]


def test_unsupported_selection_is_reported(recorded_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(recorded_run), "--first", "3", "--workload", str(DOWNLOADS)]) == 0
    assert "a downloads has no order of submission: all of it is shown, not only the first 3" in capsys.readouterr().err


def test_several_statistics_yield_one_kpi_each(recorded_run: Path, kind: Path) -> None:
    path = kind / "workload.yml"
    path.write_text(
        path.read_text().replace(
            "{name: clients_seen, help: Clients that sent anything, unit: count, direction: neither, "
            "of: transfers.client, statistic: distinct}",
            "{name: took, help: Time of a transfer, unit: seconds, direction: lower, of: transfers.took_s, "
            "statistic: [p90, p99, max], headline: Took}",
        )
    )
    kpis = [value for value in analyse_recording(recorded_run, kind).kpis if value.name.startswith("took_")]
    assert [(value.name, value.help, value.headline) for value in kpis] == [
        ("took_p90", "P90 of time of a transfer", None),
        ("took_p99", "P99 of time of a transfer", "Took"),
        ("took_max", "Largest of time of a transfer", None),
    ]


def test_simulated_recording_is_marked_on_every_figure(recorded_run: Path) -> None:
    path = recorded_run / "000__download" / "artifacts" / "downloads.json"
    path.write_text(json.dumps({"servers": [], "lab": {"simulated": ["servers"]}}))
    result = analyse(recorded_run, DOWNLOADS)
    assert result.lab.phrases == ("simulated: servers",)
    blocks = [block for section in result.analyses[0].sections for block in section.blocks]
    assert {block.marks for block in blocks if isinstance(block, Figure)} == {("simulated: servers",)}


# -- mistakes in workload.yml

TRANSFER = "{name: transfer_p99, help: p99 of a transfer's duration, unit: seconds, direction: lower,"
MATRIX = "matrix: [{name: sizes, title: Sizes, "
MISTAKES = [
    ("title: Downloads", "titel: Downloads", 3, "unknown key titel in the file; did you mean title?"),
    ("version: 1", "version: one", 4, "version must be a whole number, not 'one'"),
    ("version: 1", "", 1, "the file downloads has no version"),
    ("schema: psap.perf/workload/1", "schema: psap.perf/workload/2", 1, "schema cannot be psap.perf/workload/2"),
    ("name: downloads", "name: Down loads", 1, "invalid name 'Down loads'"),
    ("marker: downloads.json", "marker: '*.json'", 1, "marker '*.json' must be the plain name of one file"),
    ('"clients/*.jsonl"]', "../x]", 1, "files has '../x'; use names below the recording's directory"),
    ("kind: integer, unit: bytes", "kind: bytes, unit: bytes", 15, "kind cannot be bytes; known: time, number"),
    ("{name: took_s,", "{name: size_bytes,", 15, "size_bytes is declared twice"),
    (TRANSFER, TRANSFER.replace(" unit: seconds,", ""), 27, "an entry of kpis transfer_p99 has no unit"),
    (TRANSFER, TRANSFER.replace(" direction: lower,", ""), 27, "an entry of kpis transfer_p99 has no direction"),
    (TRANSFER, TRANSFER.replace("lower", "less"), 27, "direction cannot be less; known: higher, lower, neither"),
    (TRANSFER, TRANSFER.replace("seconds", "parsecs"), 27, "unit"),
    ("statistic: p99", "statistic: p999", 27, "statistic cannot be p999; did you mean p99?"),
    ("of: transfers.client, statistic: distinct", "of: transfers.cleint, statistic: distinct", 29,
     "table transfers has no column cleint; did you mean client?"),
    ("of: transfers.client, statistic: distinct", "of: transfer.client, statistic: distinct", 29,
     "'transfer.client' is not a declared table.column; tables: did you mean transfers?"),
    ("of: transfers.client, statistic: distinct", "of: transfers.client, statistic: mean", 29,
     "transfers.client is of kind text; here it must be number or integer or time"),
    ("of: transfers.client, statistic: distinct", "of: transfers.client", 29, "KPI clients_seen has no statistic"),
    ("of: transfers.client, statistic: distinct", "statistic: []", 29, "KPI clients_seen has no statistic"),
    ("where: {status: [refused, torn]}", "where: {state: torn}", 28, "table transfers has no column state"),
    ('"parser:throughput"', '"parser:thruput"', 30, "parser.py has no function thruput"),
    ('"parser:throughput"', "throughput", 30, "function 'throughput': write parser:name"),
    ("y: transfers.took_s, by", "by", 35, "plot over_time of kind points has no y"),
    ("of: transfers.took_s}", "of: transfers.took_s, y: transfers.took_s}", 34, "kind distribution cannot have y"),
    ("concurrency, begin: transfers.started_s", "concurrency, begin: transfers.took_s", 38, "here it must be time"),
    ("kind: line", "kind: curve", 36, "kind cannot be curve; known: distribution, points, line, bars"),
    ("x: transfers.started_s, y: transfers.size_bytes", "x: transfers.started_s, y: servers.server", 36, "must be"),
    ("shown: [servers]", "shown: [server]", 1, "shown has no table server; did you mean servers?"),
    ("shown: [servers]", "shown: [servers", 40, "no YAML"),
    ("shown: [servers]", "shown: [servers]\nshown: []", 40, "the file has the key shown twice"),
    ("period: {begin: transfers.started_s", "period: {begin: transfers.size_bytes", 24, "here it must be time"),
    ("statistic: p99, where", "statistic: p99, by: transfers.size_bytes, where", 27, "here it must be text"),
    ("statistic: p99, where", "statistic: p99, by: servers.server, where", 27, "not a column of the table of"),
    ('"parser:throughput"', '"parser:throughput", by: transfers.status', 30, "remove statistic, where and by"),
    ("kind: line", "kind: line, trend: true", 36, "plot sizes of kind line cannot have trend"),
    ("kind: bars, of: transfers.client", "kind: bars, of: [transfers.client, transfers.status]", 37, "one column"),
    ("shown: [servers]", f"{MATRIX}over: transfers.status, kpis: [throughput]}}]", 39, "must be number or integer"),
    ("shown: [servers]", f"{MATRIX}over: transfers.size_bytes, kpis: [thruput]}}]", 39, "did you mean throughput?"),
    ("shown: [servers]", f"{MATRIX}over: transfers.size_bytes, kpis: []}}]", 39, "plot sizes has no kpis"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "text"), MISTAKES, ids=lambda value: str(value)[:40])
def test_mistake_is_reported_with_its_line(kind: Path, recorded_run: Path, old: str, new: str, line: int, text: str,
                                         capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    path = kind / "workload.yml"
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    assert run(["report", str(recorded_run), "--workload", str(kind)]) == 2
    error = capsys.readouterr().err
    assert error.startswith(f"Error: {path}:{line}: "), error
    assert text in error
    assert error.count("\n") == 1


PARSERS = [
    ("def parse(", "def pars(", r"parser\.py: add a function parse"),
    ("from typing import Any", "from typing import Anything", r"parser\.py:5: ImportError"),
    ("    transfers = []", "    transfers = [", r"parser\.py:\d+: SyntaxError"),
]


@pytest.mark.parametrize(("old", "new", "pattern"), PARSERS)
def test_parser_that_does_not_load_is_reported(kind: Path, old: str, new: str, pattern: str) -> None:
    path = kind / "parser.py"
    path.write_text(path.read_text().replace(old, new, 1))
    with pytest.raises(UsageError, match=pattern):
        load_workload(kind)


def test_folder_without_parser_or_declaration_is_reported(kind: Path, tmp_path: Path) -> None:
    (kind / "parser.py").unlink()
    with pytest.raises(UsageError, match=r"parser\.py does not exist; add it with a function parse"):
        load_workload(kind)
    with pytest.raises(UsageError, match=r"workload\.yml does not exist"):
        load_workload(tmp_path)
    (kind / "workload.yml").write_text("")
    with pytest.raises(UsageError, match="the file is empty; required: schema, name"):
        load_workload(kind)


def test_two_folders_with_one_marker_are_refused(kind: Path) -> None:
    with pytest.raises(UsageError, match=r"has the marker downloads\.json too"):
        shipped().with_folders([DOWNLOADS, kind])


def test_failing_parser_loses_its_recording_only(recorded_run: Path, kind: Path) -> None:
    shutil.copytree(recorded_run / "000__download", recorded_run / "001__download")
    path = kind / "parser.py"
    path.write_text(
        path.read_text().replace(
            "    transfers = []", '    transfers = [] if "000" in source.place.relative else 1 / 0'
        )
    )
    result = analyse(recorded_run, kind)
    assert [analysis.place.relative for analysis in result.analyses] == ["000__download/artifacts"]
    (error,) = [finding for finding in result.findings if finding.severity == "error"]
    assert error.where == "001__download/artifacts"
    assert re.search(r"its parser failed at .*parser\.py:\d+: ZeroDivisionError", error.text)


@pytest.mark.parametrize(
    ("returned", "text"),
    [
        ('{"transfers": transfers}', "parse must return a mapping with the tables transfers, servers, not transfers"),
        ("[]", "parse must return a mapping with the tables transfers, servers, not list"),
    ],
)
def test_parser_that_returns_other_tables_is_reported(recorded_run: Path, kind: Path, returned: str, text: str) -> None:
    path = kind / "parser.py"
    path.write_text(path.read_text().replace('{"transfers": transfers, "servers": servers}', returned))
    with pytest.raises(UsageError, match=re.escape(text)):
        analyse(recorded_run, kind)


FUNCTIONS: list[tuple[str, str]] = [
    ('return float("nan")', "throughput returned nan, which is not a finite number"),
    ("return None", "throughput returned None, which is not a finite number"),
    ("raise KeyError('x')", "throughput failed: KeyError: 'x'"),
]


@pytest.mark.parametrize(("body", "reason"), FUNCTIONS)
def test_function_without_a_number_is_null_with_a_reason(
    recorded_run: Path, kind: Path, body: str, reason: str
) -> None:
    path = kind / "parser.py"
    path.write_text(path.read_text().replace("    ends, starts =", f"    {body}\n    ends, starts ="))
    kpis = {value.name: value for value in analyse_recording(recorded_run, kind).kpis}
    assert (kpis["throughput"].number, kpis["throughput"].reason) == (None, reason)


def test_data_frames_are_conformed(recorded_run: Path, kind: Path) -> None:
    path = kind / "parser.py"
    text = path.read_text().replace(
        '{"transfers": transfers, "servers": servers}',
        '{"transfers": __import__("pandas").DataFrame(transfers), "servers": servers}',
    )
    path.write_text(text)
    first, second = analyse_recording(recorded_run, kind), analyse_recording(recorded_run, DOWNLOADS)
    pd.testing.assert_frame_equal(first.frames["downloads_transfers"], second.frames["downloads_transfers"])


# -- the shipped kinds

CODE_LINES = 30


def code_lines(path: Path) -> int:
    """Return the number of lines of code: without comments, docstrings, imports for types and empty lines."""
    import ast

    tree = ast.parse(path.read_text())
    strings = (ast.Module, ast.FunctionDef, ast.ClassDef)
    docs = [node.body[0] for node in ast.walk(tree) if isinstance(node, strings) and ast.get_docstring(node)]
    docstring_lines = {line for node in docs for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}
    lines = enumerate(path.read_text().splitlines(), start=1)
    return sum(
        1
        for number, line in lines
        if number not in docstring_lines and line.strip() and not line.strip().startswith("#")
    )


@pytest.mark.parametrize(
    "folder", [DOWNLOADS, *sorted(path.parent for path in SHIPPED.glob("*/workload.yml"))], ids=str
)
def test_every_shipped_kind_loads_and_is_small(folder: Path) -> None:
    declared = declaration(folder)
    assert folder.name == declared.name
    assert load_workload(folder).kpis
    assert code_lines(folder / "parser.py") <= CODE_LINES


def test_every_kind_is_registered() -> None:
    assert len(shipped().all) == len(PYTHON_KINDS) + len(list(SHIPPED.glob("*/workload.yml")))


def test_schema_matches_the_types() -> None:
    stored = (FOLDER / "workload-1.json").read_text()
    assert stored == schema_text(), "python -m perfanalysis.workloads.declared.model > docs/schema/workload-1.json"


@pytest.mark.parametrize("change", [None, "unknown key"])
def test_schema_agrees_with_the_reader(kind: Path, change: str | None) -> None:
    import jsonschema
    import yaml

    path = kind / "workload.yml"
    document = yaml.safe_load(path.read_text())
    validate: Callable[[object], None] = jsonschema.Draft202012Validator(
        json.loads((FOLDER / "workload-1.json").read_text())
    ).validate
    if change is None:
        validate(document)
        return
    path.write_text(f"{path.read_text()}\nmore: 1\n")
    with pytest.raises(jsonschema.ValidationError):
        validate({**document, "more": 1})
    with pytest.raises(UsageError):
        load_typed(path, WorkloadDeclared)
