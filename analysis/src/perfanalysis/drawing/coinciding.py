"""Curves that lie on each other: the upper hides the lower, so that the legend must say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARES = np.linspace(0.0, 1.0, 101)
NEAR = 0.004
"""The part of the axis that is the width of a line, about."""


def labels_with_overlaps(labels: Sequence[str], samples: Sequence[NDArray[np.float64]]) -> tuple[str, ...]:
    """The labels of cumulative distributions in the order of drawing; one that hides an earlier one says which.

    Two coincide when all their percentiles are nearer to each other than a line is wide.
    """
    ordered = [np.quantile(values, SHARES) if len(values) else None for values in samples]
    known = [curve for curve in ordered if curve is not None]
    reach = max((float(curve[-1]) for curve in known), default=0.0) - min((0.0, *(float(curve[0]) for curve in known)))
    hidden: Mapping[int, int | None] = {
        place: next((before for before in range(place) if _are_near(ordered[before], curve, NEAR * reach)), None)
        for place, curve in enumerate(ordered)
    }
    return tuple(
        label if (under := hidden[place]) is None else f"{label}, lies on {_short(labels[under])}"
        for place, label in enumerate(labels)
    )


def _are_near(first: NDArray[np.float64] | None, second: NDArray[np.float64] | None, limit: float) -> bool:
    return first is not None and second is not None and float(np.abs(first - second).max()) <= limit


def _short(label: str) -> str:
    """A label without what stands in brackets at its end."""
    return label.rpartition(" (")[0] or label
