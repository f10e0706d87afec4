"""Student's t distribution: tail probabilities and quantiles, by the incomplete beta function."""

from __future__ import annotations

import math

_SMALLEST = 1e-300
_PRECISION = 1e-14
_MOST_STEPS = 500


def tail(statistic: float, freedom: float) -> float:
    """The two-sided p-value of a t statistic with *freedom* degrees of freedom (0 for an infinite one).

    P(abs(T) > t) = I_x(freedom / 2, 1 / 2) with x = freedom / (freedom + t²). Source: DLMF 8.17,
    https://dlmf.nist.gov/8.17.
    """
    if math.isinf(statistic):
        return 0.0
    return _regularized_beta(freedom / (freedom + statistic * statistic), freedom / 2, 0.5)


def quantile(confidence: float, freedom: float) -> float:
    """The t for which `confidence` of the distribution lies between -t and t; by bisection of `tail`."""
    low, high = 0.0, 1.0
    while tail(high, freedom) > 1 - confidence:
        low, high = high, 2 * high
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if tail(middle, freedom) > 1 - confidence else (low, middle)
    return high


def _regularized_beta(x: float, a: float, b: float) -> float:
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    # the fraction converges quickly on this side only; the other follows from the symmetry (DLMF 8.17.4)
    if x > (a + 1) / (a + b + 2):
        return 1 - _regularized_beta(1 - x, b, a)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    return math.exp(logarithm) / (a * _fraction(x, a, b))


def _fraction(x: float, a: float, b: float) -> float:
    """The continued fraction DLMF 8.17.22, by the modified algorithm of Lentz."""
    value, above, below = 1.0, 1.0, 0.0
    for step in range(1, _MOST_STEPS):
        half = step // 2
        if step % 2:
            part = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            part = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        below = 1 / _away_from_zero(1 + part * below)
        above = _away_from_zero(1 + part / above)
        value *= above * below
        if abs(above * below - 1) < _PRECISION:
            return value
    raise ArithmeticError(f"the incomplete beta function did not converge at x={x}, a={a}, b={b}")


def _away_from_zero(value: float) -> float:
    return value if abs(value) > _SMALLEST else _SMALLEST
