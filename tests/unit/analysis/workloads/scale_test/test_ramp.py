"""Ramp, steady part and drain, by hand."""

from __future__ import annotations

import numpy as np
import pytest
from perfanalysis.workloads.scale_test.activity import Ramp, Window, phases_table, ramp_of
from perfanalysis.workloads.scale_test.workloads import workloads_table
from perfanalysis.workloads.step_series import StepSeries, count_between

from tests.unit.analysis.hand_made import rising, tables

# 2 run from 10, 10 from 20, 9 from 40 to 60, 3 to 70: over 60 s, at most 9 for 40 s and 10 for 20 s
RUNNING = StepSeries(np.array([10.0, 20.0, 40.0, 60.0, 70.0]), np.array([2.0, 10.0, 9.0, 3.0, 0.0]))


def test_plateau_has_its_ends() -> None:
    # 10 ran for a third of the busy time: the plateau; 9 is nine tenths of it, so the drain begins at 60.
    assert ramp_of(RUNNING, Window(0.0, 80.0)) == Ramp(10.0, 20.0, 60.0)


def test_short_peak_is_no_plateau() -> None:
    # 50 ran for 1 s of 100.
    series = StepSeries(np.array([0.0, 50.0, 51.0, 100.0]), np.array([5.0, 50.0, 5.0, 0.0]))
    assert ramp_of(series, Window(0.0, 100.0)) == Ramp(5.0, 0.0, 100.0)


def test_run_without_pods_has_no_plateau() -> None:
    assert ramp_of(count_between(np.empty(0), np.empty(0)), Window(0.0, 1.0)) is None
    window = Window(0.0, 1.0)
    assert len(phases_table(workloads_table(tables([], [])), RUNNING, None, window)) == 0


def test_each_phase_has_its_reached_concurrency() -> None:
    sent, seen = rising()
    workloads = workloads_table(tables(sent, seen))
    running = count_between(
        workloads["running_s"].to_numpy(dtype=float), workloads["completed_s"].to_numpy(dtype=float)
    )
    window = Window(0.0, 31.0)
    ramp = ramp_of(running, window)
    # 10 run from 11 to 22, and 9 before (from 10) and after (to 23).
    assert ramp == Ramp(10.0, 10.0, 23.0)
    table = phases_table(workloads, running, ramp, window).set_index("phase")
    assert table["length_s"].tolist() == [10.0, 13.0, 8.0]
    assert table["sent"].tolist() == [10, 10, 0]
    assert table["scheduled"].tolist() == [8, 12, 0]
    assert table["completed"].tolist() == [0, 11, 9]
    assert table.loc["steady", "completion_rate"] == pytest.approx(11 / 13)
    assert table.loc["ramp", "scheduling_rate"] == pytest.approx(0.8)
    assert table.loc["steady", "mean_running"] == pytest.approx((9 + 110 + 9) / 13)
