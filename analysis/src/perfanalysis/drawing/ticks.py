"""Where an axis has its ticks, and what they say: round numbers, few enough to be read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perfanalysis.drawing.charts import Axis

if TYPE_CHECKING:
    from collections.abc import Sequence

STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
THIN_SPACE = "\u202f"
MINUS = "\u2212"


@dataclass(frozen=True)
class Tick:
    """A place on the axis, in its unit, and its text."""

    at: float
    text: str


def ticks(axis: Axis, low: float, high: float, most: int) -> tuple[Tick, ...]:
    """At most about so many ticks between two values of the axis; its categories, or some of them, where it has any."""
    if axis.categories:
        every = math.ceil(len(axis.categories) / max(most, 1))
        return tuple(Tick(place, axis.categories[place]) for place in range(0, len(axis.categories), every))
    if axis.scale == "log":
        return _powers_of_ten(low, high, most)
    return _round_numbers(low, high, most, whole=axis.whole)


def _powers_of_ten(low: float, high: float, most: int) -> tuple[Tick, ...]:
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    every = math.ceil(len(powers) / max(most, 2)) or 1
    return tuple(Tick(10.0**power, _text(10.0**power, max(-power, 0))) for power in powers[::every])


def _round_numbers(low: float, high: float, most: int, *, whole: bool) -> tuple[Tick, ...]:
    step = _round_step((high - low) / max(most, 1))
    if whole:
        step = max(math.ceil(step), 1)
    digits = _digits(step)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return tuple(Tick(place * step, _text(place * step, digits)) for place in range(first, last + 1))


def _round_step(least: float) -> float:
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(step * power for step in STEPS if step * power >= least * 0.999)


def _digits(step: float) -> int:
    """Decimals that a multiple of the step needs."""
    return next((digits for digits in range(9) if abs(round(step, digits) - step) <= 1e-6 * step), 9)


def _text(value: float, digits: int) -> str:
    return f"{value + 0.0:,.{digits}f}".replace(",", THIN_SPACE).replace("-", MINUS)


def extent(axis: Axis, values: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """From where to where an axis goes: as declared, else with a little room above the data's own ends."""
    if axis.categories:
        return len(axis.categories) - 0.5, -0.5
    low = axis.low if axis.low is not None else min((pair[0] for pair in values), default=0.0)
    if axis.high is not None:
        high = axis.high
    else:
        high = max((pair[1] for pair in values), default=low)
        high += 0.05 * (high - low)
    return low, high if high > low else low + 1.0
