"""Points in time of the recording: seconds since the epoch, UTC, with microseconds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RunClock:
    """UTC by the monotonic clock: both are read once, so that a change of the wall clock has no effect."""

    utc_s: float
    monotonic_s: float
    monotonic: Callable[[], float] = time.monotonic

    @classmethod
    def tied(cls) -> RunClock:
        """Return a clock tied to UTC now. Processes of one machine may share it, like their monotonic clock."""
        return cls(utc_s=time.time(), monotonic_s=time.monotonic())

    def now(self) -> float:
        """Return seconds since the epoch, to the microsecond."""
        return round(self.utc_s + self.monotonic() - self.monotonic_s, 6)
