"""Book hosts without booking any twice: before a retry, check for the object; after a write, read it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.booked import Booked, Partial, Wanted
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Order, Quads
from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Timing
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import (
    LostAnswerError,
    QuadsError,
    Refusal,
    RefusedError,
    UnfitServerError,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment, Row
from ansible_collections.psap.perf.plugins.module_utils.quads.record import (
    BOOKED,
    PLANNED,
    RELEASED,
    REQUESTING,
    Journal,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.releasing import own, release
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import reservation_of, running, span
from ansible_collections.psap.perf.plugins.module_utils.quads.times import infer_clock

ATTEMPTS = 4
_ROUNDS = 3
_CHECKS = 3
_PAUSE_S = 5.0
# refusals of one host; any other concerns the whole request
_HOST_REFUSALS = {Refusal.HOST_UNAVAILABLE, Refusal.HOST_CLOSED, Refusal.NOT_FOUND, Refusal.OTHER}


class _Contested(Exception):  # noqa: N818 - not an error: it begins the next round
    """Another user booked the same host or cloud at the same time; *host* is empty for a cloud."""

    def __init__(self, host: str, text: str) -> None:
        super().__init__(text)
        self.host = host


@dataclass(slots=True)
class Booker:
    """Books hosts for one mark, and records each step; *report* shows progress."""

    quads: Quads
    journal: Journal
    report: Callable[[str], None] = lambda _text: None
    _wrote: bool = False
    _found: bool = False
    """Another command made the assignment: a failure does not release it."""
    _refused: dict[str, str] = field(default_factory=dict)

    def book(self, order: Order, wanted: Wanted) -> Booked:
        """Book an assignment with its hosts; continue a booking that was begun before.

        Raises:
            QuadsError: If the booking fails. It is then released, unless another command made the assignment.
        """
        self._check_server()
        self.journal.plan()
        order = replace(order, description=f"{order.description} {self.journal.record.tag}".strip())
        try:
            for _round in range(_ROUNDS):
                try:
                    return self._round(order, wanted)
                except _Contested as error:
                    if self._found:
                        raise QuadsError(str(error)) from error
                    self.report(f"{error}; released, and tried again without it")
                    self._refused |= {error.host: str(error)} if error.host else {}
                    self._release()
                    self._timing.pause(_PAUSE_S)
            raise QuadsError(
                f"other users booked the same hosts or clouds at the same time, {_ROUNDS} times; try again"
            )
        except PerfError as error:
            self._release_after(error)
            raise

    def _check_server(self) -> None:
        """Refuse a server on which a booking could not be completed or released, before any request.

        Raises:
            UnfitServerError: If the server's version does not support the account.
            UsageError: If the server's time zone is needed, but unknown.
        """
        server = self.quads.server
        if server.self_service:
            if not server.releases:
                raise UnfitServerError(
                    f"this server ({server.version}) lets no user release self-scheduled hosts, so nothing was booked; "
                    "ask the lab for QUADS 2.1.6 or later"
                )
            return
        if not self.quads.account.admin:
            raise UnfitServerError(
                f"this server ({server.version}) has no self-scheduling, so that booking needs an administrator's "
                "account: set admin if yours is one, or ask the lab for a newer server"
            )
        if not self.journal.record.clock.known:
            raise UsageError(
                f"the offset of the clock of this server ({server.version}) is unknown, so nothing was booked; set "
                "utc_offset"
            )

    @property
    def _timing(self) -> Timing:
        return self.quads.connection.timing

    def _round(self, order: Order, wanted: Wanted) -> Booked:
        assignment = self._assignment(order)
        self._check_cloud_is_unshared(assignment)
        names = wanted.hosts if wanted.partial is Partial.SUBSTITUTE else wanted.hosts[: wanted.count]
        for name in names:
            booked = self._rows(assignment)
            if len(booked) >= wanted.count:
                break
            if name in self._refused or any(row.host.name == name for row in booked):
                continue
            try:
                self._add(assignment, name, wanted)
            except RefusedError as error:
                if error.refusal not in _HOST_REFUSALS | {Refusal.HOST_LIMIT}:
                    raise
                self._refused[name] = error.reason
                if error.refusal is Refusal.HOST_LIMIT or wanted.partial is Partial.RELEASE:
                    break
        return self._verify(assignment, wanted)

    def _verify(self, assignment: Assignment, wanted: Wanted) -> Booked:
        """Read the booking back, and raise a QuadsError if its hosts or its lease do not suffice."""
        rows = self._rows(assignment)
        for row in rows:
            self._check_host_is_unshared(row)
        enough = wanted.count if wanted.partial is Partial.RELEASE else wanted.at_least
        if len(rows) < enough:
            why = "; ".join(f"{name}: {reason}" for name, reason in self._refused.items()) or "it ran out of hosts"
            fate = "" if self._found else ", which were released"
            raise QuadsError(f"QUADS booked {len(rows)} hosts of at least {enough}{fate}: {why}")
        reservation = reservation_of(rows, self.journal.record.clock, self._timing.now())
        if reservation is None or reservation.too_short(wanted.shortest):
            fate = "" if self._found else ", and was released"
            raise QuadsError(
                f"the lease is too short{fate}: {reservation or 'it has ended'}, but {span(wanted.shortest)} are "
                "needed; the lab cuts leases at its weekly deadline: start after it, or request a shorter lease"
            )
        # the server may have made another one late
        self._end_others([each for each in self._own() if each.id != assignment.id])
        hosts = tuple(sorted(row.host.name for row in rows))
        self.journal.note(phase=BOOKED, hosts=hosts, end=utc_text(reservation.end))
        return Booked(assignment, tuple(rows), reservation, dict(self._refused), self._wrote)

    # the assignment

    def _assignment(self, order: Order) -> Assignment:
        found = self._own()
        self._found = bool(found) and self.journal.record.phase == PLANNED
        if not found and self.journal.record.pending_until:
            found = self._wait_late_assignment()
        found = found or self._request_assignment(order)
        first, *others = sorted(found, key=lambda each: each.id)
        self._end_others(others)
        self.journal.note(assignment=first.id, cloud=first.cloud)
        return first

    def _end_others(self, others: Sequence[Assignment]) -> None:
        """End surplus assignments with the mark."""
        for other in others:
            self.report(f"ending assignment {other.id}, which a request without a response made")
            release(self.quads, self.journal.record, only=other.id)

    def _wait_late_assignment(self) -> list[Assignment]:
        """Wait for the assignment of a request without a response, for as long as the server may still make it."""
        while (until := self.journal.record.pending_until) and self._timing.now() < until:
            found = self._own()
            if found:
                return found
            self.report(f"the server may make the assignment until {utc_text(until)}; waiting for it")
            self._timing.pause(_PAUSE_S)
        return self._own()

    def _request_assignment(self, order: Order) -> list[Assignment]:
        lost: Exception | None = None
        self._wrote = True
        for attempt in range(ATTEMPTS):
            asked_at = utc_text(self._timing.now())
            self.journal.note(phase=REQUESTING, assignment=None, cloud="", asked_at=asked_at, answered=False)
            try:
                self._send_request(order)
                self.journal.note(answered=True)
            except (LostAnswerError, DataQualityError) as error:
                lost = error
                if not getattr(error, "may_act", False):
                    self.journal.note(answered=True)
                self._timing.pause(_PAUSE_S * attempt + 1)
            except RefusedError as error:
                self.journal.note(answered=True)
                # the cause may be an earlier request without a response, or another user at the same time
                found = self._own() if error.refusal in (Refusal.CLOUD_LIMIT, Refusal.CLOUD_BUSY) else []
                if not found:
                    if error.refusal is not Refusal.CLOUD_BUSY or order.cloud:
                        raise
                    lost = error
                    continue
            found = self._wait_late_assignment()
            if found:
                return found
        raise lost or QuadsError("QUADS made an assignment, but does not list it; run quads_list_assignments")

    def _send_request(self, order: Order) -> None:
        if self.quads.server.self_service:
            self.quads.request(order)
            return
        for cloud in [order.cloud] if order.cloud else self.quads.free_clouds():
            # a cloud with an expired row counts as free, even if it has a current row too
            if self.quads.active_on(cloud) is None:
                self.quads.request_as_admin(order, cloud)
                return
        raise QuadsError("no cloud of the lab is free; try again later")

    def _check_cloud_is_unshared(self, assignment: Assignment) -> None:
        """Raise _Contested if the server gave the cloud to two users at the same time, and this one was later."""
        for check in range(_CHECKS):
            others = [
                each for each in self.quads.assignments() if each.cloud == assignment.cloud and each.id != assignment.id
            ]
            if not others:
                return
            text = f"{others[0].owner} has {assignment.cloud} as well (assignment {others[0].id})"
            if assignment.id > min(other.id for other in others) or check == _CHECKS - 1:
                raise _Contested("", text)
            self._timing.pause(_PAUSE_S)

    # hosts

    def _add(self, assignment: Assignment, host: str, wanted: Wanted) -> None:
        self._wrote = True
        lost: LostAnswerError | None = None
        for attempt in range(ATTEMPTS):
            # the server lets any user add hosts to any cloud, so check that the run still has this one
            now = self.quads.assignment(assignment.id)
            if not now.active or now.cloud != assignment.cloud:
                raise QuadsError(f"assignment {assignment.id} ended while hosts were added: another client ended it")
            asked = self._timing.now()
            try:
                self._schedule(assignment, host, wanted)
            except LostAnswerError as error:
                lost = error
                self._timing.pause(_PAUSE_S * attempt + 1)
                self._infer_clock_from_row(assignment, host, asked)
            except RefusedError as error:
                # the server returns the same message if the run has the host already
                if error.refusal is Refusal.HOST_UNAVAILABLE and self._has(assignment, host):
                    return
                raise
            else:
                return
        if lost and not self._has(assignment, host):
            raise lost

    def _schedule(self, assignment: Assignment, host: str, wanted: Wanted) -> None:
        start = end = None
        if not self.quads.server.self_service:
            # this server does not check, and would book the host twice
            start = self.journal.record.clock.to_server(self._timing.now()).replace(second=0, microsecond=0)
            end = start + wanted.longest
            if not self.quads.is_available(host, start, end):
                raise RefusedError(f"add {host}", 400, "Host is not available for the specified date range")
        row, clock = self.quads.add_host(assignment.cloud, host, start, end)
        if row.assignment != assignment.id:
            raise QuadsError(
                f"{host} was added to assignment {row.assignment} (row {row.id}), which has {assignment.cloud} now; "
                "inform its owner"
            )
        if clock.offset is not None and not self.journal.record.clock.known:
            self.journal.note(offset_s=clock.offset.total_seconds())

    def _infer_clock_from_row(self, assignment: Assignment, host: str, asked: datetime) -> None:
        """Record the server's clock without a response: the row begins at the server's present time."""
        if self.journal.record.clock.known or not self.quads.server.self_service:
            return
        for row in self.quads.rows(assignment.id):
            if row.host.name == host:
                clock = infer_clock(row.start, asked)
                if clock.offset is not None:
                    self.journal.note(offset_s=clock.offset.total_seconds())

    def _check_host_is_unshared(self, row: Row) -> None:
        """Raise _Contested if the server gave the host to two users at the same time, and this one was later."""
        for check in range(_CHECKS):
            now = self.journal.record.clock.to_server(self._timing.now())
            others = [
                other
                for other in self.quads.rows_of_host(row.host.name)
                if other.assignment != row.assignment
                and now < other.end
                and other.start < row.end
                and self._is_active(other.assignment)
            ]
            if not others:
                return
            text = f"{row.host.name} is booked for assignment {others[0].assignment} as well (row {others[0].id})"
            if row.id > min(other.id for other in others) or check == _CHECKS - 1:
                raise _Contested(row.host.name, text)
            self._timing.pause(_PAUSE_S)

    def _is_active(self, assignment: int) -> bool:
        return self.quads.assignment(assignment).active

    def _rows(self, assignment: Assignment) -> list[Row]:
        """Return one current row for each host."""
        found = running(self.quads.rows(assignment.id), self.journal.record.clock, self._timing.now())
        rows: dict[str, Row] = {}
        for row in sorted(found, key=lambda each: each.id):
            rows.setdefault(row.host.name, row)
        return list(rows.values())

    def _has(self, assignment: Assignment, host: str) -> bool:
        return any(row.host.name == host for row in self._rows(assignment))

    def _own(self) -> list[Assignment]:
        return own(self.quads, self.journal.record)

    # release

    def _release(self) -> None:
        release(self.quads, self.journal.record)

    def _release_after(self, error: PerfError) -> None:
        """Release a failed booking; if that fails too, report both errors."""
        if self._found:
            error.args = (
                f"{error}; the assignment with the mark {self.journal.record.mark} was made by another command and was "
                "not released: perfdrv quads release-assignment releases it",
            )
            return
        try:
            self._release()
            self.journal.note(phase=RELEASED)
        except PerfError as second:
            error.args = (
                f"{error}; the booked hosts could not be released ({second}): release {self.journal.record.mark}",
            )
