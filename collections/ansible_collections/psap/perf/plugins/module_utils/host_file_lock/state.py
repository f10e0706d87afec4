"""Who has a lock and who waits for it: what a state becomes, without files and without waiting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.host_file_lock.moments import Moment

# how long a place in the queue lasts that nobody renews, and how old one is that is renewed
PLACE_S = 60.0
RENEWED_EVERY_S = 10.0


class LockHeldError(ClusterError):
    """Another owner has the lock."""


class LockLostError(ClusterError):
    """The lock was ours and is not any more."""


@dataclass(frozen=True)
class Who:
    """Who wants a lock.

    :param owner: whose it is; all that ask for the same owner share it.
    :param run: identifies the one that asks, and its place in the queue.
    :param what: what for.
    """

    owner: str
    run: str
    what: str
    user: str
    host: str


@dataclass(frozen=True)
class Entry:
    """The holder, or a place in the queue.

    :param since: when it was taken.
    :param renewed: when it was last renewed.
    :param duration_s: for how long it lasts from then on.
    """

    who: Who
    since: Moment
    renewed: Moment
    duration_s: float

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Entry:
        """From what :func:`dataclasses.asdict` made."""
        since, renewed = (Moment.from_document(document[key]) for key in ("since", "renewed"))
        return cls(Who(**document["who"]), since, renewed, float(document["duration_s"]))

    def at(self, now: Moment) -> Entry:
        """The same in the boot of *now*."""
        return replace(self, since=self.since.of_boot(now), renewed=self.renewed.of_boot(now))

    def expired(self, now: Moment) -> bool:
        """Whether it was not renewed for its duration; *now* and it are of one boot."""
        return now.boot > self.renewed.boot + self.duration_s

    def __str__(self) -> str:
        who = self.who
        what = f" ({who.what})" if who.what else ""
        end = replace(self.renewed, wall=self.renewed.wall + self.duration_s)
        return f"{who.owner}{what}, by {who.user} on {who.host}, until {end.text()}"


@dataclass(frozen=True)
class State:
    """The holder, and who waits, the first one first."""

    holder: Entry | None = None
    waiting: tuple[Entry, ...] = ()

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> State:
        """From what :meth:`document` made."""
        holder = document["holder"]
        return cls(
            Entry.from_document(holder) if holder else None, tuple(map(Entry.from_document, document["waiting"]))
        )

    def document(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"version": 1, **asdict(self)}

    def at(self, now: Moment) -> State:
        """Without all that has expired.

        After a restart of the host the clock on the wall decides once, and from then on that of the boot, so that a
        clock that was ahead keeps nobody out for longer than the duration.
        """
        holder = self.holder.at(now) if self.holder else None
        waiting = (each.at(now) for each in self.waiting)
        living = sorted((each for each in waiting if not each.expired(now)), key=lambda each: each.since.boot)
        return State(None if holder is None or holder.expired(now) else holder, tuple(living))

    def in_the_way(self, who: Who) -> tuple[Entry, ...]:
        """Whom *who* has to wait for: the holder of another owner, and who stands before in the queue."""
        if self.holder and self.holder.who.owner == who.owner:
            return ()
        place = next((number for number, each in enumerate(self.waiting) if each.who.run == who.run), None)
        return (*([self.holder] if self.holder else ()), *self.waiting[:place])

    def told(self, who: Who) -> str:
        """Who has it, and who stands before *who*."""
        holder, before = self.holder, self.in_the_way(who)[1 if self.holder else 0 :]
        queue = f"{before[0].who.owner}{f' and {len(before) - 1} more' if len(before) > 1 else ''}" if before else ""
        if holder is None:
            return f"is free, but for {queue} in the queue" if queue else "is free"
        return f"is locked for {holder}{f'; in the queue before: {queue}' if queue else ''}"

    def taken(self, who: Who, duration_s: float, now: Moment) -> State:
        """*who* has it, from *now* on, or has it for longer."""
        ours = self.holder if self.holder and self.holder.who.owner == who.owner else None
        held = Entry(who, ours.since if ours else now, now, duration_s)
        return replace(self.left(who), holder=held)

    def queued(self, who: Who, since: Moment, now: Moment) -> State:
        """*who* stands in the queue since then, and renews the place *now* if it is time."""
        found = next((each for each in self.waiting if each.who.run == who.run), None)
        if found and now.boot - found.renewed.boot < RENEWED_EVERY_S:
            return self
        others = [each for each in self.waiting if each is not found]
        place = replace(found, renewed=now) if found else Entry(who, since, now, PLACE_S)
        return replace(self, waiting=tuple(sorted([*others, place], key=lambda each: each.since.boot)))

    def left(self, who: Who) -> State:
        """*who* stands in the queue no longer."""
        return replace(self, waiting=tuple(each for each in self.waiting if each.who.run != who.run))
