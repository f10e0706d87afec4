"""Whether one value is unlike those before it: by a t score, or by its rank."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from perfanalysis.verdicts.regression.change_points import two_sided
from perfanalysis.verdicts.regression.methods import FEWEST

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def by_score(before: NDArray[np.float64], value: float) -> float | None:
    """The p-value of *value* as one more draw of what *before* is drawn from; None when there are too few.

    t = (value - mean) / (s √(1 + 1/n)), n - 1 degrees of freedom: the prediction interval of a normal sample, which
    unlike a plain z score knows that mean and deviation are estimates. Where nothing ever varied, any other value has
    p = 0.
    """
    count = len(before)
    if count < FEWEST["z-score"]:
        return None
    mean, deviation = float(before.mean()), float(before.std(ddof=1))
    if math.isclose(value, mean, rel_tol=1e-12, abs_tol=1e-300):
        return 1.0
    if deviation <= 1e-12 * abs(mean):
        return 0.0
    return two_sided(abs(value - mean) / (deviation * math.sqrt(1 + 1 / count)), count - 1)


def by_rank(before: NDArray[np.float64], value: float) -> float | None:
    """The share of ranks, of n + 1, that are as extreme as that of *value* on either side; None with too few.

    It asks nothing of the distribution, and cannot be below 2 / (n + 1).
    """
    count = len(before)
    if count < FEWEST["percentile"]:
        return None
    above, below = int((before >= value).sum()), int((before <= value).sum())
    return min(1.0, 2 * (min(above, below) + 1) / (count + 1))


def z_score(before: NDArray[np.float64], value: float) -> float | None:
    """How many standard deviations *value* lies above the mean; None where nothing ever varied."""
    deviation = float(before.std(ddof=1))
    return (value - float(before.mean())) / deviation if deviation > 0 else None


def percentile_rank(before: NDArray[np.float64], value: float) -> float:
    """The share of earlier values below *value*, ties counted half."""
    return float(((before < value).sum() + 0.5 * (before == value).sum()) / len(before))
