"""Watching the leases of a run, so that its finalizers start before a lease ends."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc, utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Timing
from ansible_collections.psap.perf.plugins.module_utils.quads.extending import warning
from ansible_collections.psap.perf.plugins.module_utils.quads.record import BOOKED, Record, Records
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import (
    Reservation,
    reservation_of,
    running,
    span,
)

_LONGEST_PAUSE_S = 60.0


def watch(
    records: Records, server_of: Callable[[Record], Quads], timing: Timing, warn: Callable[[str], None] = lambda _: None
) -> str:
    """Watch the reservations of the run until one is about to end.

    Each check reads the end from the server, since a lab may extend or shorten a reservation. While the server is
    unavailable, the last known end counts.

    Args:
        records: The bookings of the run.
        server_of: Returns the server of a booking.
        timing: The clock.
        warn: Called once with a text for each end that is near.

    Returns:
        The reason why the run has to stop; empty after all hosts were released.
    """
    warned: set[tuple[str, str]] = set()
    while booked := [each for each in records.all() if each.phase == BOOKED]:
        pause_s = _LONGEST_PAUSE_S
        for record in booked:
            reservation, lost = _reservation(server_of, record, timing)
            if lost:
                return lost
            records.note_end(record.mark, utc_text(reservation.end))
            left_s = reservation.left.total_seconds() - record.stop_before_s
            if record.stop_before_s and left_s <= 0:
                return (
                    f"the lease of {record.cloud} lasts {reservation}: the run stops {span(_stop_before(record))} "
                    "before its end to clean up and release the hosts in time; ask the lab to extend the lease, or "
                    "request a longer one"
                )
            text = warning(reservation, record.warn_before_s)
            if text and (record.mark, record.end) not in warned:
                warned.add((record.mark, record.end))
                warn(f"{record.cloud}: {text}")
            pause_s = min(pause_s, max(1.0, left_s / 4))
        timing.pause(pause_s)
    return ""


def _reservation(server_of: Callable[[Record], Quads], record: Record, timing: Timing) -> tuple[Reservation, str]:
    """Return the reservation, and the reason if the run lost the hosts."""
    now = timing.now()
    end = parse_utc(record.end)
    recorded = Reservation(end, end - now, record.clock.known)
    if record.assignment is None:
        return recorded, ""
    try:
        quads = server_of(record)
        assignment = quads.assignment(record.assignment)
        rows = running(quads.rows(record.assignment), record.clock, now)
    except PerfError:
        return recorded, ""
    gone = sorted(set(record.hosts) - {row.host.name for row in rows})
    if not assignment.active or not assignment.carries(record.tag, quads.account.owner):
        return recorded, f"assignment {record.assignment} of {record.cloud} no longer belongs to the run: it was ended"
    if gone:
        return recorded, f"{', '.join(gone)} of {record.cloud} cannot be used any more: the lease ended"
    return reservation_of(rows, record.clock, now) or recorded, ""


def _stop_before(record: Record) -> timedelta:
    return timedelta(seconds=record.stop_before_s)
