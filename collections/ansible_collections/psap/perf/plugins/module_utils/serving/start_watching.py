"""When the moments of a model's start are first seen, by one clock, while something else waits for its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from ansible_collections.psap.perf.plugins.module_utils.base.clock import WHOLE_SECONDS, utc_now
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.serving.model_start import Object, first_ready, of_pod
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source, observe


class Noticed:
    """Moments of pods by when they were first seen. What had happened before the first look is not among them."""

    def __init__(self, now: Callable[[], str] = utc_now) -> None:
        self._now = now
        self._guard = threading.Lock()
        self._pods: Sequence[Object] | None = None
        self._events: Sequence[Object] | None = None
        self._begun = False
        # by pod and moment: its stamp, and when that was first seen
        self._first: dict[tuple[str, str], tuple[float, str]] = {}

    def look(self, pods: Sequence[Object] | None = None, events: Sequence[Object] | None = None) -> None:
        """The *pods* or the *events* that there are now; None for what did not change."""
        with self._guard:
            self._pods = self._pods if pods is None else pods
            self._events = self._events if events is None else events
            if self._pods is not None and self._events is not None:
                self._note(self._pods, self._events)

    def seen(self) -> dict[str, str]:
        """Of the pod that was ready first: when each moment was first seen, as UTC texts."""
        with self._guard:
            pod = first_ready(self._pods or ())
            uid = pod["metadata"]["uid"] if pod else None
            return {name: at for (of, name), (_stamp, at) in self._first.items() if of == uid and at}

    def _note(self, pods: Sequence[Object], events: Sequence[Object]) -> None:
        at = self._now() if self._begun else ""
        self._begun = True
        for pod in pods:
            for moment in of_pod(pod, events):
                key = (pod["metadata"]["uid"], moment.name)
                # a container that starts again is another moment; a finer stamp of the same one is none
                if key not in self._first or moment.at_s - self._first[key][0] > WHOLE_SECONDS:
                    self._first[key] = (moment.at_s, at)


@contextmanager
def noticing(noticed: Noticed, source: Source, pods: Query, events: Query) -> Iterator[None]:
    """Watch both until the block ends, and look once more then: a watch may be a moment behind."""
    ended = threading.Event()

    def follow(query: Query, look: Callable[[Sequence[Object]], None]) -> None:
        for found in observe(source, query, ended.is_set):
            if isinstance(found, dict):
                look(list(found.values()))

    looks: tuple[tuple[Query, Callable[[Sequence[Object]], None]], ...] = (
        (pods, lambda found: noticed.look(pods=found)),
        (events, lambda found: noticed.look(events=found)),
    )
    for query, look in looks:
        threading.Thread(target=follow, args=(query, look), daemon=True).start()
    try:
        yield
    finally:
        ended.set()
        noticed.look(source.list(pods)[0], source.list(events)[0])
