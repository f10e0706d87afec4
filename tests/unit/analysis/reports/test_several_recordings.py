"""A report of several recordings: the marks of figures that compare labs, and the navigation of a load's recordings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from perfanalysis.drawing.blocks import Note, Section
from perfanalysis.drawing.charts import Figure
from perfanalysis.files.discovery import Lab
from perfanalysis.reports.arrange import arranged
from perfanalysis.reports.content import Content, Group
from perfanalysis.reports.layout import Page
from perfanalysis.reports.run_sections import comparison_figures
from perfanalysis.workloads.run_analysis import analyse_run

SIMULATED, REAL = Lab(simulated=("nodes",)), Lab(real=("model server on a CPU",))


def marks(matrix_run: Path, tmp_path: Path, *labs: Lab) -> tuple[str, ...]:
    """Return the marks of the figure that compares the cells; each cell has another lab."""
    return compared(matrix_run, tmp_path, *labs).marks


def compared(matrix_run: Path, tmp_path: Path, *labs: Lab) -> Figure:
    result = analyse_run(matrix_run, tmp_path / "report")
    analyses = tuple(replace(one, lab=lab) for one, lab in zip(result.analyses, labs, strict=True))
    run = replace(result.run, document={**result.run.document, "lab": None})
    changed = replace(result, run=run, analyses=analyses)
    return comparison_figures(changed)[-1]


def test_marks_of_one_lab_are_those_of_the_run(matrix_run: Path, tmp_path: Path) -> None:
    assert marks(matrix_run, tmp_path, SIMULATED, SIMULATED) == ("simulated: nodes",)


def test_marks_of_several_labs_name_their_recordings(matrix_run: Path, tmp_path: Path) -> None:
    first, second, third = (marks(matrix_run, tmp_path, SIMULATED, lab) for lab in (REAL, Lab(), SIMULATED))
    assert [mark.partition(" (cell ")[0] for mark in first] == ["simulated: nodes", "real: model server on a CPU"]
    assert [mark.partition(" (cell ")[2][:2] for mark in first] == ["0:", "1:"]
    assert second[1].startswith("not on a lab (cell 1: ")
    assert third == ("simulated: nodes",)


def test_short_marks_keep_the_recordings(matrix_run: Path, tmp_path: Path) -> None:
    first, second = compared(matrix_run, tmp_path, SIMULATED, REAL).short_marks
    assert first.startswith("simulated (cell 0: ")
    assert second.startswith("real: model server on a CPU (cell 1: ")


def group(directory: str, section: str) -> Group:
    blocks = (Note("text"),)
    sections = (Section(section, section, "", blocks),)
    return Group(directory, "cell 0: 1 user", {"recording": directory}, directory, sections, detailed=True)


def test_load_and_the_metrics_of_its_server_are_one_entry(tmp_path: Path) -> None:
    groups = (group("a", "requests"), group("a", "model_metrics"), group("b", "requests"))
    page = Page("index", generate=("requests", "model_metrics"))
    passages, _ = arranged(page, Content((), groups), None)
    assert [(one.label, one.directory) for one in passages] == [("cell 0: 1 user", "a"), ("cell 0: 1 user", "b")]
    assert [one.section.name for one in passages[0].sections] == ["requests", "model_metrics"]
