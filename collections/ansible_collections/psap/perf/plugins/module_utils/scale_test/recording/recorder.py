"""The recorder, which converts watches of workloads, pods and events to rows and states of the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, PerfError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.journal import Journal
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import (
    EVENTS,
    NODES_PATH,
    PODS,
    ResourceKind,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.attribution import Attribution
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.ledger import Ledger
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import POD, Lifecycle
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_objects import NODES
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.sinks import (
    EventSink,
    Listener,
    ObjectSink,
    RelatedSink,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.steps_so_far import StepsSoFar
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Transition
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.watching import ResourceWatch, WatchSink


@dataclass(frozen=True, slots=True)
class Scope:
    """Workloads of one kind and their pods that *selector* matches in one namespace.

    A recording of several namespaces and kinds has several scopes.
    """

    namespace: str
    resource: ResourceKind
    lifecycle: Lifecycle
    selector: str | None = None


@dataclass(slots=True)
class RecordedWatch:
    """One watch; without an *optional* one the recording still has the results of all workloads."""

    resource: ResourceKind
    watch: ResourceWatch
    optional: bool = False
    task: asyncio.Task[None] | None = None
    refusal: str | None = None


class Recorder:
    """Watches all scopes until it is stopped."""

    def __init__(
        self,
        client: ApiClient,
        scopes: Sequence[Scope],
        clock: RunClock,
        transitions: Journal,
        events: Journal,
        attribution: Attribution,
        related: Sequence[ResourceKind] = (),
    ) -> None:
        """Prepare the watches of the namespaces of *scopes*.

        Args:
            attribution: Finds the workload of an object.
            related: Further kinds to watch if the user is permitted to.
        """
        ends = {word: end for scope in scopes for word, end in scope.lifecycle.ends.items()}
        self.ledger = Ledger(ends)
        self.steps = StepsSoFar(ends, own=attribution.closed)
        self.watches: list[RecordedWatch] = []
        self._client = client
        self._attribution = attribution
        self._clock = clock
        self._transitions = transitions
        self._sinks: list[ObjectSink | RelatedSink] = []
        self._event_sink = EventSink(events, self._regarded, self.ledger.warned)
        for namespace in dict.fromkeys(scope.namespace for scope in scopes):
            here = [scope for scope in scopes if scope.namespace == namespace]
            for resource, lifecycle, listeners in self._listeners(here):
                # a separate sink for each watch: objects that are missing in its list were deleted
                sink = ObjectSink(resource.kind, lifecycle, transitions, listeners)
                self._sinks.append(sink)
                self._watch(resource, resource.collection(namespace), here[0].selector, sink)
            self._watch(EVENTS, EVENTS.collection(namespace), None, self._event_sink)
            for resource in related:
                if resource != NODES:
                    self._watch_related(resource, resource.collection(namespace), self._workload_of)
        if NODES in related:
            self._watch_related(NODES, NODES_PATH, None)

    def _watch(
        self, resource: ResourceKind, path: str, selector: str | None, sink: WatchSink, *, optional: bool = False
    ) -> None:
        watch = ResourceWatch(self._client, path, selector, sink, self._clock)
        self.watches.append(RecordedWatch(resource, watch, optional))

    def _watch_related(
        self, resource: ResourceKind, path: str, workload_of: Callable[[dict[str, Any]], str | None] | None
    ) -> None:
        """Watch without a selector: controllers give their objects other labels, or none."""
        sink = RelatedSink(resource.kind, self._transitions, workload_of, self.ledger.workloads.__contains__)
        self._sinks.append(sink)
        self._watch(resource, path, None, sink, optional=True)

    def _listeners(self, scopes: Sequence[Scope]) -> list[tuple[ResourceKind, Lifecycle, tuple[Listener, ...]]]:
        """Return the kinds to watch in one namespace, with their milestones and the listeners of their transitions."""
        pods = (self.ledger.pod_reached, self.steps.pod_reached)
        listeners: list[tuple[ResourceKind, Lifecycle, tuple[Listener, ...]]] = [
            (scope.resource, scope.lifecycle, (self._workload_reached,))
            for scope in scopes
            if scope.resource.kind != PODS.kind
        ]
        if not listeners:
            return [(PODS, POD, (self._workload_reached, *pods))]
        if len(listeners) < len(scopes):
            return [*listeners, (PODS, POD, (self._pod_alone_reached, *pods))]
        return [*listeners, (PODS, POD, pods)]

    def _workload_reached(self, transition: Transition) -> None:
        self.ledger.workload_reached(transition)
        self.steps.workload_reached(transition)

    def _pod_alone_reached(self, transition: Transition) -> None:
        """Record a pod that is a workload itself, which has the workload's name, unlike pods of controllers."""
        if transition.name == transition.workload:
            self._workload_reached(transition)

    async def start(self) -> None:
        """Start the watches, and wait until each has listed the existing objects, or was refused.

        Raises:
            ClusterError: If a watch that is not optional fails.
        """
        tasks = [asyncio.create_task(recorded.watch.run()) for recorded in self.watches]
        for recorded, task in zip(self.watches, tasks, strict=True):
            recorded.task = task
        for recorded, task in zip(self.watches, tasks, strict=True):
            synced = asyncio.create_task(recorded.watch.synced.wait())
            await asyncio.wait({synced, task}, return_when=asyncio.FIRST_COMPLETED)
            synced.cancel()
            self.check()

    def check(self) -> None:
        """Raise the error that ended a watch; the error of an optional watch is stored.

        Raises:
            PerfError: A watch has ended, which never happens without an error.
        """
        for recorded in self.watches:
            if recorded.task is None or not recorded.task.done() or recorded.refusal is not None:
                continue
            error = recorded.task.exception()
            if not recorded.optional or not isinstance(error, ClusterError):
                raise (error if isinstance(error, PerfError) else ClusterError(f"a watch ended: {error!r}")) from error
            recorded.refusal = str(error)

    async def stop(self) -> None:
        """End the watches."""
        tasks = [recorded.task for recorded in self.watches if recorded.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    @property
    def last_s(self) -> float:
        """Time of the last row of a workload, a pod or an event, in seconds since the epoch; 0 before the first."""
        return max(self._event_sink.last_s, *(sink.last_s for sink in self._sinks if isinstance(sink, ObjectSink)))

    def resources(self) -> list[dict[str, str | None]]:
        """Return the watched kinds, each with the version from which it was watched."""
        return [
            {
                "kind": recorded.resource.kind,
                "api_version": recorded.resource.api_version,
                "resource_version": recorded.watch.first_version,
            }
            for recorded in self.watches
            if recorded.refusal is None
        ]

    def not_watched(self) -> list[dict[str, str]]:
        """Return the kinds that could not be watched, or not to the end, with the reasons."""
        return [
            {
                "kind": recorded.resource.kind,
                "api_version": recorded.resource.api_version,
                "reason": recorded.refusal,
            }
            for recorded in self.watches
            if recorded.refusal is not None
        ]

    def _workload_of_uid(self, uid: str) -> str | None:
        return next((found for sink in self._sinks if (found := sink.tracker.workload(uid))), None)

    def _workload_of(self, obj: dict[str, Any]) -> str | None:
        return self._attribution.of(obj["metadata"], self._workload_of_uid)

    def _regarded(self, regarding: dict[str, Any]) -> str | None:
        """Return the workload of the object that an event is about."""
        workload = self._workload_of_uid(str(regarding.get("uid", "")))
        return workload or self._attribution.workload_in(str(regarding.get("name", "")))
