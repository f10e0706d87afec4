"""The kind of a scale test of KServe: KPIs of three users, computed by hand."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.kserve_scale import CELL, DEPLOY, command, scale, write_pods, write_scale_test


@pytest.fixture
def run_analysis(tmp_path: Path) -> RunAnalysis:
    write_scale_test(tmp_path)
    return analyse_run(tmp_path, tmp_path / "out")


def test_users_are_one_recording(run_analysis: RunAnalysis) -> None:
    (analysis,) = run_analysis.analyses
    assert analysis.place.relative == CELL
    assert not [finding for finding in run_analysis.findings if finding.where.startswith(CELL)]
    found = {value.name: value.number for value in analysis.kpis}
    assert (found["time_to_ready_p50"], found["time_to_ready_max"]) == (6, 8)
    assert found["time_to_ready_p99"] is None, "of three models"
    assert found["time_to_first_answer_max"] == 9
    assert found["models_served_ratio"] == pytest.approx(3 / 6)
    assert found["users_served_ratio"] == pytest.approx(1 / 3)
    assert found["total_time"] == 40
    assert found["scheduling_time_p50"] == pytest.approx(0.5)
    assert found["answer_time_max"] == 0.25
    assert found["user_start_delay"] == 0.5
    starts = sorted(analysis.frames["kserve_scale_models"]["started_s"])
    assert found["creation_interval_max"] == pytest.approx(max(b - a for a, b in itertools.pairwise(starts)))


def test_each_user_and_model_is_reported(run_analysis: RunAnalysis) -> None:
    (analysis,) = run_analysis.analyses
    users = analysis.frames["kserve_scale_users"]
    assert list(zip(users.user, users.outcome, users.models_served, strict=True)) == [
        ("u0", "served", 2),
        ("u1", "failed", 1),
        ("u2", "interrupted", 0),
    ]
    assert list(users.error.dropna()) == ["no node fits"]
    models = analysis.frames["kserve_scale_models"]
    assert list(models.outcome) == ["answered", "answered", "answered", "failed", "interrupted"]
    drawn = [block for section in analysis.sections for block in section.blocks]
    titles = {getattr(block, "title", "") for block in drawn}
    assert {
        "Models of the users over time", "Conditions of the models over time", "Intervals between creations",
    } <= titles  # fmt: skip


def test_loaded_model_without_questions_counts_as_served(tmp_path: Path) -> None:
    cell = tmp_path / CELL
    scale(cell, users=1, models_per_user=1, answers_checked=False)
    asked = {"namespace": "models-u0", "inference_service_name": "phi-2-m0"}
    command(cell / "001__kserve__deploy_model", DEPLOY, asked, (0, 3))
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    found = {value.name: value.number for value in analysis.kpis}
    assert (found["models_served_ratio"], found["users_served_ratio"]) == (1, 1)
    assert found["time_to_ready_max"] is None


def test_users_that_never_began_are_not_served(tmp_path: Path) -> None:
    scale(tmp_path / CELL)
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    found = {value.name: value.number for value in analysis.kpis}
    assert (found["models_served_ratio"], found["users_served_ratio"]) == (0, 0)
    assert found["total_time"] is None


def test_users_in_pods_have_the_same_kpis_from_their_start_on(tmp_path: Path) -> None:
    write_pods(tmp_path)
    analysed = analyse_run(tmp_path, tmp_path / "out")
    (found,) = (one for one in analysed.analyses if one.place.marker == "kserve_scale.json")
    kpis = {value.name: value.number for value in found.kpis}
    assert (kpis["models_served_ratio"], kpis["users_served_ratio"]) == (1, 1)
    assert (kpis["time_to_ready_max"], kpis["user_start_delay"], kpis["total_time"]) == (4, 2, 8)
    assert list(found.frames["kserve_scale_tests"].users_as) == ["pods"]


def test_run_of_a_user_in_a_pod_is_no_further_cell(tmp_path: Path) -> None:
    write_pods(tmp_path)
    (cell,) = analyse_run(tmp_path, tmp_path / "out").run.cells
    assert (cell.directory, cell.values) == (CELL, {"kserve_users": 1})
