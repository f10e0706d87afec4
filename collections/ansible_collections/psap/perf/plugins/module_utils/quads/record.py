"""Records of a run's bookings, written before each request, so that the hosts of a killed run can be released."""

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
# twice the client's timeout; a server with a slow ticket system may act that late
SLOWEST_REQUEST = timedelta(minutes=2)
# if a request is split over clouds, the marks of its parts end with the number of the cloud, from 2
_MARK = re.compile(r"([\w.:/-]{1,160})(\+\d+)?")


@dataclass(frozen=True, slots=True)
class Record:
    """A booking, by its *mark*.

    Args:
        phase: ``planned`` until the run sends a request for an assignment, ``requesting`` from before that request
            until all hosts are booked, then ``booked``, then ``released``. Any other value is unknown: only the user
            releases such a booking.
        asked_at: When the run last requested the assignment; empty if another command made it.
        answered: The server responded to that request, so that it makes no assignment later.
        offset_s: The server's local time minus UTC; None if unknown.
        warn_before_s: Time of a warning before the end of the lease; *stop_before_s* before it, the run stops.
        secrets: References that finalizing the run needs, not values.
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
        """Return the server's clock."""
        return ServerClock(None if self.offset_s is None else timedelta(seconds=self.offset_s))

    @property
    def pending_until(self) -> datetime | None:
        """Return until when the server may still make the assignment; None once the result is known."""
        if self.phase != REQUESTING or self.answered or not self.asked_at:
            return None
        return parse_utc(self.asked_at) + SLOWEST_REQUEST

    @property
    def tag(self) -> str:
        """Return the end of the assignment's description."""
        return tag(self.mark)


def tag(mark: str) -> str:
    """Return the end of the description of an assignment with *mark*; with the prefix, it is the end of no other mark.

    Raises:
        UsageError: If *mark* is invalid.
    """
    if not _MARK.fullmatch(mark):
        raise UsageError(f"invalid mark of a booking {mark!r}: use at most 160 letters, digits and . : / - _")
    return f"(psap.perf {mark})"


def part_mark(mark: str, number: int) -> str:
    """Return the mark of part *number*, from 1, of the request with *mark*."""
    return mark if number == 1 else f"{mark}+{number}"


def whole_mark(mark: str) -> str:
    """Return the mark of the request to which the booking with *mark* belongs."""
    found = _MARK.fullmatch(mark)
    return found[1] if found else mark


def mark_of(description: str) -> str:
    """Return the mark at the end of an assignment's description; empty if it has none."""
    found = re.search(rf"\(psap\.perf ({_MARK.pattern})\)$", description)
    return found[1] if found else ""


class Records:
    """The records of a run's bookings, one file each."""

    def __init__(self, run: Path) -> None:
        self._folder = run / FOLDER

    def path(self, mark: str) -> Path:
        """Return the file of a booking."""
        return self._folder / f"{re.sub(r'[^A-Za-z0-9._+-]', '_', mark)}.json"

    def read(self, mark: str) -> Record | None:
        """Return the record of a booking; None if it has none."""
        path = self.path(mark)
        return _record(read_json(path)) if path.exists() else None

    def write(self, record: Record) -> None:
        """Write a record to its file.

        Raises:
            ValueError: If the phase is unknown.
        """
        if record.phase not in PHASES:
            raise ValueError(f"cannot record the unknown phase {record.phase!r} of the booking {record.mark}")
        with self._locked():
            self._write(record)

    def note_end(self, mark: str, end: str) -> None:
        """Record a changed end of a lease that this run has booked, and keep the other fields."""
        if not self.path(mark).exists():
            return
        with self._locked():
            record = self.read(mark)
            if record is not None and record.phase == BOOKED and record.end != end:
                self._write(replace(record, end=end))

    def _write(self, record: Record) -> None:
        write_json(self.path(record.mark), {"schema": SCHEMA, **asdict(record)})

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Lock the records against other processes of the run."""
        self._folder.mkdir(exist_ok=True)
        with (self._folder / ".lock").open("w", encoding="utf-8") as stream:
            fcntl.lockf(stream, fcntl.LOCK_EX)
            yield

    def former(self, mark: str) -> Record | None:
        """Return the newest record of a booking by another run in the same folder; None if it has none."""
        name = self.path(mark).name
        paths = [path for path in self._folder.parents[1].glob(f"*/{FOLDER}/{name}") if path.parent != self._folder]
        newest = max(paths, key=lambda path: path.stat().st_mtime, default=None)
        return None if newest is None else _record(read_json(newest))

    def all(self) -> Iterator[Record]:
        """Yield all records."""
        for path in sorted(self._folder.glob("*.json")):
            yield _record(read_json(path))

    def parts(self, mark: str) -> list[Record]:
        """Return the records of the request with *mark* that are not released."""
        return [each for each in self.all() if mark in (each.mark, whole_mark(each.mark)) and each.phase != RELEASED]


@dataclass(slots=True)
class Journal:
    """The record of a booking, updated before and after each step."""

    records: Records
    record: Record

    def plan(self, **changes: Any) -> None:
        """Record the begin of a booking; one that this run has already begun continues."""
        begun = self.record.phase in (REQUESTING, BOOKED)
        self.note(**changes, **({} if begun else {"phase": PLANNED, "asked_at": "", "assignment": None, "cloud": ""}))

    def note(self, **changes: Any) -> None:
        """Record changed fields."""
        changed = replace(self.record, **changes)
        if changed != self.record or not self.records.path(changed.mark).exists():
            self.record = changed
            self.records.write(changed)


def _record(document: dict[str, Any]) -> Record:
    known = {name: document[name] for name in Record.__dataclass_fields__ if name in document}
    return Record(**{**known, "hosts": tuple(known.get("hosts") or ())})
