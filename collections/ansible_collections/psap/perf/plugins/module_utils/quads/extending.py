"""A longer lease, where an administrator's account allows it; a tenant is told how it is."""

from __future__ import annotations

from datetime import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_text
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import LostAnswerError, QuadsError
from ansible_collections.psap.perf.plugins.module_utils.quads.lease import Lease, lease_of, running, span
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Row
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Record
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import own

_ATTEMPTS = 4
_PAUSE_S = 2.0


def extend(quads: Quads, record: Record, until: datetime, owner: str = "") -> tuple[Lease, list[Row]]:
    """Let every row of the booking end at *until*, an aware moment, if it ends before; the lease, and what changed.

    :param owner: whose booking it is, if not the account's own.

    :raises QuadsError: for a tenant, for hosts that are promised to others, or when an end read back is another one.
    """
    now = quads.connection.timing.now()
    found = own(quads, record, owner)
    rows = [row for each in found for row in running(quads.rows(each.id), record.clock, now)]
    lease = lease_of(rows, record.clock, now)
    if lease is None:
        raise QuadsError(
            f"{owner or quads.account.owner} has no running assignment with the mark {record.mark} to extend; for the "
            "booking of another user, an administrator sets owner to the part of the email address before the @"
        )
    wall = record.clock.to_server(until).replace(second=0, microsecond=0)
    short = [row for row in rows if row.end < wall]
    if not short:
        return lease, []
    if not quads.account.admin:
        raise QuadsError(
            f"QUADS lets only administrators extend a lease. This one lasts {lease}; ask the lab before it ends, or "
            f"use an administrator's account with admin, and the owner {owner or quads.account.owner}"
        )
    if not record.clock.known:
        raise QuadsError("the server needs times of its own clock, and no run here has learned it: set utc_offset")
    # the server checks nothing
    promised = [row.host.name for row in short if not quads.is_available(row.host.name, row.end, wall)]
    if promised:
        raise QuadsError(
            f"{', '.join(promised)} cannot be had until {utc_text(until)[:16]}Z: somebody else has booked them"
        )
    for row in short:
        _set_end(quads, row, wall)
    rows = [row for each in found for row in running(quads.rows(each.id), record.clock, now)]
    late = [row.host.name for row in rows if row.end < wall]
    lease = lease_of(rows, record.clock, now)
    if late or lease is None:
        raise QuadsError(f"the lease of {', '.join(late) or 'all hosts'} was not extended; the call can be repeated")
    return lease, short


def _set_end(quads: Quads, row: Row, wall: datetime) -> None:
    """Absolute, so that it can be sent again."""
    for attempt in range(_ATTEMPTS):
        try:
            quads.end_row(row.id, wall)
        except LostAnswerError:
            if attempt == _ATTEMPTS - 1:
                raise
            quads.connection.timing.pause(_PAUSE_S)
        else:
            return


def warning(lease: Lease | None, before_s: float) -> str:
    """A sentence when the lease ends within *before_s*; empty otherwise."""
    if lease is None or lease.left.total_seconds() > before_s:
        return ""
    return f"the lease ends in {span(lease.left)}: release the hosts, or have the lab extend it"
