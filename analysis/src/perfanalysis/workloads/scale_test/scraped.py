"""Scraped metrics: increases of counters over a test, and percentiles of histograms made of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from perfanalysis.workloads.percentiles import smallest_sample

if TYPE_CHECKING:
    from numpy.typing import NDArray

LABELS = (
    *("component", "metric", "verb", "code", "resource", "subresource", "operation"),
    *("queue", "name", "result", "extension_point", "request_kind", "le"),
)


@dataclass(frozen=True)
class Quantile:
    """A percentile of a histogram, or why there is none; `count` is what it was made from."""

    value: float | None
    reason: str | None
    count: int


def with_increases(samples: pd.DataFrame) -> pd.DataFrame:
    """The samples in the order of time, with the `increase` since the same series' sample before.

    A counter that fell was reset by a restart: what it shows was counted since. A series that was not there at its
    component's first scrape began at 0. At the first scrape nothing is known to have increased.
    """
    frame = samples.sort_values("at_s", kind="stable", ignore_index=True)
    series = _series(frame)
    before = frame["value"].groupby(series).shift()
    first = frame["at_s"] <= frame.groupby("component", observed=True)["at_s"].transform("min")
    fell = before.isna() | (frame["value"] < before)
    increase = frame["value"].where(fell, frame["value"] - before).where(~(first & before.isna()), 0.0)
    return frame.assign(increase=increase, series=series)


def _series(frame: pd.DataFrame) -> NDArray[np.int64]:
    """One number for each combination of labels."""
    number = np.zeros(len(frame), dtype="int64")
    for label in LABELS:
        column = frame[label].cat
        number = number * (len(column.categories) + 1) + column.codes.to_numpy() + 1
    return np.asarray(pd.factorize(number)[0])


def quantile(bounds: NDArray[np.float64], counts: NDArray[np.float64], share: float) -> Quantile:
    """A percentile by linear interpolation within its bucket, whose values are taken as evenly spread.

    `bounds` are the buckets' upper bounds, ascending, `counts` how many values each has below its bound. Refused below
    the smallest sample of the percentile, and where it lies above the largest finite bound.
    """
    cumulative = np.maximum.accumulate(counts)
    total = float(cumulative[-1]) if len(cumulative) else 0.0
    number = round(total)
    needed = smallest_sample(share)
    if number < needed:
        return Quantile(None, f"needs {needed} values, has {number}", number)
    place = int(np.searchsorted(cumulative, share * total, side="left"))
    if not np.isfinite(bounds[place]):
        finite = bounds[np.isfinite(bounds)]
        return Quantile(None, f"lies above the largest bucket, {finite[-1] if len(finite) else 0:g} s", number)
    below = float(cumulative[place - 1]) if place else 0.0
    lower = float(bounds[place - 1]) if place else 0.0
    inside = (share * total - below) / (float(cumulative[place]) - below)
    return Quantile(lower + (float(bounds[place]) - lower) * inside, None, number)


def buckets(rows: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds and increases of a histogram's rows, summed over all labels but `le`."""
    summed = rows.groupby("le", observed=True)["increase"].sum()
    texts: list[Any] = list(summed.index)
    bounds = np.array([np.inf if str(text) == "+Inf" else float(text) for text in texts])
    order = np.argsort(bounds)
    return bounds[order], summed.to_numpy(dtype=float)[order]
