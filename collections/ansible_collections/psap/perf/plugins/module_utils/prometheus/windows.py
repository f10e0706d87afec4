"""Time windows: the step of a range query, and the parts for separate requests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

MOST_POINTS = 11_000
"""Maximum points of a series in one response of Prometheus."""
_POINTS = 300
_SMALLEST_STEP_S = 1


@dataclass(frozen=True, slots=True)
class Window:
    """From *start_s* to *end_s*, both included; seconds since the epoch."""

    start_s: float
    end_s: float

    def __post_init__(self) -> None:
        """Raise UsageError if it ends before it begins."""
        if self.end_s < self.start_s:
            raise UsageError(f"the window ends at {self.end_s:.3f}, before it begins at {self.start_s:.3f}")

    @property
    def length_s(self) -> float:
        """The length in seconds."""
        return self.end_s - self.start_s


def step_for(window: Window) -> int:
    """Return the default step of a range query: 300 of them in the window, in whole seconds, at least one."""
    return max(_SMALLEST_STEP_S, math.ceil(window.length_s / _POINTS))


def parts(window: Window, step_s: float, most_points: int = MOST_POINTS) -> Iterator[Window]:
    """Yield *window* in parts of at most *most_points*; together they have the same points, each once."""
    steps = math.floor(window.length_s / step_s + 1e-9)
    for first in range(0, steps + 1, most_points):
        last = min(first + most_points - 1, steps)
        end_s = window.end_s if last == steps else window.start_s + last * step_s
        yield Window(window.start_s + first * step_s, end_s)


def halves(window: Window, step_s: float) -> tuple[Window, Window] | None:
    """Return *window* divided between two of its points; None if it has only one."""
    steps = math.floor(window.length_s / step_s + 1e-9)
    if steps < 1:
        return None
    middle = (steps + 1) // 2
    return (
        Window(window.start_s, window.start_s + (middle - 1) * step_s),
        Window(window.start_s + middle * step_s, window.end_s),
    )
