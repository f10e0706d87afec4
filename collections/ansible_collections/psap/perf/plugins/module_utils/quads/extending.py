"""Extending a reservation. QUADS allows it to administrators only; the error for other users names what to do."""

from __future__ import annotations

from datetime import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_text
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import LostAnswerError, QuadsError
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Row
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Record
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import own
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import (
    Reservation,
    reservation_of,
    running,
    span,
)

_ATTEMPTS = 4
_PAUSE_S = 2.0


def extend(quads: Quads, record: Record, until: datetime, owner: str = "") -> tuple[Reservation, list[Row]]:
    """Move the end of each row of the booking to *until* if it is earlier.

    Args:
        quads: The server, as the user of the account.
        record: The booking.
        until: An aware moment.
        owner: The owner of the booking; empty for the account's own.

    Returns:
        The reservation after the change, and the rows that changed.

    Raises:
        QuadsError: If the account is no administrator's, if other users have a host next, or if the server did not
            store the end.
    """
    now = quads.connection.timing.now()
    found = own(quads, record, owner)
    rows = [row for each in found for row in running(quads.rows(each.id), record.clock, now)]
    reservation = reservation_of(rows, record.clock, now)
    if reservation is None:
        raise QuadsError(
            f"{owner or quads.account.owner} has no running assignment with the mark {record.mark} to extend; for the "
            "booking of another user, set owner to the part of the email address before the @, as an administrator"
        )
    wall = record.clock.to_server(until).replace(second=0, microsecond=0)
    short = [row for row in rows if row.end < wall]
    if not short:
        return reservation, []
    if not quads.account.admin:
        raise QuadsError(
            f"only administrators can extend a lease of QUADS. This one lasts {reservation}; ask the lab before it "
            f"ends, or use an administrator's account with admin, and the owner {owner or quads.account.owner}"
        )
    if not record.clock.known:
        raise QuadsError("the offset of the server's clock is unknown: set utc_offset")
    # the server does not check for other bookings
    taken = [row.host.name for row in short if not quads.is_available(row.host.name, row.end, wall)]
    if taken:
        raise QuadsError(
            f"{', '.join(taken)} are not available until {utc_text(until)[:16]}Z: another booking uses them"
        )
    for row in short:
        _set_end(quads, row, wall)
    rows = [row for each in found for row in running(quads.rows(each.id), record.clock, now)]
    late = [row.host.name for row in rows if row.end < wall]
    reservation = reservation_of(rows, record.clock, now)
    if late or reservation is None:
        raise QuadsError(f"the lease of {', '.join(late) or 'all hosts'} was not extended; the call can be repeated")
    return reservation, short


def _set_end(quads: Quads, row: Row, wall: datetime) -> None:
    """Set the end of a row; an absolute time can be sent again."""
    for attempt in range(_ATTEMPTS):
        try:
            quads.end_row(row.id, wall)
        except LostAnswerError:
            if attempt == _ATTEMPTS - 1:
                raise
            quads.connection.timing.pause(_PAUSE_S)
        else:
            return


def warning(reservation: Reservation | None, before_s: float) -> str:
    """Return a sentence if the reservation ends within *before_s*, otherwise an empty text."""
    if reservation is None or reservation.left.total_seconds() > before_s:
        return ""
    return f"the lease ends in {span(reservation.left)}: release the hosts, or ask the lab to extend it"
