"""Step functions, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from perfanalysis.workloads.step_series import StepSeries, combine, count_between, nice_width

NAN = float("nan")


def series(starts: list[float], ends: list[float], weights: list[float] | None = None) -> StepSeries:
    return count_between(np.array(starts), np.array(ends), None if weights is None else np.array(weights))


def test_concurrent_counts() -> None:
    # [0, 4), [1, 3), [3, 5): 1 from 0, 2 from 1, 2 from 3 (one ends as one begins), 1 from 4, 0 from 5
    counted = series([0, 1, 3], [4, 3, 5])
    assert counted.times.tolist() == [0, 1, 3, 4, 5]
    assert counted.values.tolist() == [1, 2, 2, 1, 0]
    assert counted.maximum() == 2
    assert counted.at(np.array([-1.0, 0.0, 2.9, 4.5, 9.0])).tolist() == [0, 1, 2, 1, 0]


def test_weights_open_ends_and_invalid_intervals() -> None:
    counted = series([0, 2, NAN, 5], [NAN, 3, 4, 1], [8, 2, 1, 100])
    assert counted.times.tolist() == [0, 2, 3]
    assert counted.values.tolist() == [8, 10, 8]


def test_integral_of_parts() -> None:
    counted = series([0, 1], [4, 3])
    assert counted.integral(0, 4) == pytest.approx(1 + 2 * 2 + 1)
    assert counted.integral(2, 3.5) == pytest.approx(2 * 1 + 0.5)
    assert counted.integral(-5, 1) == pytest.approx(1)


def test_extremes_keep_the_peak_of_every_interval() -> None:
    counted = series([0, 1.2, 1.4], [4, 1.3, 1.5])
    low, high = counted.extremes(np.array([0.0, 1.0, 2.0, 3.0]))
    assert high.tolist() == [1, 2, 1]
    assert low.tolist() == [0 + 1, 1, 1]


def test_combination_of_two_series() -> None:
    both = combine(series([0], [4]), series([2], [6]), np.minimum)
    assert both.integral(0, 10) == pytest.approx(2)


def test_empty_series() -> None:
    nothing = series([], [])
    assert nothing.maximum() == 0
    assert nothing.integral(0, 5) == 0


@pytest.mark.parametrize(("span", "width"), [(80, 1), (81, 2), (51, 1), (4.1, 0.1), (400, 5), (0, 1)])
def test_round_widths(span: float, width: float) -> None:
    assert nice_width(span, 80) == pytest.approx(width)
