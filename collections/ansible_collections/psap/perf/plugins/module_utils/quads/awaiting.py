"""Waiting until an assignment is delivered, with a deadline of our own: a server tells no failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta

from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads
from ansible_collections.psap.perf.plugins.module_utils.quads.delivery import Delivery, delivery_of
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import LostAnswerError, QuadsError
from ansible_collections.psap.perf.plugins.module_utils.quads.lease import lease_of, running, span
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Record
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import own


def look(quads: Quads, record: Record, wanted: Sequence[str]) -> Delivery:
    """How far the delivery is, at this moment.

    :raises QuadsError: when there is no assignment with the mark, or it is not ours.
    """
    number = record.assignment if record.assignment is not None else _number(quads, record)
    assignment = quads.assignment(number)
    if not assignment.carries(record.tag, quads.account.owner):
        raise QuadsError(f"assignment {number} is not the one with the mark {record.mark}")
    now = quads.connection.timing.now()
    rows = running(quads.rows(number), record.clock, now)
    lease = lease_of(rows, record.clock, now)
    moves = [] if assignment.provisioned else quads.moves()
    progress = [] if assignment.provisioned else quads.progress(assignment.cloud)
    return delivery_of(assignment, rows, wanted, lease, moves, progress)


def wait(
    quads: Quads,
    record: Record,
    wanted: Sequence[str],
    timeout: timedelta,
    interval: timedelta,
    say: Callable[[str], None] = lambda _text: None,
) -> Delivery:
    """Look every *interval* until it is ready; what changes is said.

    :raises WaitTimeoutError: when it is not within *timeout*, naming who lags.
    :raises QuadsError: when it can become ready no more.
    """
    timing = quads.connection.timing
    end = timing.monotonic() + timeout.total_seconds()
    said, last, lost = "", None, None
    while True:
        try:
            last, lost = look(quads, record, wanted), None
        except LostAnswerError as error:
            lost = error
        told = f"{lost}; tried again" if lost else str(last)
        if told != said:
            say(told)
            said = told
        if last is not None and not lost:
            if last.ready:
                return last
            if last.ended or last.lease is None:
                raise QuadsError(f"assignment {last.assignment.id} ended before it was delivered: {last}")
        if timing.monotonic() >= end:
            if last is None and lost:
                raise lost
            what = last.assignment.cloud if last else "the hosts"
            late = WaitTimeoutError(
                f"QUADS did not deliver {what} within {span(timeout)}: {last}; "
                "wait longer, or ask the lab about the hosts that lag"
            )
            late.result = {"laggards": dict(last.laggards) if last else {}}
            raise late
        timing.pause(min(interval.total_seconds(), max(0.0, end - timing.monotonic())))


def _number(quads: Quads, record: Record) -> int:
    found = own(quads, record)
    if not found:
        raise QuadsError(
            f"{quads.account.owner or 'nobody'} has no active assignment with the mark {record.mark}; "
            "perfdrv toolbox quads list-assignments shows what there is"
        )
    return min(each.id for each in found)
