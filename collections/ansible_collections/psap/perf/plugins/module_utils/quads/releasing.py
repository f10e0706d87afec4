"""Find the assignments of a run by mark and owner, and end only these."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_text
from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads, not_found
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import (
    LostAnswerError,
    QuadsError,
    Refusal,
    RefusedError,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment
from ansible_collections.psap.perf.plugins.module_utils.quads.record import (
    PHASES,
    RELEASED,
    REQUESTING,
    Record,
    mark_of,
    whole_mark,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.reservation import running

_ATTEMPTS = 5
_PAUSE_S = 2.0


@dataclass(frozen=True, slots=True)
class ReleaseResult:
    """The assignments that were ended; *lost* is the time of a request for which the server made none."""

    ended: tuple[Assignment, ...]
    lost: str = ""


def own(quads: Quads, record: Record, owner: str = "") -> list[Assignment]:
    """Return the active assignments with the mark of *record* that *owner* has, by default the account's owner."""
    owner = owner or quads.account.owner
    return [each for each in quads.assignments(owner) if each.carries(record.tag, owner)]


def parts(quads: Quads, mark: str, owner: str = "") -> list[str]:
    """Return the marks of the active assignments of the request with *mark*, which may be split over clouds."""
    owner = owner or quads.account.owner
    found = {mark_of(each.description) for each in quads.assignments(owner) if each.owner == owner}
    return sorted(each for each in found if mark in (each, whole_mark(each)))


def unfinished(records: Iterable[Record]) -> list[Record]:
    """Return the unfinished bookings: all parts of incomplete requests of this run."""
    records = list(records)
    incomplete = {whole_mark(each.mark) for each in records if each.phase == REQUESTING}
    return [
        each
        for each in records
        if whole_mark(each.mark) in incomplete and each.asked_at and each.phase in PHASES and each.phase != RELEASED
    ]


def left_alone(records: Iterable[Record]) -> tuple[str, ...]:
    """Return a sentence for each booking whose phase is unknown, which is not released."""
    return tuple(
        f"the booking {each.mark} has the unknown phase {each.phase!r} and was left as it is; release it with "
        f"perfdrv quads release-assignment --mark {each.mark}"
        for each in records
        if each.phase not in PHASES
    )


def release(
    quads: Quads, record: Record, only: int | None = None, report: Callable[[str], None] = lambda _text: None
) -> ReleaseResult:
    """End every assignment of *record*, or *only* one of them.

    After a request without a response, wait for as long as the server may still make the assignment.

    Raises:
        QuadsError: If an assignment cannot be ended.
    """
    ended: dict[int, Assignment] = {}
    until = record.pending_until if only is None else None
    while True:
        found = [each for each in own(quads, record) if only in (None, each.id) and each.id not in ended]
        for assignment in found:
            _end(quads, record, assignment)
            ended[assignment.id] = assignment
        if found:
            # an earlier request may have made another one meanwhile
            continue
        lost = until is not None and not ended
        if until is None or ended or quads.connection.timing.now() >= until:
            return ReleaseResult(tuple(ended.values()), record.asked_at if lost else "")
        report(f"the server may make the assignment of {record.asked_at} until {utc_text(until)}; waiting for it")
        quads.connection.timing.pause(_PAUSE_S)


def _end(quads: Quads, record: Record, found: Assignment) -> None:
    before = _ends(quads, found.id)
    lost: LostAnswerError | RefusedError | None = None
    for attempt in range(_ATTEMPTS):
        # an id may be reused, so compare mark and owner before each attempt
        now = quads.assignment(found.id)
        if not now.carries(record.tag, quads.account.owner):
            raise QuadsError(f"assignment {found.id} does not have the mark {record.mark}; nothing was ended")
        if not now.active or _cut(before, _ends(quads, found.id)):
            return
        try:
            _ask_to_end(quads, record, found.id)
        except LostAnswerError as error:
            lost = error
            quads.connection.timing.pause(_PAUSE_S * attempt)
        except RefusedError as error:
            lost = error
            if error.refusal is Refusal.NOTHING_RUNS or not_found(error):
                break
            raise
    now = quads.assignment(found.id)
    if not now.active or _cut(before, _ends(quads, found.id)):
        return
    if isinstance(lost, RefusedError) and not before:
        raise QuadsError(
            f"assignment {found.id} ({found.cloud}) has no hosts, and this server ends only assignments with hosts: "
            "ask the lab to deactivate it"
        ) from lost
    raise lost or QuadsError(f"QUADS confirmed the end of assignment {found.id}, but still lists it as active")


def _ask_to_end(quads: Quads, record: Record, number: int) -> None:
    if quads.server.self_service:
        quads.terminate(number)
        return
    rows = quads.rows(number)
    if not rows:
        quads.deactivate(number)
        return
    clock = record.clock
    if not clock.known:
        raise QuadsError("the offset of this server's clock is unknown: set utc_offset")
    now = quads.connection.timing.now()
    current = running(rows, clock, now)
    for row in current:
        quads.end_row(row.id, clock.to_server(now))
    if not current:
        quads.deactivate(number)


def _ends(quads: Quads, assignment: int) -> Mapping[int, datetime]:
    return {row.id: row.end for row in quads.rows(assignment)}


def _cut(before: Mapping[int, datetime], after: Mapping[int, datetime]) -> bool:
    """Return whether every row ends earlier than before: the server then ends the assignment with its next moves."""
    return bool(before) and all(number in after and after[number] < end for number, end in before.items())
