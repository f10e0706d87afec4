"""The accuracy with its interval."""

from __future__ import annotations

from typing import Any

from perfanalysis.workloads.percentiles import Value

_NORMAL_95 = 1.96


def accuracy(tables: Any) -> Value:
    """Return the accuracy, with an interval of 1.96 standard errors to each side if the error is known."""
    (row,) = tables.tasks.to_dict("records")
    value, error = float(row["accuracy"]), row["standard_error"]
    # a missing number of a table is NaN; without variance, the error is meaningless
    if not error > 0:
        return Value(value, "no interval: the evaluator states no standard error above 0")
    return Value(value, None, max(value - _NORMAL_95 * error, 0.0), min(value + _NORMAL_95 * error, 1.0))
