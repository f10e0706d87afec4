"""The correction for many KPIs at once."""

from __future__ import annotations

from collections.abc import Sequence


def corrected(values: Sequence[float]) -> tuple[float, ...]:
    """Adjusted p-values: reporting those up to q keeps the expected share of false ones among them at q.

    Y. Benjamini, Y. Hochberg: Controlling the false discovery rate. J. R. Statist. Soc. B 57, 1995.
    """
    count = len(values)
    adjusted = [1.0] * count
    least = 1.0
    for rank, place in reversed(list(enumerate(sorted(range(count), key=lambda place: values[place]), start=1))):
        least = min(least, values[place] * count / rank)
        adjusted[place] = least
    return tuple(adjusted)
