"""Sixty nights of two flows, judged night by night: planted changes are found, and few false alarms are raised."""

from __future__ import annotations

import pytest

from tests.unit.analysis.nights import FLOWS, PLANTED, Found, judge_nights


def check_planted(found: Found) -> None:
    """Check the alarms of one flow."""
    of_step = [night for night in found.alarms["step_20"] if night >= PLANTED]
    assert of_step[0] <= PLANTED + 1
    # a change belongs to the five nights after it, and is then the new level
    assert of_step[-1] <= PLANTED + 5
    assert found.alarms["outlier"][0] == PLANTED
    # neither a new name nor another key setting is compared with what was before
    assert found.alarms["renamed_new"] == []
    assert found.alarms["of_setting"] == []


@pytest.mark.slow
@pytest.mark.parametrize("flow", FLOWS)
def test_nightly_judgement_finds_planted_changes(flow: str) -> None:
    found = judge_nights(flow, flat=20, seed=0)
    check_planted(found)
    assert len(found.false) <= 1


@pytest.mark.deep
def test_false_alarms_of_500_flat_series_are_rare() -> None:
    results = [judge_nights(flow, flat=50, seed=seed) for flow in FLOWS for seed in range(5)]
    for found in results:
        check_planted(found)
    # each search sees a small part of a drift
    assert sum(bool(found.alarms["drift"]) for found in results) == 5
    judged = sum(found.judged for found in results)
    assert judged == 500 * 56
    assert sum(len(found.false) for found in results) < 0.001 * judged
