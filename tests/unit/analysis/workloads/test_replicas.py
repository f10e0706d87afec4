"""The kinds of autoscaling and of rollouts under load."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.workloads.run_analysis import RunAnalysis, analyse_run

from tests.data.replica_tests import write_autoscale, write_rollout


def analysed(place: Path) -> tuple[RunAnalysis, dict[str, float | None], dict[str, str | None]]:
    result = analyse_run(place, place / "out")
    (analysis,) = result.analyses
    return (
        result,
        {kpi.name: kpi.number for kpi in analysis.kpis},
        {kpi.name: kpi.reason for kpi in analysis.kpis if kpi.number is None},
    )


def test_replicas_are_timed_from_the_step_of_the_load(tmp_path: Path) -> None:
    write_autoscale(tmp_path / "000__cell")
    result, numbers, _reasons = analysed(tmp_path)
    assert numbers == {
        "scale_up_first_replica": pytest.approx(20),
        "scale_up_time": pytest.approx(30),
        "scale_down_time": pytest.approx(30),
        "scale_up_requests_failed": 2,
        "replicas_ready_max": 3,
    }
    (analysis,) = result.analyses
    lines = analysis.frames["autoscaling_lines"]
    assert set(lines["line"]) == {"ready replicas", "desired replicas", "requests in flight", "failed requests"}
    titles = {getattr(block, "title", "") for section in analysis.sections for block in section.blocks}
    assert "Replicas beside the load" in titles


def test_load_that_wants_no_more_replicas_has_no_scale_up(tmp_path: Path) -> None:
    write_autoscale(tmp_path / "000__cell", scaled=False)
    _result, _numbers, reasons = analysed(tmp_path)
    wanted = "the autoscaler wanted no more replicas than at the step"
    assert reasons == dict.fromkeys(("scale_up_first_replica", "scale_up_time", "scale_down_time"), wanted)


def test_rollout_is_compared_with_the_time_before(tmp_path: Path) -> None:
    write_rollout(tmp_path / "000__cell")
    result, numbers, _reasons = analysed(tmp_path)
    assert numbers == {
        "rollout_time": pytest.approx(25),
        "rollout_requests_failed": 1,
        "rollout_latency_before": pytest.approx(0.2),
        "rollout_latency_during": pytest.approx(0.3),
        "rollout_latency_ratio": pytest.approx(1.5),
    }
    assert [finding for finding in result.findings if finding.where.endswith("rollout.json")] == []


@pytest.mark.parametrize("done", [None, 70.0])
def test_load_that_ends_before_the_rollout_is_a_warning(tmp_path: Path, done: float | None) -> None:
    write_rollout(tmp_path / "000__cell", done)
    result, numbers, reasons = analysed(tmp_path)
    assert "the load ended before the new version answered all requests" in [one.text for one in result.findings]
    assert numbers["rollout_time"] == (None if done is None else pytest.approx(50))
    assert ("rollout_time" in reasons) == (done is None)
