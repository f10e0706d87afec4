"""The state of a lock: its holder and its queue, and their changes, without files and without waiting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.moments import Moment

# how long a place in the queue lasts without a renewal, and its age at a renewal
PLACE_S = 60.0
RENEWED_EVERY_S = 10.0


class LockHeldError(ClusterError):
    """Another owner has the lock."""


class LockLostError(ClusterError):
    """The owner has lost the lock."""


@dataclass(frozen=True)
class Requester:
    """The requester of a lock.

    Attributes:
        owner: The owner; all requesters of one owner share the lock.
        run: Identifies the requester, and its place in the queue.
        what: The purpose.
        user: The user.
        host: The machine of the requester.
    """

    owner: str
    run: str
    what: str
    user: str
    host: str


@dataclass(frozen=True)
class Entry:
    """The holder, or a place in the queue.

    Attributes:
        who: The requester.
        since: When it was taken.
        renewed: When it was last renewed.
        duration_s: How long it lasts after that.
    """

    who: Requester
    since: Moment
    renewed: Moment
    duration_s: float

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Entry:
        """Return the entry from the result of `dataclasses.asdict`."""
        since, renewed = (Moment.from_document(document[key]) for key in ("since", "renewed"))
        return cls(Requester(**document["who"]), since, renewed, float(document["duration_s"]))

    def at(self, now: Moment) -> Entry:
        """Return the entry by the clock of the boot of *now*."""
        return replace(self, since=self.since.of_boot(now), renewed=self.renewed.of_boot(now))

    def expired(self, now: Moment) -> bool:
        """Return whether it was not renewed for its duration; *now* is of the same boot."""
        return now.boot > self.renewed.boot + self.duration_s

    def __str__(self) -> str:
        who = self.who
        what = f" ({who.what})" if who.what else ""
        end = replace(self.renewed, wall=self.renewed.wall + self.duration_s)
        return f"{who.owner}{what}, by {who.user} on {who.host}, until {end.text()}"


@dataclass(frozen=True)
class State:
    """The holder, and the queue in its order."""

    holder: Entry | None = None
    waiting: tuple[Entry, ...] = ()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> State:
        """Return the state that `document` returned."""
        holder = document["holder"]
        return cls(
            Entry.from_document(holder) if holder else None, tuple(map(Entry.from_document, document["waiting"]))
        )

    def document(self) -> dict[str, Any]:
        """Return the state as JSON values."""
        return {"version": 1, **asdict(self)}

    def at(self, now: Moment) -> State:
        """Return the state without expired entries.

        After a restart of the host the wall clock decides once, then the clock of the boot, so that a wall clock that
        was ahead does not extend a lock by more than its duration.
        """
        holder = self.holder.at(now) if self.holder else None
        waiting = (each.at(now) for each in self.waiting)
        living = sorted((each for each in waiting if not each.expired(now)), key=lambda each: each.since.boot)
        return State(None if holder is None or holder.expired(now) else holder, tuple(living))

    def in_the_way(self, who: Requester) -> tuple[Entry, ...]:
        """Return the entries that *who* waits for: the holder of another owner, and those ahead in the queue."""
        if self.holder and self.holder.who.owner == who.owner:
            return ()
        place = next((number for number, each in enumerate(self.waiting) if each.who.run == who.run), None)
        return (*([self.holder] if self.holder else ()), *self.waiting[:place])

    def describe(self, who: Requester) -> str:
        """Return who has the lock, and who is ahead of *who* in the queue."""
        holder, before = self.holder, self.in_the_way(who)[1 if self.holder else 0 :]
        queue = f"{before[0].who.owner}{f' and {len(before) - 1} more' if len(before) > 1 else ''}" if before else ""
        if holder is None:
            return f"is free, but for {queue} in the queue" if queue else "is free"
        return f"is locked for {holder}{f'; in the queue before: {queue}' if queue else ''}"

    def taken(self, who: Requester, duration_s: float, now: Moment) -> State:
        """Return the state after *who* takes or extends the lock at *now*."""
        ours = self.holder if self.holder and self.holder.who.owner == who.owner else None
        held = Entry(who, ours.since if ours else now, now, duration_s)
        return replace(self.left(who), holder=held)

    def queued(self, who: Requester, since: Moment, now: Moment) -> State:
        """Return the state with *who* in the queue since *since*; an old place is renewed at *now*."""
        found = next((each for each in self.waiting if each.who.run == who.run), None)
        if found and now.boot - found.renewed.boot < RENEWED_EVERY_S:
            return self
        others = [each for each in self.waiting if each is not found]
        place = replace(found, renewed=now) if found else Entry(who, since, now, PLACE_S)
        return replace(self, waiting=tuple(sorted([*others, place], key=lambda each: each.since.boot)))

    def left(self, who: Requester) -> State:
        """Return the state without *who* in the queue."""
        return replace(self, waiting=tuple(each for each in self.waiting if each.who.run != who.run))
