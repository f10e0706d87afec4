"""The recorder: what watches of workloads, pods and events show becomes rows and states of the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.errors import ClusterError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.events import EventLog
from ansible_collections.psap.perf.plugins.module_utils.scale_test.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.kinds import EVENTS, PODS, ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.ledger import Ledger
from ansible_collections.psap.perf.plugins.module_utils.scale_test.lifecycles import lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.transitions import Tracker, Transition
from ansible_collections.psap.perf.plugins.module_utils.scale_test.watching import ResourceWatch, WatchSink


@dataclass(frozen=True, slots=True)
class Scope:
    """What is recorded: workloads of one kind and their pods, as *selector* matches, in one namespace.

    Several scopes make a recording of several namespaces and kinds.
    """

    namespace: str
    resource: ResourceKind
    selector: str | None = None


_Hear = Callable[[Transition], None]


def _ends(scope: Scope) -> Mapping[str, str]:
    return lifecycle_of(scope.resource.kind).ends


class _ObjectSink:
    """Rows and states from the objects of one kind."""

    def __init__(self, kind: str, journal: Journal, hear: Iterable[Callable[[Transition], None]]) -> None:
        lifecycle = lifecycle_of(kind)
        self.tracker = Tracker(kind, lifecycle)
        self.last_s = 0.0
        self._ends = lifecycle.ends
        self._journal = journal
        self._hear = tuple(hear)
        self._past: set[str] = set()

    def listed(self, objects: list[dict[str, Any]], seen_s: float, *, first: bool) -> None:
        for obj in objects:
            found = self.tracker.observe(obj, seen_s)
            if first and any(transition.transition in self._ends for transition in found):
                # it ended before the recording began: somebody else's, or an earlier test's
                self._past.add(str(obj["metadata"]["uid"]))
            self._tell(found)
        self._tell(self.tracker.missing((obj["metadata"]["uid"] for obj in objects), seen_s))

    def changed(self, kind: str, obj: dict[str, Any], seen_s: float) -> None:
        self._tell(self.tracker.remove(obj, seen_s) if kind == "DELETED" else self.tracker.observe(obj, seen_s))

    def _tell(self, transitions: list[Transition]) -> None:
        for transition in transitions:
            if transition.uid in self._past:
                continue
            self.last_s = transition.seen_s
            self._journal.append(transition.row())
            for hear in self._hear:
                hear(transition)


class _EventSink:
    """Rows from the namespace's events that happen during the recording."""

    def __init__(self, journal: Journal, workload_of: Callable[[dict[str, Any]], str | None]) -> None:
        self._journal = journal
        self._workload_of = workload_of
        self._log = EventLog()
        self.last_s = 0.0

    def listed(self, objects: list[dict[str, Any]], seen_s: float, *, first: bool) -> None:
        for event in objects:
            if first:
                self._log.ignore(event)
            else:
                self.changed("ADDED", event, seen_s)

    def changed(self, kind: str, obj: dict[str, Any], seen_s: float) -> None:
        if kind == "DELETED":
            return
        row = self._log.observe(obj, self._workload_of(obj.get("involvedObject") or {}), seen_s)
        if row is not None:
            self.last_s = seen_s
            self._journal.append(row)


class Recorder:
    """Watches everything in scope until it is stopped."""

    def __init__(
        self,
        client: ApiClient,
        scopes: Sequence[Scope],
        clock: RunClock,
        transitions: Journal,
        events: Journal,
        workload_in: Callable[[str], str | None],
    ) -> None:
        """*workload_in* finds the workload in the name of an object that belongs to it."""
        self.ledger = Ledger({word: end for scope in scopes for word, end in _ends(scope).items()})
        self._workload_in = workload_in
        self._clock = clock
        self._sinks: list[_ObjectSink] = []
        self._event_sink = _EventSink(events, self._workload_of)
        self.watches: list[tuple[ResourceKind, ResourceWatch]] = []
        for namespace in dict.fromkeys(scope.namespace for scope in scopes):
            here = [scope for scope in scopes if scope.namespace == namespace]
            for resource, hear in self._heard(here):
                # a sink of its own for each watch: what its list no longer has was deleted
                sink = _ObjectSink(resource.kind, transitions, hear)
                self._sinks.append(sink)
                self._watch(client, resource, namespace, here[0].selector, sink)
            self._watch(client, EVENTS, namespace, None, self._event_sink)
        self._tasks: list[asyncio.Task[None]] = []

    def _watch(
        self, client: ApiClient, resource: ResourceKind, namespace: str, selector: str | None, sink: WatchSink
    ) -> None:
        watch = ResourceWatch(client, resource.collection(namespace), selector, sink, self._clock)
        self.watches.append((resource, watch))

    def _heard(self, scopes: Sequence[Scope]) -> list[tuple[ResourceKind, tuple[_Hear, ...]]]:
        """What is watched in one namespace, and who hears of it."""
        ledger = self.ledger
        heard: list[tuple[ResourceKind, tuple[_Hear, ...]]] = [
            (scope.resource, (ledger.workload_reached,)) for scope in scopes if scope.resource.kind != PODS.kind
        ]
        if not heard:
            return [(PODS, (ledger.workload_reached, ledger.pod_reached))]
        if len(heard) < len(scopes):
            return [*heard, (PODS, (self._pod_alone_reached, ledger.pod_reached))]
        return [*heard, (PODS, (ledger.pod_reached,))]

    def _pod_alone_reached(self, transition: Transition) -> None:
        """Among pods of controllers, the one that is a workload bears its name."""
        if transition.name == transition.workload:
            self.ledger.workload_reached(transition)

    async def start(self) -> None:
        """Begin to watch; returns when every watch has told what there was.

        :raises ClusterError: when one of them cannot.
        """
        self._tasks = [asyncio.create_task(watch.run()) for _resource, watch in self.watches]
        for (_resource, watch), task in zip(self.watches, self._tasks, strict=True):
            synced = asyncio.create_task(watch.synced.wait())
            await asyncio.wait({synced, task}, return_when=asyncio.FIRST_COMPLETED)
            synced.cancel()
            self.check()

    def check(self) -> None:
        """Raise what ended a watch: none ends by itself.

        :raises PerfError: the watch's own error.
        """
        for task in self._tasks:
            if not task.done():
                continue
            error = task.exception()
            raise (error if isinstance(error, PerfError) else ClusterError(f"a watch ended: {error!r}")) from error

    async def stop(self) -> None:
        """End the watches."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def last_s(self) -> float:
        """When the last row came, in seconds since the epoch; 0 before the first."""
        return max(self._event_sink.last_s, *(sink.last_s for sink in self._sinks))

    def resources(self) -> list[dict[str, str | None]]:
        """The watched kinds and the version from which each was watched."""
        return [
            {
                "kind": resource.kind,
                "api_version": resource.api_version,
                "resource_version": watch.first_version,
            }
            for resource, watch in self.watches
        ]

    def _workload_of(self, regarding: dict[str, Any]) -> str | None:
        name = str(regarding.get("name", ""))
        known = next(
            (found for sink in self._sinks if (found := sink.tracker.workload(regarding.get("uid", "")))),
            None,
        )
        return known or self._workload_in(name)
