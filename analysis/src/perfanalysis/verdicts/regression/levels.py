"""The levels of a series between its changes, each with the 95 % interval of its mean."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from perfanalysis.verdicts.regression.change_points import scaled, t_95


@dataclass(frozen=True, slots=True)
class Level:
    """From the place *begin* up to but without *end*; no interval where no level has two values."""

    begin: int
    end: int
    value: float
    low: float | None
    high: float | None


def levels_of(values: Sequence[float], places: Sequence[int]) -> tuple[Level, ...]:
    """The levels that begin at the start and at each of *places*.

    Mean and t interval are those of the logarithms where all values are above 0, brought back: mean ± t s / √n. The
    spread s is pooled over all levels, since a new one may have a single run; its degrees of freedom are the values
    less the levels.
    """
    numbers = np.asarray(values, dtype=float)
    scale = scaled(numbers)
    logarithmic = scale is not numbers
    ends = [0, *places, len(numbers)]
    parts = [scale[begin:end] for begin, end in pairwise(ends)]
    freedom = len(numbers) - len(parts)
    squares = sum(float(((part - part.mean()) ** 2).sum()) for part in parts)
    reach = t_95(freedom) * math.sqrt(squares / freedom) if freedom > 0 else None

    def shown(value: float) -> float:
        return math.exp(value) if logarithmic else value

    found = []
    for (begin, end), part in zip(pairwise(ends), parts, strict=True):
        mean, half = float(part.mean()), None if reach is None else reach / math.sqrt(len(part))
        ends_of_interval = (None, None) if half is None else (shown(mean - half), shown(mean + half))
        found.append(Level(begin, end, shown(mean), *ends_of_interval))
    return tuple(found)
