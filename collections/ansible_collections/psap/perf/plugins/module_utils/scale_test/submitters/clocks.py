"""The offset of a pod's clock, from one message and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

CLOCK_SCHEMA = "psap.perf/submitter-clock/1"


@dataclass(frozen=True, slots=True)
class ClockOffset:
    """How far the clock of a pod is ahead of the coordinator's, in seconds; the error is at most the uncertainty."""

    offset_s: float
    uncertainty_s: float

    @classmethod
    def of(cls, sent_s: float, there_s: float, received_s: float) -> ClockOffset:
        """Return the offset; the pod had the time *there_s* between the two times of the coordinator."""
        return cls(round(there_s - (sent_s + received_s) / 2, 6), round((received_s - sent_s) / 2, 6))

    @property
    def least_s(self) -> float:
        """The smallest possible difference between the clocks, in seconds."""
        return max(0.0, abs(self.offset_s) - self.uncertainty_s)

    def document(self, number: int) -> dict[str, Any]:
        """Return the content of ``clock.json``."""
        return {
            "schema": CLOCK_SCHEMA,
            "submitter": number,
            "offset_s": self.offset_s,
            "uncertainty_s": self.uncertainty_s,
        }
