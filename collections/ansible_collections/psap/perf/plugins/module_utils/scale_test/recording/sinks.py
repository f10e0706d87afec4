"""Receive the objects of watches, write rows of the journals, and pass transitions to listeners."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.events import EventLog
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.hindrances import hindrance
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import Lifecycle
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_lifecycles import related_lifecycle
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Tracker, Transition

Listener = Callable[[Transition], None]
_Object = dict[str, Any]


class ObjectSink:
    """Receives the workloads or pods of one watch."""

    def __init__(self, kind: str, lifecycle: Lifecycle, journal: Journal, listeners: Iterable[Listener]) -> None:
        self.tracker = Tracker(kind, lifecycle)
        self.last_s = 0.0
        self._ends = lifecycle.ends
        self._journal = journal
        self._listeners = tuple(listeners)
        self._past: set[str] = set()

    def page(self, objects: list[_Object], seen_s: float, *, first: bool) -> None:
        """Report the transitions of the objects of a list."""
        for obj in objects:
            found = self.tracker.observe(obj, seen_s)
            if first and any(transition.transition in self._ends for transition in found):
                # it ended before the start of the recording, such as in an earlier test
                self._past.add(str(obj["metadata"]["uid"]))
            self._report(found)

    def listed(self, uids: set[str], seen_s: float) -> None:
        """Report the objects that a complete list no longer has as deleted."""
        self._report(self.tracker.missing(uids, seen_s))

    def changed(self, kind: str, obj: _Object, seen_s: float) -> None:
        """Report the transitions of one change."""
        self._report(self.tracker.remove(obj, seen_s) if kind == "DELETED" else self.tracker.observe(obj, seen_s))

    def _report(self, transitions: list[Transition]) -> None:
        for transition in transitions:
            if transition.uid in self._past:
                continue
            self.last_s = transition.seen_s
            self._journal.append(transition.row())
            for listener in self._listeners:
                listener(transition)


class RelatedSink:
    """Writes rows of related objects; for objects of the first list, only their changes."""

    def __init__(
        self,
        kind: str,
        journal: Journal,
        workload_of: Callable[[_Object], str | None] | None,
        is_recorded: Callable[[str], bool],
    ) -> None:
        """Create the tracker.

        Args:
            workload_of: Returns the workload of an object; None for kinds without workloads (nodes).
            is_recorded: Returns whether a workload is part of the recording.
        """
        self.tracker = Tracker(kind, related_lifecycle(kind), workload_of or _no_workload)
        self._journal = journal
        self._workload_of = workload_of
        self._is_recorded = is_recorded
        self._before: set[str] = set()

    def page(self, objects: list[_Object], seen_s: float, *, first: bool) -> None:
        """Remember the objects of the first list; report the transitions of a later one."""
        for obj in objects:
            if not first:
                self.changed("MODIFIED", obj, seen_s)
            elif self._concerns(obj):
                self.tracker.observe(obj, seen_s)
                self._before.add(str(obj["metadata"]["uid"]))

    def listed(self, uids: set[str], seen_s: float) -> None:
        """Report the objects that a complete list no longer has as deleted."""
        self._report(self.tracker.missing(uids, seen_s))

    def changed(self, kind: str, obj: _Object, seen_s: float) -> None:
        """Report the transitions of one change if it concerns a workload of the recording."""
        if self._concerns(obj):
            self._report(self.tracker.remove(obj, seen_s) if kind == "DELETED" else self.tracker.observe(obj, seen_s))

    def _concerns(self, obj: _Object) -> bool:
        tracked = str(obj["metadata"]["uid"]) in self.tracker
        return tracked or self._workload_of is None or self._workload_of(obj) is not None

    def _report(self, transitions: list[Transition]) -> None:
        for transition in transitions:
            workload = transition.workload
            if workload and transition.uid in self._before and not self._is_recorded(workload):
                # it belongs to a workload that ended before the start of the recording
                continue
            self._journal.append(transition.row())


class EventSink:
    """Writes rows of the namespace's events during the recording."""

    def __init__(
        self, journal: Journal, workload_of: Callable[[_Object], str | None], warn: Callable[[str, str], None]
    ) -> None:
        """Create the log.

        Args:
            workload_of: Returns the workload of the object that an event is about.
            warn: Called with the workload of a warning and its reason.
        """
        self._journal = journal
        self._warn = warn
        self._workload_of = workload_of
        self._log = EventLog()
        self.last_s = 0.0

    def page(self, objects: list[_Object], seen_s: float, *, first: bool) -> None:
        """Remember the events before the recording; report those during a lost connection."""
        for event in objects:
            if first:
                self._log.ignore(event)
            else:
                self.changed("ADDED", event, seen_s)

    def listed(self, uids: set[str], seen_s: float) -> None:
        """Ignore deleted events."""

    def changed(self, kind: str, obj: _Object, seen_s: float) -> None:
        """Report one event."""
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
