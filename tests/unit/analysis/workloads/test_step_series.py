"""Step functions, computed by hand."""

from __future__ import annotations

import numpy as np
import pytest
from perfanalysis.workloads.step_series import StepSeries, combine, count_between, nice_width

NAN = float("nan")


def series(starts: list[float], ends: list[float], weights: list[float] | None = None) -> StepSeries:
    return count_between(np.array(starts), np.array(ends), None if weights is None else np.array(weights))


def test_concurrent_intervals_are_counted() -> None:
    # [0, 4), [1, 3), [3, 5): 1 from 0, 2 from 1, 2 from 3 (one ends as one begins), 1 from 4, 0 from 5
    counted = series([0, 1, 3], [4, 3, 5])
    assert counted.times.tolist() == [0, 1, 3, 4, 5]
    assert counted.values.tolist() == [1, 2, 2, 1, 0]
    assert counted.maximum() == 2
    assert counted.at(np.array([-1.0, 0.0, 2.9, 4.5, 9.0])).tolist() == [0, 1, 2, 1, 0]


def test_weights_and_open_ends_count_and_invalid_intervals_do_not() -> None:
    counted = series([0, 2, NAN, 5], [NAN, 3, 4, 1], [8, 2, 1, 100])
    assert counted.times.tolist() == [0, 2, 3]
    assert counted.values.tolist() == [8, 10, 8]


def test_integral_covers_only_the_requested_interval() -> None:
    counted = series([0, 1], [4, 3])
    assert counted.integral(0, 4) == pytest.approx(1 + 2 * 2 + 1)
    assert counted.integral(2, 3.5) == pytest.approx(2 * 1 + 0.5)
    assert counted.integral(-5, 1) == pytest.approx(1)


def test_extremes_keep_the_peak_of_every_interval() -> None:
    counted = series([0, 1.2, 1.4], [4, 1.3, 1.5])
    low, high = counted.extremes(np.array([0.0, 1.0, 2.0, 3.0]))
    assert high.tolist() == [1, 2, 1]
    assert low.tolist() == [0 + 1, 1, 1]


def test_two_series_are_combined_by_a_function() -> None:
    both = combine(series([0], [4]), series([2], [6]), np.minimum)
    assert both.integral(0, 10) == pytest.approx(2)


def test_empty_series_is_zero_everywhere() -> None:
    nothing = series([], [])
    assert nothing.maximum() == 0
    assert nothing.integral(0, 5) == 0


@pytest.mark.parametrize(("span", "width"), [(80, 1), (81, 2), (51, 1), (4.1, 0.1), (400, 5), (0, 1)])
def test_interval_widths_are_round_numbers(span: float, width: float) -> None:
    assert nice_width(span, 80) == pytest.approx(width)
