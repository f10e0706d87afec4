"""Record when the moments of a model's start are first seen, by one clock, during the wait for its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Container, Iterator, Sequence
from contextlib import contextmanager

from ansible_collections.psap.perf.plugins.module_utils.base.clock import WHOLE_SECONDS, utc_now
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.serving.model_start import Object, first_ready, of_pod
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source, observe


class FirstSeen:
    """The times at which moments of pods were first seen, except those before the first update.

    Pods whose UID is in *ignored* do not count: a replaced pod can be Ready until it ends.
    """

    def __init__(self, now: Callable[[], str] = utc_now, ignored: Container[str] = ()) -> None:
        self._now = now
        self._ignored = ignored
        self._guard = threading.Lock()
        self._pods: Sequence[Object] | None = None
        self._events: Sequence[Object] | None = None
        self._has_started = False
        # by pod and moment: its timestamp, and when it was first seen
        self._first: dict[tuple[str, str], tuple[float, str]] = {}

    def update(self, pods: Sequence[Object] | None = None, events: Sequence[Object] | None = None) -> None:
        """Record the moments in the present *pods* and *events*; None if they did not change."""
        with self._guard:
            if pods is not None:
                self._pods = [pod for pod in pods if pod["metadata"]["uid"] not in self._ignored]
            self._events = self._events if events is None else events
            if self._pods is not None and self._events is not None:
                self._record(self._pods, self._events)

    def seen(self) -> dict[str, str]:
        """Return when each moment of the first ready pod was first seen, as UTC texts."""
        with self._guard:
            pod = first_ready(self._pods or ())
            uid = pod["metadata"]["uid"] if pod else None
            return {name: at for (of, name), (_stamp, at) in self._first.items() if of == uid and at}

    def _record(self, pods: Sequence[Object], events: Sequence[Object]) -> None:
        at = self._now() if self._has_started else ""
        self._has_started = True
        for pod in pods:
            for moment in of_pod(pod, events):
                key = (pod["metadata"]["uid"], moment.name)
                # a restart of a container is another moment; a finer timestamp of the same start is not
                if key not in self._first or moment.at_s - self._first[key][0] > WHOLE_SECONDS:
                    self._first[key] = (moment.at_s, at)


@contextmanager
def watch_start(first_seen: FirstSeen, source: Source, pods: Query, events: Query) -> Iterator[None]:
    """Watch both during the block, and list them before and after it, because a watch may be delayed."""
    ended = threading.Event()
    first_seen.update(source.list(pods)[0], source.list(events)[0])

    def follow(query: Query, update: Callable[[Sequence[Object]], None]) -> None:
        for found in observe(source, query, ended.is_set):
            if isinstance(found, dict):
                update(list(found.values()))

    updates: tuple[tuple[Query, Callable[[Sequence[Object]], None]], ...] = (
        (pods, lambda found: first_seen.update(pods=found)),
        (events, lambda found: first_seen.update(events=found)),
    )
    for query, update in updates:
        threading.Thread(target=follow, args=(query, update), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        first_seen.update(source.list(pods)[0], source.list(events)[0])
