"""Statistics of a comparison: computed by hand, and with the stated coverage."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from perfanalysis.verdicts.comparison.statistics import cliffs_delta, difference_of, difference_of_intervals, word_of
from perfanalysis.workloads.kpis import Direction
from perfanalysis.workloads.percentiles import bootstrap_draws


@pytest.mark.parametrize(
    ("first", "second", "delta"),
    [
        ([1, 2, 3], [4, 5], 1.0),
        ([4, 5], [1, 2, 3], -1.0),
        ([1, 2], [1, 2], 0.0),
        # Of the six pairs (b, a) three have b > a, one has b < a, two are ties.
        ([1, 2], [1, 2, 3], (3 - 1) / 6),
    ],
)
def test_cliffs_delta_matches_hand_computation(first: list[float], second: list[float], delta: float) -> None:
    assert cliffs_delta(np.array(first, float), np.array(second, float)) == pytest.approx(delta)


def test_cliffs_delta_equals_the_count_of_all_pairs() -> None:
    random = np.random.default_rng(5)
    first, second = random.integers(0, 20, 60).astype(float), random.integers(5, 25, 45).astype(float)
    pairs = [np.sign(b - a) for a, b in product(first, second)]
    assert cliffs_delta(first, second) == pytest.approx(float(np.mean(pairs)))
    assert cliffs_delta(first, np.empty(0)) is None


@pytest.mark.parametrize(
    ("difference", "low", "high", "direction", "word"),
    [
        (2.0, 1.5, 2.5, "lower", "worse"),
        (-2.0, -2.5, -1.5, "lower", "better"),
        (2.0, 1.5, 2.5, "higher", "better"),
        (-2.0, -2.5, -1.5, "higher", "worse"),
        (2.0, 1.5, 2.5, "neither", "different"),
        (0.2, 0.1, 0.3, "lower", "same"),
        (0.0, -1.0, 1.0, "lower", "same"),
        (0.0, -1.1, 0.5, "lower", "too little data"),
        (0.9, 0.1, 1.7, "lower", "too little data"),
        (3.0, -0.1, 6.0, "lower", "too little data"),
    ],
)
def test_verdicts_with_a_margin_of_one(
    difference: float, low: float, high: float, direction: Direction, word: str
) -> None:
    assert word_of(difference, low, high, 1.0, direction) == word


def test_shift_of_every_value_is_found_exactly() -> None:
    first = np.linspace(1.0, 2.0, 401)
    found = difference_of(first, first + 0.5, "p50", "lower", 0.05)
    assert (found.first, found.second, found.difference) == (1.5, 2.0, 0.5)
    assert found.relative == pytest.approx(1 / 3)
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0.5 < found.high
    # The standard error of a median is 1 / (2 f sqrt(n)) with density f = 1; a difference of two has sqrt(2) of it.
    expected = 1.96 * np.sqrt(2) / (2 * np.sqrt(401))
    assert found.high - found.low == pytest.approx(2 * expected, rel=0.1)
    assert found.word == "worse"


def test_interval_covers_the_truth_at_its_level() -> None:
    random = np.random.default_rng(11)
    hits = 0
    for _ in range(200):
        found = difference_of(random.normal(size=80), random.normal(0.3, 1.0, 80), "p50", "lower", 0.05)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= 0.3 <= found.high
    assert 0.90 <= hits / 200 <= 1.0


def test_draws_equal_real_resamples() -> None:
    sample = np.sort(np.random.default_rng(2).exponential(size=50))
    drawn = bootstrap_draws(sample, 0.5, np.random.default_rng(3))
    random = np.random.default_rng(4)
    resampled = np.median(random.choice(sample, (4000, 50)), axis=1)
    for share in (0.05, 0.5, 0.95):
        assert np.quantile(drawn, share) == pytest.approx(np.quantile(resampled, share), rel=0.05)


@pytest.mark.parametrize(("statistic", "count"), [("p50", 5), ("p99", 367)])
def test_too_few_values_are_reported(statistic: str, count: int) -> None:
    few, many = np.arange(float(count)), np.arange(1000.0)
    found = difference_of(few, many, statistic, "lower", 0.05)
    assert (found.word, found.low, found.high) == ("too little data", None, None)
    assert found.difference is not None
    assert f"an interval needs {count + 1} values of each, found {count} and 1000" in (found.reason or "")


@pytest.mark.parametrize(("statistic", "count"), [("p50", 1), ("p99", 99)])
def test_percentile_of_too_few_values_is_missing(statistic: str, count: int) -> None:
    found = difference_of(np.arange(float(count)), np.arange(1000.0), statistic, "lower", 0.05)
    assert (found.word, found.first, found.difference) == ("too little data", None, None)
    assert f"needs {count + 1} values of each" in (found.reason or "")


def test_interval_of_a_difference_matches_hand_computation() -> None:
    """d = 5; down: √(3² + 4²) = 5, up: √(12² + 5²) = 13."""
    found = difference_of_intervals((10.0, 5.0, 14.0), (15.0, 12.0, 27.0), "lower", 0.05, "widgets")
    assert (found.difference, found.low, found.high) == (5.0, 0.0, 18.0)
    assert (found.word, found.reason) == (
        "too little data",
        "the interval reaches beyond the margin of 0.500\u202fwidgets",
    )


def test_interval_of_a_difference_covers_the_truth_at_its_level() -> None:
    random = np.random.default_rng(3)
    hits = 0
    for _ in range(1000):
        means = random.normal(10.0, 1.0), random.normal(12.0, 2.0)
        found = difference_of_intervals(
            (means[0], means[0] - 1.96, means[0] + 1.96),
            (means[1], means[1] - 3.92, means[1] + 3.92),
            "lower",
            0.05,
            "1",
        )
        hits += (found.low or 0.0) <= 2.0 <= (found.high or 0.0)
    assert 0.93 <= hits / 1000 <= 0.97
