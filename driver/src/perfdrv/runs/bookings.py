"""The hosts of QUADS that a run has booked, and until when."""

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
        end: End of the booking, UTC.
        exact: False if the server's clock is assumed to be UTC.
        stop_before: Seconds before the end at which the run stops; 0 for never.
    """

    cloud: str
    hosts: int
    end: str
    exact: bool
    stop_before: float = 0.0

    def text(self, now: datetime.datetime) -> str:
        """Return a line such as `cloud02: 5 hosts until 2026-11-28T15:00Z, 47h12m left; the run stops 1h00m before`."""
        end = parse(self.end)
        hosts = f"{self.cloud}: {self.hosts} host{'s' * (self.hosts != 1)}"
        if end is None:
            return hosts
        left = (end - now).total_seconds()
        about = "" if self.exact else " if the server's clock is UTC"
        rest = f"{duration_text(left)} left" if left > 0 else "expired"
        stops = f"; the run stops {duration_text(self.stop_before)} before" if self.stop_before and left > 0 else ""
        return f"{hosts} until {self.end[:16]}Z{about}, {rest}{stops}"


def bookings(run_directory: Path) -> tuple[Booking, ...]:
    """Return the bookings that the run has not released; none if their files cannot be read."""
    try:
        records = [each for each in Records(run_directory).all() if each.phase == BOOKED]
    except PerfError:
        return ()
    return tuple(
        Booking(each.cloud, len(each.hosts), each.end, each.offset_s is not None, each.stop_before_s)
        for each in records
    )
