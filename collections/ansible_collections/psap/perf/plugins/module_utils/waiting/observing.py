"""The present state of a set of objects: a list, then a watch, then a list again when the watch ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

_WATCH_S = 60
# Between two lists: a server that answers every watch with an error is not asked in a hot loop.
_PAUSE_S = 1.0
# Changes that come closer together than this are shown at once, for one copy of the objects.
_COALESCE_S = 0.05
_SHOW_AGAIN_S = 0.5


class Source(Protocol):
    """What is needed of a cluster."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        """Objects and their resourceVersion."""

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        """Changes since."""


def observe(
    source: Source, query: Query, stopped: Callable[[], bool]
) -> Iterator[dict[str, Manifest] | ClusterError | None]:
    """Yield the objects by what identifies them at first and after changes, and at least every half second.

    Until the first answer None is yielded, so that whoever waits can be interrupted even then. A cluster that does not
    answer is yielded as its error, and tried again: whoever waits decides how long. Any other error is raised.
    """
    latest = _Latest()
    ended = threading.Event()
    follower = threading.Thread(target=_follow, args=(source, query, latest, ended), daemon=True)
    follower.start()
    try:
        while not stopped():
            shown = latest.next()
            if isinstance(shown, Exception) and not isinstance(shown, ClusterError):
                raise shown
            yield shown
            ended.wait(_COALESCE_S)
    finally:
        ended.set()


class _Latest:
    """The newest state of the objects. What came in between is not kept: a thousand changes cost one copy."""

    def __init__(self) -> None:
        self._guard = threading.Condition()
        self._objects: dict[str, Manifest] | None = None
        self._error: Exception | None = None
        self._shown: dict[str, Manifest] | Exception | None = None
        self._changed = False

    def listed(self, items: list[Manifest]) -> None:
        """All objects are known anew."""
        with self._guard:
            self._objects = {_identity(item): item for item in items}
            self._error = None
            self._tell()

    def happened(self, event: str, item: Manifest) -> None:
        """One object came, changed or went."""
        with self._guard:
            objects = self._objects if self._objects is not None else {}
            if event == "DELETED":
                objects.pop(_identity(item), None)
            else:
                objects[_identity(item)] = item
            self._tell()

    def failed(self, error: Exception) -> None:
        """The objects cannot be seen at present."""
        with self._guard:
            self._error = error
            self._tell()

    def next(self) -> dict[str, Manifest] | Exception | None:
        """What is so now, as soon as something changed and after half a second at the latest."""
        with self._guard:
            if not self._changed:
                self._guard.wait(_SHOW_AGAIN_S)
            if self._changed:
                self._changed = False
                self._shown = self._error or dict(self._objects or {})
            return self._shown

    def _tell(self) -> None:
        self._changed = True
        self._guard.notify()


def _identity(item: Manifest) -> str:
    """The uid; the name of what an aggregated API computes, such as PackageManifests, which have no uid."""
    metadata = item["metadata"]
    return str(metadata.get("uid") or f"{metadata.get('namespace', '')}/{metadata['name']}")


def _follow(source: Source, query: Query, latest: _Latest, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            listed, version = source.list(query)
            latest.listed(listed)
            for event, item in source.watch(query, version, _WATCH_S):
                if ended.is_set():
                    return
                latest.happened(event, item)
        except ClusterError as error:
            latest.failed(error)
        except Exception as error:  # raised where it is waited for; here it would end the thread unheard
            latest.failed(error)
            return
        ended.wait(_PAUSE_S)
