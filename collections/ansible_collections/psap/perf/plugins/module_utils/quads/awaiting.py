"""Waiting until an assignment is delivered, with a timeout, since the server reports no failures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads
from ansible_collections.psap.perf.plugins.module_utils.quads.delivery import Delivery, delivery_of
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import LostAnswerError, QuadsError
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Record
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import own
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import reservation_of, running, span


def read_delivery(quads: Quads, record: Record, wanted: Sequence[str]) -> Delivery:
    """Return the present state of the delivery.

    Raises:
        QuadsError: If no assignment of the account has the mark.
    """
    number = record.assignment if record.assignment is not None else _number(quads, record)
    assignment = quads.assignment(number)
    if not assignment.carries(record.tag, quads.account.owner):
        raise QuadsError(f"assignment {number} does not have the mark {record.mark}")
    now = quads.connection.timing.now()
    rows = running(quads.rows(number), record.clock, now)
    reservation = reservation_of(rows, record.clock, now)
    moves = [] if assignment.provisioned else quads.moves()
    progress = [] if assignment.provisioned else quads.progress(assignment.cloud)
    return delivery_of(assignment, rows, wanted, reservation, moves, progress)


def wait(
    quads: Quads,
    parts: Sequence[tuple[Record, Sequence[str]]],
    timeout: timedelta,
    interval: timedelta,
    report: Callable[[str], None] = lambda _text: None,
) -> list[Delivery]:
    """Check every *interval* until all *parts* are ready, and report changes.

    Args:
        parts: Bookings, each with the hosts that it must have.

    Raises:
        WaitTimeoutError: If hosts are missing after *timeout*.
        QuadsError: If an assignment ended.
    """
    timing = quads.connection.timing
    end = timing.monotonic() + timeout.total_seconds()
    reported, last, lost = "", [], None
    while True:
        try:
            last, lost = [read_delivery(quads, record, wanted) for record, wanted in parts], None
        except LostAnswerError as error:
            lost = error
        text = f"{lost}; tried again" if lost else _progress_text(last)
        if text != reported:
            report(text)
            reported = text
        if not lost:
            if all(each.ready for each in last):
                return last
            for each in last:
                if each.ended or each.reservation is None:
                    raise QuadsError(f"assignment {each.assignment.id} ended before it was delivered: {each}")
        if timing.monotonic() >= end:
            if not last and lost:
                raise lost
            late = [each for each in last if not each.ready]
            expired = WaitTimeoutError(
                f"QUADS did not deliver {' and '.join(each.assignment.cloud for each in late)} within {span(timeout)}: "
                f"{_progress_text(late)}; wait longer, or ask the lab about the missing hosts"
            )
            expired.result = {"laggards": {name: why for each in late for name, why in each.laggards.items()}}
            raise expired
        timing.pause(min(interval.total_seconds(), max(0.0, end - timing.monotonic())))


def _progress_text(deliveries: Sequence[Delivery]) -> str:
    if len(deliveries) == 1:
        return str(deliveries[0])
    return "; ".join(f"{each.assignment.cloud}: {each}" for each in deliveries)


def _number(quads: Quads, record: Record) -> int:
    found = own(quads, record)
    if not found:
        raise QuadsError(
            f"{quads.account.owner or 'this account'} has no active assignment with the mark {record.mark}; "
            "list the assignments with: perfdrv toolbox quads list-assignments"
        )
    return min(each.id for each in found)
