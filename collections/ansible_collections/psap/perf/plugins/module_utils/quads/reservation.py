"""Reservations of hosts: how long an assignment keeps its hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_text
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Row
from ansible_collections.psap.perf.plugins.module_utils.quads.times import ServerClock


@dataclass(frozen=True, slots=True)
class Reservation:
    """The remaining time of an assignment's hosts, which ends with the row that ends first.

    *exact* is false where the server's time zone is not known; its times are then read as UTC.
    """

    end: datetime
    left: timedelta
    exact: bool

    def too_short(self, shortest: timedelta) -> bool:
        """Return whether it is shorter than *shortest* by more than the minute that a booking takes."""
        return self.left + timedelta(minutes=1) < shortest

    def __str__(self) -> str:
        about = "" if self.exact else " if the server's clock is UTC"
        return f"until {utc_text(self.end)[:16]}Z, in {span(self.left)}{about}"


def running(rows: Iterable[Row], clock: ServerClock, now: datetime) -> list[Row]:
    """Return the rows that have not ended at *now*, an aware moment."""
    wall = clock.to_server(now)
    return [row for row in rows if row.end > wall]


def reservation_of(rows: Iterable[Row], clock: ServerClock, now: datetime) -> Reservation | None:
    """Return the reservation of an assignment with these *rows*; None if none is running at *now*."""
    ends = [row.end for row in running(rows, clock, now)]
    if not ends:
        return None
    end = clock.to_utc(min(ends))
    return Reservation(end, end - now, clock.known)


def listing(assignments: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return a line for each assignment that a verb returns: cloud, owner, end, description and hosts."""
    return [
        "  ".join(
            (
                f"{each['cloud']:<9}",
                f"{each['owner']:<12}",
                _end_text(each),
                str(each["description"]),
                ", ".join(each["hosts"]),
            )
        ).rstrip()
        for each in assignments
    ]


def _end_text(assignment: Mapping[str, Any]) -> str:
    if not assignment["lease_end"]:
        return "without hosts"
    return f"until {str(assignment['lease_end'])[:16]}{'Z' if assignment['lease_exact'] else ' of the server'}"


def span(length: timedelta) -> str:
    """Return *length* as text, for example ``47 h 59 min`` or ``5 s``."""
    if length < timedelta(minutes=1):
        return f"{max(0, round(length.total_seconds()))} s"
    minutes = round(length.total_seconds() / 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min"
