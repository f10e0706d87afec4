"""The present state of a set of objects: a list, then a watch, then a list again when the watch ends."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Iterator
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.cluster import Manifest, Query
from ansible_collections.psap.perf.plugins.module_utils.errors import ClusterError

_WATCH_S = 60
_PAUSE_AFTER_ERROR_S = 1.0


class Source(Protocol):
    """What is needed of a cluster."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        """Objects and their resourceVersion."""

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        """Changes since."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Whether the kind is known."""


def observe(
    source: Source, query: Query, stopped: Callable[[], bool]
) -> Iterator[dict[str, Manifest] | ClusterError | None]:
    """Yield the objects by uid at first and after every change, and at least every half second.

    Until the first answer None is yielded, so that whoever waits can be interrupted even then. A cluster that does not
    answer is yielded as its error, and tried again: whoever waits decides how long. Any other error is raised.
    """
    changes: queue.Queue[dict[str, Manifest] | Exception] = queue.Queue()
    ended = threading.Event()
    follower = threading.Thread(target=_follow, args=(source, query, changes, ended), daemon=True)
    follower.start()
    latest: dict[str, Manifest] | Exception | None = None
    try:
        while not stopped():
            with contextlib.suppress(queue.Empty):
                latest = changes.get(timeout=0.5)
                while True:
                    latest = changes.get_nowait()
            if isinstance(latest, Exception) and not isinstance(latest, ClusterError):
                raise latest
            yield latest
    finally:
        ended.set()


def _follow(
    source: Source,
    query: Query,
    changes: queue.Queue[dict[str, Manifest] | Exception],
    ended: threading.Event,
) -> None:
    while not ended.is_set():
        try:
            listed, version = source.list(query)
            objects = {item["metadata"]["uid"]: item for item in listed}
            changes.put(dict(objects))
            for event, item in source.watch(query, version, _WATCH_S):
                if ended.is_set():
                    return
                if event == "DELETED":
                    objects.pop(item["metadata"]["uid"], None)
                else:
                    objects[item["metadata"]["uid"]] = item
                changes.put(dict(objects))
        except ClusterError as error:
            changes.put(error)
            time.sleep(_PAUSE_AFTER_ERROR_S)
        except Exception as error:  # raised where it is waited for; here it would end the thread unheard
            changes.put(error)
            return
