"""How far the clock of a host is from the controller's, by the times at which both were asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Clock:
    """A host's clock is *offset_s* ahead of the controller's, give or take *within_s*."""

    offset_s: float
    within_s: float

    @classmethod
    def compared(cls, ours: tuple[float, float], theirs: tuple[float, float]) -> Clock:
        """Of a question: when it was sent and answered by our clock, received and answered by theirs (as NTP does)."""
        ahead = ((theirs[0] - ours[0]) + (theirs[1] - ours[1])) / 2
        return cls(ahead, max(0.0, ((ours[1] - ours[0]) - (theirs[1] - theirs[0])) / 2))

    @property
    def correction_s(self) -> float:
        """What to subtract from the host's times; nothing where the difference is not known to be one."""
        return self.offset_s if abs(self.offset_s) > self.within_s else 0.0
