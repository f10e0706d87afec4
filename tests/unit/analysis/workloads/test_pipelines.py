"""The kind of pipelines: KPIs of made-up runs, computed by hand."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import (
    PipelineRun,
    PipelinesResult,
    RunStep,
    StateSample,
)
from perfanalysis.drawing.charts import Figure
from perfanalysis.workloads.kpis import KpiValue
from perfanalysis.workloads.run_analysis import analyse_run
from perfanalysis.workloads.workload_type import Analysis

from tests.data.pipeline_tests import BEGUN, PipelineTest, pipeline_test, write_pipelines

PLACE = "000__pipelines__wait/artifacts"


def run(user: int, number: int, created: float, latency: float, duration: float) -> PipelineRun:
    """Return a run that succeeded, with one step of half its duration."""
    started = BEGUN + created + latency
    return PipelineRun(
        user, f"p{user}", f"r{number}", number, "Succeeded", "w", BEGUN + created, started, started + duration,
        steps=(RunStep("coin", started, started + duration / 2, "Succeeded"),),
    )  # fmt: skip


def hand_made() -> PipelinesResult:
    """Return two users: each run of the first takes 2 s longer than the previous one; one of the second fails."""
    failed = PipelineRun(1, "p1", "r2", 2, "Failed", "w", BEGUN + 20, BEGUN + 21, BEGUN + 30, "child failed")
    never = PipelineRun(1, "p1", "r3", 3, "Error", message="quota exceeded")
    runs = (run(0, 1, 0, 1, 10), run(0, 2, 12, 1, 12), run(0, 3, 26, 1, 14), run(1, 1, 1, 1, 10), failed, never)
    samples = (StateSample(BEGUN, 1, 1, 0, 0, 2), StateSample(BEGUN + 30, 1, 0, 3, 1, 5))
    return PipelinesResult(runs, samples)


def analyse(folder: Path, result: PipelinesResult) -> Analysis:
    write_pipelines(folder / PLACE, result)
    (analysis,) = analyse_run(folder, folder / "out").analyses
    return analysis


def kpis(analysis: Analysis) -> dict[str, KpiValue]:
    return {value.series: value for value in analysis.kpis}


def test_pipeline_kpis_match_hand_computation(tmp_path: Path) -> None:
    values = kpis(analyse(tmp_path, hand_made()))
    found = {name: value.number for name, value in values.items()}
    assert found["runs"] == 6
    assert found["runs_success_ratio"] == pytest.approx(4 / 6)
    assert (found["runs_failed"], found["runs_not_ended"]) == (2, 0)
    assert (found["run_latency_p50"], found["run_latency_max"]) == (1, 1)
    assert (found["run_duration_p50"], found["run_duration_max"]) == (11, 14)
    assert found['step_time_max{step="coin"}'] == 7
    assert found["most_runs_at_once"] == 2
    assert found["reconciles_max"] == 5
    assert found["total_time"] == 41
    assert found["runs_per_second"] == pytest.approx(4 / 41)


def test_degrade_speed_is_the_slope_of_runs_that_succeeded(tmp_path: Path) -> None:
    values = kpis(analyse(tmp_path, hand_made()))
    # numbers 1, 2, 3, 1 and durations 10, 12, 14, 10 are on a line
    slope = values["run_duration_degrade_speed"]
    assert slope.number == pytest.approx(2)
    assert [slope.low, slope.high] == pytest.approx([2, 2])
    assert slope.count == 4
    assert slope.unit == "seconds/run"
    assert values["run_latency_degrade_speed"].number == pytest.approx(0)


def test_single_run_has_no_slope(tmp_path: Path) -> None:
    value = kpis(analyse(tmp_path, pipeline_test(PipelineTest(1, 1))))["run_duration_degrade_speed"]
    assert (value.number, value.reason) == (None, "needs 3 values, found 1")


def test_runs_that_never_succeeded_are_reported_by_message(tmp_path: Path) -> None:
    analysis = analyse(tmp_path, PipelinesResult(hand_made().runs[4:], ()))
    found = {name: value.number for name, value in kpis(analysis).items()}
    assert (found["runs_success_ratio"], found["runs_per_second"], found["reconciles_max"]) == (0, 0, None)
    failures = analysis.frames["pipelines_failures"]
    assert list(zip(failures.phase, failures.message, failures["first"], strict=True)) == [
        ("Error", "quota exceeded", "p1 r3"),
        ("Failed", "child failed", "p1 r2"),
    ]
    assert analysis.sections


def test_test_without_runs_has_no_values(tmp_path: Path) -> None:
    found = {name: value.number for name, value in kpis(analyse(tmp_path, PipelinesResult((), ()))).items()}
    assert (found["runs"], found["runs_success_ratio"], found["most_runs_at_once"]) == (0, None, None)


def test_figures_show_runs_and_states(tmp_path: Path) -> None:
    analysis = analyse(tmp_path, pipeline_test(PipelineTest(phases={(1, 2): "Failed", (2, 3): "Running"})))
    blocks = (block for section in analysis.sections for block in section.blocks if isinstance(block, Figure))
    figures = {figure.name: figure for figure in blocks}
    ((states,),) = figures["states"].rows
    assert [layer.label for layer in states.layers] == ["failed", "pending", "running", "succeeded"]
    ((runs,),) = figures["runs"].rows
    assert "pipelines-1 user1-2 (Failed)" in runs.y.categories
    ((duration,),) = figures["duration"].rows
    assert duration.layers[-1].label.startswith("trend: +")


def test_matrix_has_slopes_over_the_number_of_users(tmp_path: Path) -> None:
    for cell, users in enumerate((1, 2, 4)):
        place = tmp_path / f"{cell:03d}__cell__{cell}"
        write_pipelines(place / PLACE, pipeline_test(PipelineTest(users, 4)))
        document = {"schema": "psap.perf/cell/1", "index": cell, "values": {"pipelines.users": users}, "status": "ok"}
        (place / "cell.json").write_text(json.dumps(document))
    figures = {figure.name: figure for figure in analyse_run(tmp_path, tmp_path / "out").figures}
    ((slopes,),) = figures["pipelines_degrade_speed"].rows
    assert [layer.label for layer in slopes.layers] == ["run latency degrade speed", "run duration degrade speed"]
    assert slopes.layers[1].x.tolist() == [1, 2, 4]
