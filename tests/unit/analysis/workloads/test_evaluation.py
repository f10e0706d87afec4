"""The kind of an evaluation of a served model."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.evaluations import write_evaluation


def analysed(place: Path) -> RunAnalysis:
    return analyse_run(place, place / "out")


def test_accuracy_has_an_interval_of_standard_errors(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "000__cell")
    result = analysed(tmp_path)
    (analysis,) = result.analyses
    (kpi,) = analysis.kpis
    assert [kpi.number, kpi.low, kpi.high] == pytest.approx([0.75, 0.652, 0.848])
    assert analysis.facts["task"] == "words"
    assert list(analysis.frames["evaluation_tasks"]["verdict"]) == ["accurate"]
    assert [finding for finding in result.findings if finding.where.endswith("evaluation.json")] == []


def test_model_below_its_minimum_is_marked_as_wrong(tmp_path: Path) -> None:
    write_evaluation(tmp_path / "000__cell", accuracy=0.25)
    result = analysed(tmp_path)
    (finding,) = (finding for finding in result.findings if finding.where.endswith("evaluation.json"))
    assert finding.severity == "warning"
    assert finding.text.startswith("the accuracy of words is 0.25, below its minimum 0.6")
    assert list(result.analyses[0].frames["evaluation_tasks"]["verdict"]) == ["wrong"]


@pytest.mark.parametrize("error", [None, 0.0])
def test_accuracy_without_a_standard_error_has_no_interval(tmp_path: Path, error: float | None) -> None:
    write_evaluation(tmp_path / "000__cell", standard_error=error, minimum=None)
    (kpi,) = analysed(tmp_path).analyses[0].kpis
    assert (kpi.number, kpi.low) == (0.75, None)
    assert "no interval" in (kpi.reason or "")
