"""The least-squares line of values, with the confidence interval of its slope.

The formulas are those of simple linear regression: NIST/SEMATECH e-Handbook of Statistical Methods, section 4.1.4.1,
https://www.itl.nist.gov/div898/handbook/pmd/section1/pmd141.htm, and N. R. Draper and H. Smith, Applied Regression
Analysis, third edition, sections 1.2 to 1.4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from perfanalysis.workloads.percentiles import Value

FEWEST = 3
"""Below this, the residuals have no degree of freedom."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The line `intercept` + `slope` x; `error` is the standard error of the slope, with `count` - 2 degrees."""

    slope: float
    intercept: float
    error: float
    count: int

    @property
    def reach(self) -> float:
        """Return the half width of the 95 % confidence interval of the slope."""
        return t_95(self.count - 2) * self.error

    def at(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the line at x."""
        return self.intercept + self.slope * x


def t_95(freedom: int) -> float:
    """Return the t for which 95 % of the distribution lie between -t and t."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.975))


def trend_of(x: NDArray[np.float64], y: NDArray[np.float64]) -> Trend | None:
    """Return the line through the finite points; None for fewer than FEWEST points, or if all x are equal."""
    known = np.isfinite(x) & np.isfinite(y)
    x, y = x[known], y[known]
    if len(x) < FEWEST or x.min() == x.max():
        return None
    with np.errstate(all="ignore"):
        away = x - x.mean()
        squares = float(away @ away)
        if not 0 < squares < math.inf:
            return None
        slope = float(away @ (y - y.mean())) / squares
        intercept = float(y.mean()) - slope * float(x.mean())
        rest = y - intercept - slope * x
        error = math.sqrt(float(rest @ rest) / (len(x) - 2) / squares)
    return Trend(slope, intercept, error, len(x)) if math.isfinite(slope + intercept + error) else None


def slope_value(x: NDArray[np.float64], y: NDArray[np.float64]) -> Value:
    """Return the slope with its 95 % confidence interval, or the reason why it is missing."""
    found = trend_of(x, y)
    if found is None:
        count = int((np.isfinite(x) & np.isfinite(y)).sum())
        reason = f"needs {FEWEST} values, found {count}" if count < FEWEST else "all values are at one place"
        return Value(None, reason, count=count)
    return Value(found.slope, None, found.slope - found.reach, found.slope + found.reach, found.count)
