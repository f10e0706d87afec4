"""report.yml: the contents of a report, and refusals with file and line."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml
from perfanalysis.__main__ import run
from perfanalysis.drawing.blocks import Note
from perfanalysis.errors import UsageError
from perfanalysis.files.typed_yaml import json_schema
from perfanalysis.reports.content import Content, content_of
from perfanalysis.reports.layout import SCHEMA, Layout, catalogue, default_layout, known_names, read_layout
from perfanalysis.reports.writing import ReportPaths, Wanted, make_report
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.fine_tuning_runs import Training, write_tuning_run
from tests.data.synthetic_runs import Shape, write_run
from tests.unit.analysis.pages import figures_in

pytestmark = pytest.mark.slow

SCHEMA_FILE = Path(__file__).resolve().parents[4] / "docs" / "schema" / "report-1.json"


def layout_of(folder: Path, *pages: str) -> Path:
    """Return a report.yml of some pages, each a mapping in YAML's short form."""
    path = folder / "report.yml"
    lines = [f"schema: {SCHEMA}", "visualize:", *(f"  - {page}" for page in pages)]
    path.write_text("\n".join(lines) + "\n")
    return path


def report(directory: Path, *pages: str) -> ReportPaths:
    return make_report(directory, wanted=Wanted(layout_of(directory.parent, *pages)))


def headings(page: Path) -> list[str]:
    """Return headings of sections and recordings, in order, without their links."""
    found = re.findall(r"<h2[^>]*>(.*?)</h2>", page.read_text())
    return [re.sub(r"<a.*?</a>", "", text).strip() for text in found]


def test_sections_and_plots_follow_the_requested_order(small_run: Path) -> None:
    paths = report(small_run, "{id: index, generate: [settings, gpus, general, latency_per_step]}")
    assert headings(paths.index) == ["Settings", "GPU occupation", "Latency", "Percentiles"]
    assert figures_in(paths.index) == ["gpus", "general"]
    # One of the tables of Percentiles
    assert "Client&#39;s clock beside" not in paths.index.read_text()


def test_pattern_selects_plots_and_rest_the_others(small_run: Path) -> None:
    paths = report(small_run, '{id: index, generate: ["g*", "*", kpis]}')
    found = headings(paths.index)
    assert found[0] == "GPU occupation"
    assert found[-1] == "KPIs"
    assert len(found) == len(set(found))
    assert {"Latency", "Settings", "Versions", "Throughput"} <= set(found)


def test_custom_heading_is_used(small_run: Path) -> None:
    part = '{section: At a glance, text: "For the weekly meeting.", generate: [general, concurrency]}'
    page = report(small_run, f"{{id: weekly, title: Weekly, generate: [{part}]}}").index
    assert page.name == "weekly.html"
    assert headings(page) == ["At a glance"]
    assert figures_in(page) == ["general", "concurrency"]
    text = page.read_text()
    assert "For the weekly meeting." in text
    assert "<h1>Weekly</h1>" in text
    assert (page.parent / "weekly.md").read_text().startswith("# Weekly\n")


def test_one_file_defines_several_reports(matrix_run: Path) -> None:
    first = "{id: index, generate: [comparison]}"
    second = "{id: jobs, where: {workload_kind: Job}, generate: [general, kpis]}"
    paths = report(matrix_run, first, second)
    assert [(page.name, twin.name) for page, twin in paths.pages] == [
        ("index.html", "report.md"),
        ("jobs.html", "jobs.md"),
    ]
    jobs = paths.pages[1][0]
    assert figures_in(jobs) == ["cell_0.general"]
    assert "PyTorchJob" not in jobs.read_text()
    assert figures_in(paths.index) == ["compared.distributions"]


@pytest.mark.parametrize(
    ("where", "cells"),
    [
        ("{workload_kind: PyTorchJob}", ["cell_1"]),
        ("{scale_test_workload_kind: [Job, PyTorchJob]}", ["cell_0", "cell_1"]),
        ('{workload_kind: "*job", workloads: 20}', ["cell_1"]),
        ("{cell: 0}", ["cell_0"]),
    ],
)
def test_recordings_are_filtered(matrix_run: Path, where: str, cells: list[str]) -> None:
    page = report(matrix_run, f"{{id: index, generate: [{{generate: [gpus], where: {where}}}]}}").index
    assert figures_in(page) == [f"{cell}.gpus" for cell in cells]


def test_figures_show_only_the_filtered_recordings(tmp_path: Path) -> None:
    jobs = [Training(model, gpus) for model in ("tiny-1b", "small-3b") for gpus in (1, 2)]
    directory = write_tuning_run(tmp_path, jobs)
    paths = report(directory, '{id: tiny, where: {model: "tiny-*"}, generate: [losses, results_of_every_cell, kpis]}')
    text = paths.index.read_text()
    assert "tiny-1b" in text
    assert "small-3b" not in text
    assert figures_in(paths.index) == ["tiny.compared.losses"]


def test_filter_without_match_is_reported(matrix_run: Path) -> None:
    paths = report(matrix_run, "{id: index, where: {workload_kind: MPIJob}, generate: [general]}")
    texts = [finding.text for finding in paths.findings]
    assert "no recording has workload_kind: MPIJob" in texts
    assert "This run has none of the requested items." in paths.index.read_text()


def test_absent_data_is_a_note(small_run: Path) -> None:
    paths = report(small_run, "{id: index, generate: [errors, queues, scaling, general]}")
    assert [finding.text for finding in paths.findings] == [
        "this run has no queues",
        "this run has no scaling",
    ]
    assert headings(paths.index) == ["Latency"]


@pytest.mark.parametrize(
    ("pages", "line", "words"),
    [
        (["{id: index, generate: [generl]}"], 3, "no section or block is called generl; did you mean general?"),
        (["{id: index, generate: [gpus]}", "{id: b, generate: [latency.genral]}"], 4, "did you mean general?"),
        (["{id: index, generate: [gpus], filters: {}}"], 3, "unknown key filters"),
        (["{id: index, generate: [gpus], where: {workload: x}}"], 3, "no recording has a workload to filter by"),
        (["{id: index}"], 3, "has no generate"),
        (["{id: comparison, generate: [gpus]}"], 3, "invalid report id"),
        (["{id: ../up, generate: [gpus]}"], 3, "invalid report id"),
        (["{id: a, generate: [gpus]}", "{id: a, generate: [gpus]}"], 4, "two reports have the id a"),
        (["{id: index, generate: gpus}"], 3, "must be a list"),
    ],
)
def test_mistakes_are_reported_with_their_line(small_run: Path, pages: list[str], line: int, words: str) -> None:
    with pytest.raises(UsageError) as caught:
        report(small_run, *pages)
    assert f"report.yml:{line}: " in str(caught.value)
    assert words in str(caught.value)
    assert not (small_run / "report" / "index.html").exists()


@pytest.mark.parametrize("text", ["", "- a", "schema: psap.perf/report/2\nvisualize: []", "{", "\x00", "a: *b"])
def test_files_of_other_formats_are_refused(small_run: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = small_run.parent / "report.yml"
    path.write_text(text)
    assert run(["report", str(small_run), "--layout", str(path)]) == 2
    assert capsys.readouterr().err.startswith(f"Error: {path}")


def test_plots_are_listed(small_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["report", str(small_run), "--list-plots"]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["SECTION", "NAME", "WHAT", "TITLE"]
    assert ["latency", "general", "plot", "Latency", "over", "time"] in lines
    assert ["queues", "queues", "not", "in", "this", "run", "of", "the", "kind", "scale_test"] in lines
    assert not (small_run / "report" / "index.html").exists()


def test_shipped_layout_shows_everything(tmp_path: Path) -> None:
    directory = write_run(tmp_path, [Shape(workloads=60, nodes=4, pods=2, duration=3.0, everything=True)])
    content = content_of(analyse_run(directory, directory / "report"), directory / "report")
    everything = [section.title for section in (*content.sections, *content.groups[0].sections)]
    assert sorted(headings(make_report(directory).index)) == sorted(everything)
    [page] = default_layout().visualize
    assert page.id == "index"


def names_of(content: Content) -> set[tuple[str, str]]:
    sections = [*content.sections, *(section for group in content.groups for section in group.sections)]
    blocks = ((section, block) for section in sections for block in section.blocks)
    return {(section.name, block.name) for section, block in blocks if not isinstance(block, Note)}


def test_known_names_equal_those_in_reports(tmp_path: Path) -> None:
    """A layout may name everything that any run can show, even if this run does not have it."""
    shape = Shape(workloads=80, nodes=4, pods=2, duration=3.0, failing=0.1, everything=True)
    scale = write_run(tmp_path, [shape, shape], status="failed")
    tuning = write_tuning_run(tmp_path, [Training(gpus=1), Training(gpus=2), Training(gpus=1, outcome="failed")])
    known = {(section, name) for of in catalogue().values() for section, names in of.items() for name in names}
    for directory in (scale, tuning):
        found = names_of(content_of(analyse_run(directory, directory / "report"), directory / "report"))
        assert found - known == set()
    assert "general" in known_names()


def test_schema_matches_the_types() -> None:
    made = json_schema(Layout, SCHEMA)
    assert json.loads(SCHEMA_FILE.read_text()) == made
    shipped = {"id": "index", "generate": ["a", {"generate": ["b"], "where": {"cell": [1, 2]}}]}
    jsonschema.validate({"schema": SCHEMA, "visualize": [shipped]}, made)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(yaml.safe_load("{schema: psap.perf/report/1, visualize: [{id: a, filters: b}]}"), made)


def test_example_of_the_page_is_valid(tmp_path: Path) -> None:
    text = (SCHEMA_FILE.parents[1] / "reports.md").read_text()
    example = tmp_path / "report.yml"
    example.write_text(text.split("```yaml\n")[1].split("```")[0])
    layout = read_layout(example)
    assert [page.stem[0] for page in layout.visualize] == ["index.html", "small-models.html"]
    names = {name for page in layout.visualize for part in page.entries for name in part.generate}
    assert names - known_names() == {"*"}
