"""Percentiles: known values, refusals, and intervals equal to those of a resampling bootstrap."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from perfanalysis.workloads.percentiles import (
    SHARES,
    Method,
    bootstrap_draws,
    bootstrap_interval,
    estimates,
    interval_of,
    percentile,
    smallest_interval_sample,
    smallest_sample,
)


def test_estimates_equal_known_values() -> None:
    found = {name: value.number for name, value in estimates(np.arange(101.0), "linear").items()}
    assert found == {"p50": 50.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "max": 100.0}


def test_linear_percentiles_interpolate_order_statistics() -> None:
    # Position (4 - 1) * 0.5 = 1.5: halfway between the second and third value
    median = estimates(np.array([10.0, 40.0, 20.0, 30.0]), "linear")["p50"]
    assert median.number == 25.0


def _spread(count: int) -> NDArray[np.float64]:
    """Return whole numbers in a fixed random order."""
    return np.array([(number * number * 7 + number * 13) % 1009 for number in range(count)], dtype=float)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([7.0], (7.0, 7.0, 7.0, 7.0)),
        ([1.0, 2.0], (1.0, 1.5, 1.5, 1.5)),
        ([3.0, 1.0, 2.0], (1.5, 2.5, 2.5, 2.5)),
        ([10.0, 40.0, 20.0, 30.0], (20.0, 35.0, 35.0, 35.0)),
        (np.arange(1.0, 11.0), (5.0, 9.0, 9.5, 9.5)),
        (_spread(19), (336.5, 910.0, 990.5, 990.5)),
        (_spread(20), (343.0, 830.0, 990.0, 990.5)),
        (_spread(99), (498.0, 955.0, 989.5, 1003.0)),
        (_spread(100), (484.0, 952.0, 989.0, 999.0)),
    ],
)
def test_kube_burner_percentiles_equal_those_of_its_library(
    values: list[float] | NDArray[np.float64], expected: tuple[float, ...]
) -> None:
    """The expected numbers were printed by a Go program that calls Percentile of montanaflynn/stats v0.7.1."""
    ordered = np.sort(np.asarray(values, dtype=float))
    assert tuple(percentile(ordered, share, "kube-burner") for share in SHARES.values()) == expected


@pytest.mark.parametrize("count", [1, 2, 3, 10, 19, 20, 99, 100])
def test_linear_percentiles_equal_those_of_numpy(count: int) -> None:
    ordered = np.sort(_spread(count))
    assert [percentile(ordered, share) for share in SHARES.values()] == np.quantile(
        ordered, list(SHARES.values())
    ).tolist()


def test_invalid_percentiles_are_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        percentile(np.array([]), 0.5)
    with pytest.raises(ValueError, match="no percentile 10 of 5 values"):
        percentile(np.arange(5.0), 0.1, "kube-burner")


def test_both_methods_refuse_small_samples() -> None:
    found = estimates(_spread(99), "kube-burner")
    assert (found["p50"].number, found["p95"].number) == (498.0, 989.5)
    assert (found["p99"].number, found["p99"].reason) == (None, "needs 100 values, found 99")


def test_percentile_methods_differ() -> None:
    sample = _spread(100)
    assert estimates(sample, "linear") != estimates(sample, "kube-burner")


def test_smallest_sample_depends_on_the_percentile() -> None:
    assert [smallest_sample(share) for share in (0.5, 0.9, 0.95, 0.99)] == [2, 10, 20, 100]
    assert [smallest_interval_sample(share) for share in (0.5, 0.9, 0.95, 0.99)] == [6, 36, 72, 368]


def test_small_samples_are_refused_with_the_reason() -> None:
    found = estimates(np.arange(99.0), "linear")
    assert found["p99"].number is None
    assert found["p99"].reason == "needs 100 values, found 99"
    assert found["p95"].number is not None
    assert found["p95"].low is not None


def test_intervals_are_refused_below_their_sample_size() -> None:
    p99 = estimates(np.arange(367.0), "linear")["p99"]
    assert p99.number is not None
    assert (p99.low, p99.high, p99.reason) == (None, None, "an interval needs 368 values, found 367")


def test_missing_values_are_ignored() -> None:
    found = estimates(np.array([np.nan, 1.0, np.nan, 3.0]), "linear")
    assert found["p50"].count == 2
    assert found["p50"].number == 2.0
    assert [value.reason for value in estimates(np.array([np.nan]), "linear").values()] == ["no values"] * 5


@pytest.mark.parametrize("method", ["linear", "kube-burner"])
@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_interval_equals_that_of_resampling(share: float, method: Method) -> None:
    random = np.random.default_rng(3)
    ordered = np.sort(random.lognormal(0.0, 1.0, 501))
    resamples = np.sort(random.choice(ordered, (6000, 501)), axis=1)
    expected = np.quantile([percentile(resample, share, method) for resample in resamples], [0.025, 0.975])
    # Both are Monte Carlo estimates: they agree within a few order statistics.
    assert bootstrap_interval(ordered, share, method) == pytest.approx(expected, rel=0.03)


def test_intervals_are_deterministic() -> None:
    ordered = np.sort(np.random.default_rng(1).random(400))
    assert bootstrap_interval(ordered, 0.99) == bootstrap_interval(ordered, 0.99)


@pytest.mark.parametrize("method", ["linear", "kube-burner"])
def test_samples_of_equal_size_have_separate_intervals(method: Method) -> None:
    """The positions of the draws are the same for both; the drawn values differ."""
    random = np.random.default_rng(6)
    samples = [np.sort(random.lognormal(0.0, 1.0, size)) for size in (400, 400, 401)]
    for sample in [*samples, *samples]:
        for share in (0.5, 0.99):
            draws = bootstrap_draws(sample, share, np.random.default_rng(20_240_229), method)
            assert bootstrap_interval(sample, share, method) == interval_of(draws)


def test_intervals_cover_the_true_percentile() -> None:
    random = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        low, high = bootstrap_interval(np.sort(random.random(400)), 0.9)
        covered += low <= 0.9 <= high
    assert 0.90 <= covered / 400 <= 0.99
