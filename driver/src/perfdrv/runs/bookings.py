"""The hosts of QUADS that a run has, and for how long."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.quads.record import BOOKED, Records

from perfdrv.runs.durations import duration_text, parse


@dataclass(frozen=True, slots=True)
class Booking:
    """Hosts of one cloud.

    Attributes:
        end: of the lease, UTC.
        exact: false where the server's clock was taken for UTC.
        stop_before: seconds before the end at which the run stops; 0 for not at all.
    """

    cloud: str
    hosts: int
    end: str
    exact: bool
    stop_before: float = 0.0

    def text(self, now: datetime.datetime) -> str:
        """`cloud02: 5 hosts until 2026-11-28T15:00Z, 47h12m left; the run stops 1h00m before`."""
        end = parse(self.end)
        told = f"{self.cloud}: {self.hosts} host{'s' * (self.hosts != 1)}"
        if end is None:
            return told
        left = (end - now).total_seconds()
        about = "" if self.exact else " if the server's clock is UTC"
        rest = f"{duration_text(left)} left" if left > 0 else "which is over"
        stops = f"; the run stops {duration_text(self.stop_before)} before" if self.stop_before and left > 0 else ""
        return f"{told} until {self.end[:16]}Z{about}, {rest}{stops}"


def bookings(run_directory: Path) -> tuple[Booking, ...]:
    """Those that the run has and has not released; none where their files cannot be read."""
    try:
        records = [each for each in Records(run_directory).all() if each.phase == BOOKED]
    except PerfError:
        return ()
    return tuple(
        Booking(each.cloud, len(each.hosts), each.end, each.offset_s is not None, each.stop_before_s)
        for each in records
    )
