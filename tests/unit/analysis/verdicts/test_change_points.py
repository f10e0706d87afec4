"""Changes of level: statistics compared with tables and hand computation, and results on known series."""

from __future__ import annotations

import math

import numpy as np
import pytest
from perfanalysis.verdicts.regression.methods import (
    best_split,
    by_rank,
    by_score,
    change_points,
    effect,
    scaled,
    two_sided,
)
from perfanalysis.workloads.trend import t_95


def test_t_distribution_matches_published_tables() -> None:
    assert [t_95(freedom) for freedom in (1, 4, 10)] == pytest.approx([12.706, 2.776, 2.228], abs=6e-4)
    assert two_sided(2.763, 28) == pytest.approx(0.01, rel=2e-3)
    assert (two_sided(0.0, 5), two_sided(math.inf, 5)) == (1.0, 0.0)


def test_best_split_has_the_largest_t() -> None:
    # Means 2 and 8, squares 2 + 2, pooled variance 4/6, t = 6 / sqrt(4/6 * (1/4 + 1/4)) = 10.39
    values = np.array([1.0, 2.0, 3.0, 2.0, 7.0, 8.0, 9.0, 8.0])
    split = best_split(values)
    assert split is not None
    assert split.at == 4
    # Four positions were tried.
    assert split.p == pytest.approx(4 * two_sided(6 / math.sqrt(4 / 6 * 0.5), 6), rel=1e-9)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, 2.0, 1.0, 2.0]])
def test_short_series_has_no_split(values: list[float]) -> None:
    assert best_split(np.array(values)) is None
    assert change_points(np.array(values)) == ()


def test_constant_series_has_no_change_and_a_step_in_it_has_one() -> None:
    flat = np.full(12, 0.1 + 0.2)
    assert change_points(flat) == ()
    stepped = np.concatenate([flat, np.full(1, 0.4)])
    (found,) = change_points(stepped)
    assert found.at == 12
    assert found.p < 1e-30


def test_two_steps_are_two_changes() -> None:
    noise = np.random.default_rng(3).normal(0, 1, 30)
    values = noise + np.repeat([100.0, 120.0, 90.0], 10)
    assert [split.at for split in change_points(values)] == [10, 20]


def test_proportional_noise_is_compared_on_a_log_scale() -> None:
    assert scaled(np.array([1.0, math.e])).tolist() == [0.0, 1.0]
    assert scaled(np.array([0.0, 2.0])).tolist() == [0.0, 2.0]


def test_effect_matches_hand_computation() -> None:
    # Values with a zero: differences, not logarithms. Means 2 and 5, squares 8 + 2, freedom 4, spread sqrt(2.5)
    result = effect(np.array([0.0, 2.0, 4.0]), np.array([4.0, 5.0, 6.0]))
    assert (result.before, result.after, result.change) == (2.0, 5.0, 1.5)
    reach = t_95(4) * math.sqrt(2.5) * math.sqrt(2 / 3)
    assert result.low == pytest.approx((3 - reach) / 2)
    assert result.high == pytest.approx((3 + reach) / 2)
    # Hedges' correction for 4 degrees of freedom is 1 - 3/15
    assert result.g == pytest.approx(3 / math.sqrt(2.5) * 0.8)


def test_effect_of_positive_values_is_a_ratio() -> None:
    result = effect(np.array([1.0, 1.0, 4.0, 4.0]), np.array([4.0, 4.0, 16.0, 16.0]))
    assert result.low is not None
    assert result.high is not None
    # Four times as much, with an interval around it on the scale of logarithms
    assert math.sqrt((1 + result.low) * (1 + result.high)) == pytest.approx(4.0)


def test_effect_between_single_values_has_no_interval() -> None:
    result = effect(np.array([1.0]), np.array([2.0]))
    assert (result.change, result.low, result.high, result.g) == (1.0, None, None, None)


def test_score_matches_hand_computation() -> None:
    before = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    # Mean 3, deviation sqrt(2.5), t = 3 / (sqrt(2.5) * sqrt(1.2)) = sqrt(3)
    assert by_score(before, 6.0) == pytest.approx(two_sided(math.sqrt(3), 4))
    assert by_score(before[:4], 6.0) is None
    assert by_score(np.full(5, 7.0), 7.0) == 1.0
    assert by_score(np.full(5, 7.0), 7.1) == 0.0


def test_rank_matches_hand_computation() -> None:
    before = np.arange(39.0)
    assert by_rank(before, 100.0) == pytest.approx(2 / 40)
    assert by_rank(before, -1.0) == pytest.approx(2 / 40)
    assert by_rank(before, 36.5) == pytest.approx(2 * 3 / 40)
    assert by_rank(before, 19.0) == 1.0
    assert by_rank(before[:38], 100.0) is None


def test_flat_series_are_rarely_flagged_and_steps_are_found() -> None:
    """A small part of tests/bench/regressions.py, far from its limits."""
    seeds = range(100)
    series = [np.random.default_rng(seed).normal(100, 3, 30) for seed in seeds]
    flagged = sum(bool(change_points(scaled(values))) for values in series)
    assert flagged <= 6
    found = 0
    for values in series:
        stepped = np.concatenate([values[:25], values[25:] * 1.15])
        found += any(abs(split.at - 25) <= 1 for split in change_points(scaled(stepped)))
    assert found >= 95
