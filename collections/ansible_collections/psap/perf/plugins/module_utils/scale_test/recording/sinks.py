"""Who is told what the watches see: rows of the journals, states of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.events import EventLog
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.hindrances import hindrance
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_lifecycles import related_lifecycle
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Tracker, Transition

Hear = Callable[[Transition], None]
_Object = dict[str, Any]


class ObjectSink:
    """Rows and states from the workloads or pods of one watch."""

    def __init__(self, kind: str, journal: Journal, hear: Iterable[Hear]) -> None:
        lifecycle = lifecycle_of(kind)
        self.tracker = Tracker(kind, lifecycle)
        self.last_s = 0.0
        self._ends = lifecycle.ends
        self._journal = journal
        self._hear = tuple(hear)
        self._past: set[str] = set()

    def page(self, objects: list[_Object], seen_s: float, *, first: bool) -> None:
        """Tell what is new of the objects of a list."""
        for obj in objects:
            found = self.tracker.observe(obj, seen_s)
            if first and any(transition.transition in self._ends for transition in found):
                # it ended before the recording began: somebody else's, or an earlier test's
                self._past.add(str(obj["metadata"]["uid"]))
            self._tell(found)

    def listed(self, uids: set[str], seen_s: float) -> None:
        """Tell what a complete list no longer has."""
        self._tell(self.tracker.missing(uids, seen_s))

    def changed(self, kind: str, obj: _Object, seen_s: float) -> None:
        """Tell what one change brings."""
        self._tell(self.tracker.remove(obj, seen_s) if kind == "DELETED" else self.tracker.observe(obj, seen_s))

    def _tell(self, transitions: list[Transition]) -> None:
        for transition in transitions:
            if transition.uid in self._past:
                continue
            self.last_s = transition.seen_s
            self._journal.append(transition.row())
            for hear in self._hear:
                hear(transition)


class RelatedSink:
    """Write rows of related objects; for objects of the first list, only their changes."""

    def __init__(
        self,
        kind: str,
        journal: Journal,
        workload_of: Callable[[_Object], str | None] | None,
        is_recorded: Callable[[str], bool],
    ) -> None:
        """*workload_of* finds the workload of an object, None for those that have none by their nature (nodes);
        *is_recorded* says whether a workload is among those of the recording."""
        self.tracker = Tracker(kind, related_lifecycle(kind), workload_of or _no_workload)
        self._journal = journal
        self._workload_of = workload_of
        self._is_recorded = is_recorded
        self._before: set[str] = set()

    def page(self, objects: list[_Object], seen_s: float, *, first: bool) -> None:
        """Remember how things are, or tell what is new."""
        for obj in objects:
            if not first:
                self.changed("MODIFIED", obj, seen_s)
            elif self._concerns(obj):
                self.tracker.observe(obj, seen_s)
                self._before.add(str(obj["metadata"]["uid"]))

    def listed(self, uids: set[str], seen_s: float) -> None:
        """Tell what a complete list no longer has."""
        self._tell(self.tracker.missing(uids, seen_s))

    def changed(self, kind: str, obj: _Object, seen_s: float) -> None:
        """Tell what one change brings, if it concerns a workload of ours."""
        if self._concerns(obj):
            self._tell(self.tracker.remove(obj, seen_s) if kind == "DELETED" else self.tracker.observe(obj, seen_s))

    def _concerns(self, obj: _Object) -> bool:
        known = str(obj["metadata"]["uid"]) in self.tracker
        return known or self._workload_of is None or self._workload_of(obj) is not None

    def _tell(self, transitions: list[Transition]) -> None:
        for transition in transitions:
            workload = transition.workload
            if workload and transition.uid in self._before and not self._is_recorded(workload):
                # it belongs to a workload that ended before the recording began
                continue
            self._journal.append(transition.row())


class EventSink:
    """Rows from the namespace's events that happen during the recording."""

    def __init__(
        self, journal: Journal, workload_of: Callable[[_Object], str | None], warn: Callable[[str, str], None]
    ) -> None:
        """*workload_of* finds the workload of the object that an event is about; *warn* hears each workload with what
        hinders it."""
        self._journal = journal
        self._warn = warn
        self._workload_of = workload_of
        self._log = EventLog()
        self.last_s = 0.0

    def page(self, objects: list[_Object], seen_s: float, *, first: bool) -> None:
        """Remember what is older than the recording; tell what happened while we were cut off."""
        for event in objects:
            if first:
                self._log.ignore(event)
            else:
                self.changed("ADDED", event, seen_s)

    def listed(self, uids: set[str], seen_s: float) -> None:
        """Events go without a word."""

    def changed(self, kind: str, obj: _Object, seen_s: float) -> None:
        """Tell one event."""
        if kind == "DELETED":
            return
        row = self._log.observe(obj, self._workload_of(obj.get("involvedObject") or {}), seen_s)
        if row is not None:
            self.last_s = seen_s
            self._journal.append(row)
            hindered = hindrance(row) if row["workload"] else None
            if hindered:
                self._warn(row["workload"], hindered)


def _no_workload(_obj: _Object) -> str | None:
    return None
