"""The kind of repeated cold starts of a served model."""

from __future__ import annotations

from pathlib import Path

import pytest
from perfanalysis.workloads.run_analysis import analyse_run

from tests.data.cold_starts import start, write_cold_starts


def test_times_are_from_the_creation_of_the_pod_with_interval(tmp_path: Path) -> None:
    write_cold_starts(tmp_path / "000__cell")
    (analysis,) = analyse_run(tmp_path, tmp_path / "out").analyses
    found = {kpi.name: kpi for kpi in analysis.kpis}
    assert found["cold_starts"].number == 7
    assert found["cold_start_scheduled_p50"].number == pytest.approx(0.1, abs=1e-5)
    assert found["cold_start_container_p50"].number == pytest.approx(1.1, abs=1e-5)
    ready = found["cold_start_ready_p50"]
    assert ready.number == pytest.approx(3.4, abs=1e-5)
    assert ready.low is not None
    assert ready.high is not None
    assert ready.low < 3.4 < ready.high
    assert found["cold_start_answer_max"].number == pytest.approx(4.0, abs=1e-5)


def test_missing_moments_and_starts_are_reported(tmp_path: Path) -> None:
    """The second start has no answer, the third one no pod."""
    starts = (start(1, 0.1, 0.2, 1.2, 3.0, 4.0), start(2, 0.1, 0.2, 1.2, 3.0), start(3))
    write_cold_starts(tmp_path / "000__cell", starts, requested=5)
    result = analyse_run(tmp_path, tmp_path / "out")
    (analysis,) = result.analyses
    frame = analysis.frames["cold_starts_starts"]
    assert frame["answered_s"].notna().tolist() == [True, False, False]
    assert frame["ready_s"].notna().tolist() == [True, True, False]
    assert "3 of 5 starts were measured" in [finding.text for finding in result.findings]
