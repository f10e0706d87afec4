"""The KPIs of pipelines that are no statistic of a column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from perfanalysis.workloads.percentiles import Value
from perfanalysis.workloads.step_series import count_between
from perfanalysis.workloads.trend import slope_value

if TYPE_CHECKING:
    import pandas as pd


def latency_degrade_speed(tables: Any) -> Value:
    """Return the slope of the latency over the number of the run."""
    return _slope(tables, "latency_s")


def duration_degrade_speed(tables: Any) -> Value:
    """Return the slope of the duration over the number of the run."""
    return _slope(tables, "duration_s")


def most_concurrent(tables: Any) -> Value:
    """Return the maximum number of runs whose workflows had started and not ended."""
    counted = count_between(_numbers(tables.moments, "started_s"), _numbers(tables.moments, "finished_s"))
    return Value(counted.maximum()) if len(counted.times) else Value(None, "no run started")


def runs_per_second(tables: Any) -> Value:
    """Return the runs that succeeded, divided by the time from the first creation to the last end."""
    took_s = float(tables.tests["took_s"].fillna(0.0).max())
    if not took_s > 0:
        return Value(None, "no run ended after its creation")
    return Value(float((tables.runs["phase"] == "Succeeded").sum()) / took_s)


def _slope(tables: Any, column: str) -> Value:
    succeeded = (tables.runs["phase"] == "Succeeded").to_numpy(dtype=bool)
    return slope_value(_numbers(tables.runs, "number")[succeeded], _numbers(tables.runs, column)[succeeded])


def _numbers(table: pd.DataFrame, column: str) -> NDArray[np.float64]:
    values: NDArray[np.float64] = table[column].to_numpy(dtype=float, na_value=np.nan)
    return values
