"""The progress of the test, in a small file that is rewritten about every second."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA = "psap.perf/progress/1"
# rates are those of the last seconds
_WINDOW_S = 5.0


@dataclass(frozen=True, slots=True)
class Progress:
    """Counts of workloads at one moment; rates in workloads a second over the last five seconds.

    ``steps`` are percentiles, in seconds, of the workloads' durations so far; ``summary`` is the accounting in words,
    at the end.
    """

    phase: str
    planned: int
    submitted: int
    running: int
    completed: int
    failed: int
    lost: int
    submitted_per_s: float
    completed_per_s: float
    elapsed_s: float
    updated_s: float
    steps: Mapping[str, Mapping[str, float | int | None]] = field(default_factory=dict)
    churned: int = 0
    summary: str | None = None

    def fields(self) -> dict[str, Any]:
        """Return the counts by name, for an expression over them."""
        return asdict(self)

    def document(self) -> dict[str, Any]:
        """Return the content of ``progress.json``, in the format of all commands."""
        return {
            "schema": SCHEMA,
            "phase": self.phase,
            "done": self.completed + self.churned + self.failed + self.lost,
            "of": self.planned,
            "numbers": {
                "submitted": {"value": self.submitted, "of": self.planned, "per_s": self.submitted_per_s},
                "running": {"value": self.running},
                "completed": {"value": self.completed, "per_s": self.completed_per_s},
                "churned": {"value": self.churned},
                "failed": {"value": self.failed},
                "lost": {"value": self.lost},
            },
            "durations": self.steps,
            "elapsed_s": self.elapsed_s,
            "updated_s": self.updated_s,
            "summary": self.summary,
        }


class Meter:
    """Rates over a sliding window."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, int, int]] = deque()

    def rates(self, now_s: float, submitted: int, completed: int) -> tuple[float, float]:
        """Return submitted and completed a second, from this sample and those of the window before it."""
        self._samples.append((now_s, submitted, completed))
        while len(self._samples) > 2 and now_s - self._samples[0][0] > _WINDOW_S:
            self._samples.popleft()
        since, submitted_then, completed_then = self._samples[0]
        span = now_s - since
        if span <= 0:
            return 0.0, 0.0
        return round((submitted - submitted_then) / span, 1), round((completed - completed_then) / span, 1)
