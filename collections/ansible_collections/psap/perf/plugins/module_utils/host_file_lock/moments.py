"""A point in time by the clock of a host, which may be set while a lock is held."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Moment:
    """A point in time: *wall* in seconds since 1970, and *boot* in seconds of the boot *boot_id*."""

    wall: float
    boot_id: str
    boot: float

    @classmethod
    def now(cls) -> Moment:
        """Return the present moment of this host."""
        boot_id = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return cls(time.time(), boot_id, time.clock_gettime(time.CLOCK_BOOTTIME))

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Moment:
        """Return the moment from the result of `dataclasses.asdict`."""
        return cls(float(document["wall"]), str(document["boot_id"]), float(document["boot"]))

    def of_boot(self, now: Moment) -> Moment:
        """Return the moment by the clock of the boot of *now*, at most *now*."""
        if self.boot_id == now.boot_id:
            return self
        return Moment(self.wall, now.boot_id, now.boot - max(0.0, now.wall - self.wall))

    def text(self) -> str:
        """Return the wall clock time in UTC, to the second."""
        return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.wall))
