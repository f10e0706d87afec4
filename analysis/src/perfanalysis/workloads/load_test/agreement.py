"""Comparison of a generator's own summary with its records.

A mean must equal the mean of the records. A percentile must be between the neighbouring records:
which of them, or which value between them, depends on the method.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from perfanalysis.files.recording_files import RecordingFiles

NEAR = 1e-3
"""Relative tolerance: sums of millions of numbers, and times rounded to microseconds, may differ by this."""
SHARES = {"median": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99}


@dataclass(frozen=True)
class Stated:
    """Statistics of a measure by their names (mean, min, max, median, p90 …), and the values they describe."""

    stage: int
    measure: str
    statistics: Mapping[str, float]
    values: NDArray[np.float64]
    weights: NDArray[np.float64] | None = None
    """Weights of the mean; with weights, only the mean is compared."""


def rows(stated: Iterable[Stated]) -> Iterator[dict[str, Any]]:
    """Yield a row for each number that the values determine."""
    for one in stated:
        ordered = np.sort(one.values[np.isfinite(one.values)])
        for statistic, number in one.statistics.items():
            bounds = _bounds(one, ordered, statistic)
            if bounds is not None:
                low, high = (side * (1 + sign * NEAR) for side, sign in zip(bounds, (-1, 1), strict=True))
                row = {"stage": one.stage, "measure": one.measure, "statistic": statistic, "stated": number}
                yield {**row, "low": bounds[0], "high": bounds[1], "agrees": low <= number <= high}


def _bounds(one: Stated, ordered: NDArray[np.float64], statistic: str) -> tuple[float, float] | None:
    if statistic == "count":
        return float(len(ordered)), float(len(ordered))
    if not len(ordered):
        return None
    if statistic == "mean":
        known = np.isfinite(one.values)
        weights = None if one.weights is None else one.weights[known]
        if weights is not None and weights.sum() <= 0:
            return None
        mean = float(np.average(one.values[known], weights=weights))
        return mean, mean
    if one.weights is not None or statistic not in SHARES:
        return None
    place = (len(ordered) - 1) * SHARES[statistic]
    below, above = max(0, math.floor(place) - 1), min(len(ordered) - 1, math.ceil(place) + 1)
    return float(ordered[below]), float(ordered[above])


def find_disagreements(source: RecordingFiles, name: str, stated: pd.DataFrame) -> None:
    """Yield a finding for each stage whose summary contradicts the records, with the first number that differs."""
    wrong: dict[int, list[Mapping[str, Any]]] = {}
    for row in stated.astype("object").to_dict("records"):
        if not row["agrees"]:
            wrong.setdefault(row["stage"], []).append({str(key): value for key, value in row.items()})
    for stage, rows_of_stage in wrong.items():
        first = rows_of_stage[0]
        more = f", and {len(rows_of_stage) - 1} more" if len(rows_of_stage) > 1 else ""
        allowed = f"{first['low']:g}" if first["low"] == first["high"] else f"{first['low']:g} to {first['high']:g}"
        text = f"{first['statistic']} of {first['measure']} is {first['stated']:g} in its summary, but {allowed} by its"
        source.find("warning", name, f"stage {stage}: {text} records{more}; the numbers here are of the records")
