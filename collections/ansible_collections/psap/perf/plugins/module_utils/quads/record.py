"""What a run knows of its booking, written before each call, so that a killed run's hosts are found and released."""

from __future__ import annotations

import fcntl
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import parse_utc
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.quads.times import ServerClock

FOLDER = "quads"
SCHEMA = "psap.perf/quads-booking/1"
PLANNED, REQUESTING, BOOKED, RELEASED = "planned", "requesting", "booked", "released"
PHASES = (PLANNED, REQUESTING, BOOKED, RELEASED)
# twice the time for which the client itself awaits an answer; a server with a slow ticket system acts that late
SLOWEST_REQUEST = timedelta(minutes=2)
# a part of a request that is split over clouds has the number of the cloud, from 2
_MARK = re.compile(r"([\w.:/-]{1,160})(\+\d+)?")


@dataclass(frozen=True, slots=True)
class Record:
    """A booking, by its *mark*.

    :param phase: ``planned`` until the run sends a request for an assignment, ``requesting`` from before that request
        until all hosts are booked, then ``booked``, then ``released``. Any other value is unknown: only the user
        releases such a booking.
    :param asked_at: when the run last sent a request for the assignment; empty where another command made it.
    :param answered: whether the server answered that request, so that it makes no assignment later.
    :param offset_s: the server's wall clock less UTC; None where it is not known.
    :param warn_before_s: how long before the end there is a warning; so long as *stop_before_s* before, the run stops.
    :param secrets: references, not values: what finalizing needs.
    """

    mark: str
    url: str
    user: str
    phase: str = ""
    asked_at: str = ""
    answered: bool = True
    assignment: int | None = None
    cloud: str = ""
    hosts: tuple[str, ...] = ()
    end: str = ""
    offset_s: float | None = None
    authority: str = ""
    admin: bool = False
    warn_before_s: float = 0.0
    stop_before_s: float = 0.0
    secrets: dict[str, str] = field(default_factory=dict)

    @property
    def clock(self) -> ServerClock:
        """The server's clock."""
        return ServerClock(None if self.offset_s is None else timedelta(seconds=self.offset_s))

    @property
    def pending_until(self) -> datetime | None:
        """Until when the server may still make the assignment; None once it is known whether it did."""
        if self.phase != REQUESTING or self.answered or not self.asked_at:
            return None
        return parse_utc(self.asked_at) + SLOWEST_REQUEST

    @property
    def tag(self) -> str:
        """What its description ends with."""
        return tag(self.mark)


def tag(mark: str) -> str:
    """The end of the description of an assignment with *mark*: no mark is the end of another one so.

    :raises UsageError: when it is none.
    """
    if not _MARK.fullmatch(mark):
        raise UsageError(f"{mark!r} is not a mark of a booking: letters, digits and . : / - _, 160 at most")
    return f"(psap.perf {mark})"


def part_mark(mark: str, number: int) -> str:
    """The mark of the part of a number, from 1, of the request with *mark*."""
    return mark if number == 1 else f"{mark}+{number}"


def whole_mark(mark: str) -> str:
    """The mark of the request that the booking with *mark* is a part of, or is."""
    found = _MARK.fullmatch(mark)
    return found[1] if found else mark


def mark_of(description: str) -> str:
    """The mark that the description of an assignment ends with; empty for one that is none of ours."""
    found = re.search(rf"\(psap\.perf ({_MARK.pattern})\)$", description)
    return found[1] if found else ""


class Records:
    """The bookings of a run, a file each."""

    def __init__(self, run: Path) -> None:
        self._folder = run / FOLDER

    def path(self, mark: str) -> Path:
        """Where a booking is noted."""
        return self._folder / f"{re.sub(r'[^A-Za-z0-9._+-]', '_', mark)}.json"

    def read(self, mark: str) -> Record | None:
        """What is noted of a booking."""
        path = self.path(mark)
        return _record(read_json(path)) if path.exists() else None

    def write(self, record: Record) -> None:
        """Write a record to its file.

        :raises ValueError: for a phase that no reader could act on.
        """
        if record.phase not in PHASES:
            raise ValueError(f"the booking {record.mark} has no phase that a record can hold: {record.phase!r}")
        with self._alone():
            self._write(record)

    def note_end(self, mark: str, end: str) -> None:
        """Note another end of a lease that this run has booked, whatever else is noted of it meanwhile."""
        if not self.path(mark).exists():
            return
        with self._alone():
            record = self.read(mark)
            if record is not None and record.phase == BOOKED and record.end != end:
                self._write(replace(record, end=end))

    def _write(self, record: Record) -> None:
        write_json(self.path(record.mark), {"schema": SCHEMA, **asdict(record)})

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A run's processes take turns."""
        self._folder.mkdir(exist_ok=True)
        with (self._folder / ".lock").open("w", encoding="utf-8") as stream:
            fcntl.lockf(stream, fcntl.LOCK_EX)
            yield

    def former(self, mark: str) -> Record | None:
        """Return what another run beside this one recorded last of a booking; None if no run did."""
        name = self.path(mark).name
        paths = [path for path in self._folder.parents[1].glob(f"*/{FOLDER}/{name}") if path.parent != self._folder]
        newest = max(paths, key=lambda path: path.stat().st_mtime, default=None)
        return None if newest is None else _record(read_json(newest))

    def all(self) -> Iterator[Record]:
        """All that are noted."""
        for path in sorted(self._folder.glob("*.json")):
            yield _record(read_json(path))

    def parts(self, mark: str) -> list[Record]:
        """What is noted of the request with *mark*, but for what was released."""
        return [each for each in self.all() if mark in (each.mark, whole_mark(each.mark)) and each.phase != RELEASED]


@dataclass(slots=True)
class Journal:
    """A booking that goes on, and where each step of it is noted."""

    records: Records
    record: Record

    def plan(self, **changes: Any) -> None:
        """Record that a booking begins; one that this run has begun already goes on."""
        begun = self.record.phase in (REQUESTING, BOOKED)
        self.note(**changes, **({} if begun else {"phase": PLANNED, "asked_at": "", "assignment": None, "cloud": ""}))

    def note(self, **changes: Any) -> None:
        """Note what is about to be done, or was."""
        changed = replace(self.record, **changes)
        if changed != self.record or not self.records.path(changed.mark).exists():
            self.record = changed
            self.records.write(changed)


def _record(document: dict[str, Any]) -> Record:
    known = {name: document[name] for name in Record.__dataclass_fields__ if name in document}
    return Record(**{**known, "hosts": tuple(known.get("hosts") or ())})
