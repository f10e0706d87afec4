"""Compare the clock of a host with the controller's, by the times of a request and its response."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """A host's clock is *offset_s* ahead of the controller's, give or take *within_s*."""

    offset_s: float
    within_s: float

    @classmethod
    def compare(cls, own: tuple[float, float], theirs: tuple[float, float]) -> Clock:
        """Return the clock by a request's begin and end, on the controller's clock and on the host's (as NTP does)."""
        ahead = ((theirs[0] - own[0]) + (theirs[1] - own[1])) / 2
        return cls(ahead, max(0.0, ((own[1] - own[0]) - (theirs[1] - theirs[0])) / 2))

    @property
    def correction_s(self) -> float:
        """Return the seconds to subtract from the host's times; 0 if the offset is within its uncertainty."""
        return self.offset_s if abs(self.offset_s) > self.within_s else 0.0
