"""Watching the leases of a run, so that its finalizers begin before the hosts are taken away."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc, utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Timing
from ansible_collections.psap.perf.plugins.module_utils.quads.extending import warning
from ansible_collections.psap.perf.plugins.module_utils.quads.lease import Lease, lease_of, running, span
from ansible_collections.psap.perf.plugins.module_utils.quads.record import BOOKED, Record, Records

_LONGEST_PAUSE_S = 60.0


def watch(
    records: Records, server_of: Callable[[Record], Quads], timing: Timing, warn: Callable[[str], None] = lambda _: None
) -> str:
    """Look at the leases of what is booked until one ends; why the run has to stop, or nothing when all is released.

    The server is asked each time, since a lab may extend a lease or cut it. While it does not answer, the end that it
    told last counts.

    :param warn: is told once of each end that is near.
    """
    warned: set[tuple[str, str]] = set()
    while booked := [each for each in records.all() if each.phase == BOOKED]:
        pause_s = _LONGEST_PAUSE_S
        for record in booked:
            lease, lost = _lease(server_of, record, timing)
            if lost:
                return lost
            records.note_end(record.mark, utc_text(lease.end))
            left_s = lease.left.total_seconds() - record.stop_before_s
            if record.stop_before_s and left_s <= 0:
                return (
                    f"the lease of {record.cloud} lasts {lease}: the run stops {span(_stop_before(record))} before its "
                    "end, so that it is cleaned up and released in time; have the lab extend the lease, or ask for a "
                    "longer one"
                )
            told = warning(lease, record.warn_before_s)
            if told and (record.mark, record.end) not in warned:
                warned.add((record.mark, record.end))
                warn(f"{record.cloud}: {told}")
            pause_s = min(pause_s, max(1.0, left_s / 4))
        timing.pause(pause_s)
    return ""


def _lease(server_of: Callable[[Record], Quads], record: Record, timing: Timing) -> tuple[Lease, str]:
    """The lease, and what happened to the hosts if they are not the run's any more."""
    now = timing.now()
    end = parse_utc(record.end)
    noted = Lease(end, end - now, record.clock.known)
    if record.assignment is None:
        return noted, ""
    try:
        quads = server_of(record)
        assignment = quads.assignment(record.assignment)
        rows = running(quads.rows(record.assignment), record.clock, now)
    except PerfError:
        return noted, ""
    gone = sorted(set(record.hosts) - {row.host.name for row in rows})
    if not assignment.active or not assignment.carries(record.tag, quads.account.owner):
        return noted, f"assignment {record.assignment} of {record.cloud} is not the run's any more; somebody ended it"
    if gone:
        return noted, f"{', '.join(gone)} of {record.cloud} cannot be used any more: the lease is over, or was cut"
    return lease_of(rows, record.clock, now) or noted, ""


def _stop_before(record: Record) -> timedelta:
    return timedelta(seconds=record.stop_before_s)
