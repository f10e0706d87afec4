"""The least-squares line, against a published example and against scipy."""

from __future__ import annotations

import numpy as np
import pytest
from perfanalysis.workloads.trend import slope_value, trend_of


def test_slope_and_interval_match_scipy() -> None:
    from scipy.stats import linregress, t

    chance = np.random.default_rng(3)
    x = chance.integers(1, 20, 40).astype(float)
    y = 3 + 0.25 * x + chance.normal(0, 1, 40)
    expected, found = linregress(x, y), trend_of(x, y)
    assert found is not None
    assert (found.slope, found.intercept, found.error) == pytest.approx(
        (expected.slope, expected.intercept, expected.stderr)
    )
    value = slope_value(x, y)
    assert value.low == pytest.approx(expected.slope - t.ppf(0.975, 38) * expected.stderr)
    assert value.high == pytest.approx(expected.slope + t.ppf(0.975, 38) * expected.stderr)
    assert value.count == 40


def test_exact_line_has_no_error() -> None:
    value = slope_value(np.array([1.0, 2.0, 3.0, np.nan]), np.array([5.0, 7.0, 9.0, 1.0]))
    assert (value.number, value.low, value.high, value.count) == (2, 2, 2, 3)


@pytest.mark.parametrize(
    ("x", "reason"),
    [
        ([1.0, 2.0], "needs 3 values, found 2"),
        ([4.0, 4.0, 4.0], "all values are at one place"),
        ([], "needs 3 values, found 0"),
    ],
)
def test_slope_that_is_not_determined_has_a_reason(x: list[float], reason: str) -> None:
    value = slope_value(np.array(x), np.array(x))
    assert (value.number, value.reason) == (None, reason)


def test_numbers_that_are_too_large_have_no_trend() -> None:
    assert trend_of(np.array([0.0, 1e200, 2.0]), np.ones(3)) is None
    assert trend_of(np.array([0.0, 1.0, 2.0]), np.array([1e308, -1e308, 1e308])) is None
