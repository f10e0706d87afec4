"""Finding what is ours by its mark and owner, ending it, and nothing of anybody else's."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from ansible_collections.psap.perf.plugins.module_utils.quads.client import Quads, not_found
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import (
    LostAnswerError,
    QuadsError,
    Refusal,
    RefusedError,
)
from ansible_collections.psap.perf.plugins.module_utils.quads.lease import running
from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Assignment
from ansible_collections.psap.perf.plugins.module_utils.quads.record import Record, mark_of, whole_mark

_ATTEMPTS = 5
_LOOKS = 2
_PAUSE_S = 2.0


def own(quads: Quads, record: Record) -> list[Assignment]:
    """The active assignments with the mark and the owner of *record*."""
    owner = quads.account.owner
    return [each for each in quads.assignments(owner) if each.carries(record.tag, owner)]


def parts(quads: Quads, mark: str) -> list[str]:
    """The marks of the active assignments of the wish with *mark*, which may have been split over clouds."""
    owner = quads.account.owner
    found = {mark_of(each.description) for each in quads.assignments(owner) if each.owner == owner}
    return sorted(each for each in found if mark in (each, whole_mark(each)))


def release(quads: Quads, record: Record, only: int | None = None) -> list[Assignment]:
    """End every assignment of *record*, or *only* one of them; those that were ended.

    :raises QuadsError: when one cannot be ended.
    """
    ended: dict[int, Assignment] = {}
    # a request whose answer was lost may be done late
    for look in range(_LOOKS):
        found = [each for each in own(quads, record) if only in (None, each.id) and each.id not in ended]
        if look and not found:
            break
        for assignment in found:
            _end(quads, record, assignment)
            ended[assignment.id] = assignment
    return list(ended.values())


def _end(quads: Quads, record: Record, found: Assignment) -> None:
    before = _ends(quads, found.id)
    lost: LostAnswerError | RefusedError | None = None
    basic = False
    for attempt in range(_ATTEMPTS):
        # an id says nothing of whose it is: the mark and the owner do, at this moment
        now = quads.assignment(found.id)
        if not now.carries(record.tag, quads.account.owner):
            raise QuadsError(f"assignment {found.id} is not the one with the mark {record.mark}; nothing was ended")
        if not now.active or _cut(before, _ends(quads, found.id)):
            return
        try:
            _ask_to_end(quads, record, found.id, basic)
        except LostAnswerError as error:
            lost = error
            quads.connection.timing.pause(_PAUSE_S * attempt)
        except RefusedError as error:
            lost = error
            if error.refusal is Refusal.OWNER and not basic and quads.account.password:
                # a revision of the server compares the owner with the whole header of a token
                basic = True
            elif error.refusal is Refusal.NOTHING_RUNS or not_found(error):
                break
            else:
                raise
    now = quads.assignment(found.id)
    if not now.active or _cut(before, _ends(quads, found.id)):
        return
    if isinstance(lost, RefusedError) and not before:
        raise QuadsError(
            f"assignment {found.id} ({found.cloud}) has no hosts, and this server ends only what has: "
            "ask the lab to make it inactive"
        ) from lost
    raise lost or QuadsError(f"QUADS said that assignment {found.id} was ended, and lists it as active")


def _ask_to_end(quads: Quads, record: Record, number: int, basic: bool) -> None:
    if quads.server.self_service:
        quads.terminate(number, basic)
        return
    clock = record.clock
    if not clock.known:
        raise QuadsError("this server wants times of its own clock, which it does not tell: set utc_offset")
    now = quads.connection.timing.now()
    rows = running(quads.rows(number), clock, now)
    for row in rows:
        quads.end_row(row.id, clock.to_server(now))
    if not rows:
        quads.deactivate(number)


def _ends(quads: Quads, assignment: int) -> Mapping[int, datetime]:
    return {row.id: row.end for row in quads.rows(assignment)}


def _cut(before: Mapping[int, datetime], after: Mapping[int, datetime]) -> bool:
    """Whether every row ends earlier than it did: the assignment goes with the server's next moves."""
    return bool(before) and all(number in after and after[number] < end for number, end in before.items())
