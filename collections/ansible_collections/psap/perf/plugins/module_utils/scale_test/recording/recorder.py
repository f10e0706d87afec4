"""The recorder: what watches of workloads, pods and events show becomes rows and states of the ledger."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
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
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_objects import NODES
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.sinks import (
    EventSink,
    Hear,
    ObjectSink,
    RelatedSink,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.steps_so_far import StepsSoFar
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Transition
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.watching import ResourceWatch, WatchSink


@dataclass(frozen=True, slots=True)
class Scope:
    """What is recorded: workloads of one kind and their pods, as *selector* matches, in one namespace.

    Several scopes make a recording of several namespaces and kinds.
    """

    namespace: str
    resource: ResourceKind
    selector: str | None = None


@dataclass(slots=True)
class RecordedWatch:
    """One watch; without an *optional* one the recording still says what became of every workload."""

    resource: ResourceKind
    watch: ResourceWatch
    optional: bool = False
    task: asyncio.Task[None] | None = None
    refusal: str | None = None


def _ends(scope: Scope) -> Mapping[str, str]:
    return lifecycle_of(scope.resource.kind).ends


class Recorder:
    """Watches everything in scope until it is stopped."""

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
        """Watch the namespaces of *scopes*.

        *attribution* finds the workload of an object; *related* kinds are watched too, where the user may do so.
        """
        ends = {word: end for scope in scopes for word, end in _ends(scope).items()}
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
            for resource, hear in self._heard(here):
                # a sink of its own for each watch: what its list no longer has was deleted
                sink = ObjectSink(resource.kind, transitions, hear)
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
        """Without a selector: controllers give what they make labels of their own, or none."""
        sink = RelatedSink(resource.kind, self._transitions, workload_of, self.ledger.workloads.__contains__)
        self._sinks.append(sink)
        self._watch(resource, path, None, sink, optional=True)

    def _heard(self, scopes: Sequence[Scope]) -> list[tuple[ResourceKind, tuple[Hear, ...]]]:
        """What is watched in one namespace, and who hears of it."""
        pods = (self.ledger.pod_reached, self.steps.pod_reached)
        heard: list[tuple[ResourceKind, tuple[Hear, ...]]] = [
            (scope.resource, (self._workload_reached,)) for scope in scopes if scope.resource.kind != PODS.kind
        ]
        if not heard:
            return [(PODS, (self._workload_reached, *pods))]
        if len(heard) < len(scopes):
            return [*heard, (PODS, (self._pod_alone_reached, *pods))]
        return [*heard, (PODS, pods)]

    def _workload_reached(self, transition: Transition) -> None:
        self.ledger.workload_reached(transition)
        self.steps.workload_reached(transition)

    def _pod_alone_reached(self, transition: Transition) -> None:
        """Among pods of controllers, the one that is a workload bears its name."""
        if transition.name == transition.workload:
            self._workload_reached(transition)

    async def start(self) -> None:
        """Begin to watch; returns when every watch has told what there was, or was found not to be allowed.

        :raises ClusterError: when one of them cannot that is not optional.
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
        """Raise what ended a watch: none ends by itself. Of an optional one the reason is kept.

        :raises PerfError: the watch's own error.
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
        """When the last row of a workload, a pod or an event came, in seconds since the epoch; 0 before the first."""
        return max(self._event_sink.last_s, *(sink.last_s for sink in self._sinks if isinstance(sink, ObjectSink)))

    def resources(self) -> list[dict[str, str | None]]:
        """The watched kinds and the version from which each was watched."""
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
        """The kinds that could not be watched, or not to the end, and why."""
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
        """The workload of what an event is about."""
        known = self._workload_of_uid(str(regarding.get("uid", "")))
        return known or self._attribution.workload_in(str(regarding.get("name", "")))
