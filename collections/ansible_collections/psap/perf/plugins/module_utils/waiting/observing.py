"""Follow the state of a set of objects: a list, then a watch, then a list again when the watch ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

_WATCH_S = 60
# Between two lists, so that a server that answers every watch with an error is not called in a hot loop.
_PAUSE_S = 1.0
# Changes within this time are yielded together, as one copy of the objects.
_COALESCE_S = 0.05
_SHOW_AGAIN_S = 0.5


class Source(Protocol):
    """The part of a cluster's client that waiting uses."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        """Return the objects and the list's resourceVersion."""

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Iterator[tuple[str, Manifest]]:
        """Yield the changes after *resource_version*."""


def observe(
    source: Source, query: Query, stopped: Callable[[], bool]
) -> Iterator[dict[str, Manifest] | ClusterError | None]:
    """Yield the objects by their identity: at first, after changes, and at least every half second.

    Until the first response, yield None, so that the caller can be interrupted. If the cluster does not answer, yield
    the error and try again: the caller decides how long. Raise any other error.
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
    """The newest state of the objects. Earlier states are not kept: a thousand changes cost one copy."""

    def __init__(self) -> None:
        self._guard = threading.Condition()
        self._objects: dict[str, Manifest] | None = None
        self._error: Exception | None = None
        self._shown: dict[str, Manifest] | Exception | None = None
        self._changed = False

    def replace(self, items: list[Manifest]) -> None:
        """Replace all objects."""
        with self._guard:
            self._objects = {_identity(item): item for item in items}
            self._error = None
            self._notify()

    def update(self, event: str, item: Manifest) -> None:
        """Add, change or remove one object."""
        with self._guard:
            objects = self._objects if self._objects is not None else {}
            if event == "DELETED":
                objects.pop(_identity(item), None)
            else:
                objects[_identity(item)] = item
            self._notify()

    def fail(self, error: Exception) -> None:
        """Record the error of a list or watch, until the next list."""
        with self._guard:
            self._error = error
            self._notify()

    def next(self) -> dict[str, Manifest] | Exception | None:
        """Return the state after the next change, or after half a second."""
        with self._guard:
            if not self._changed:
                self._guard.wait(_SHOW_AGAIN_S)
            if self._changed:
                self._changed = False
                self._shown = self._error or dict(self._objects or {})
            return self._shown

    def _notify(self) -> None:
        self._changed = True
        self._guard.notify()


def _identity(item: Manifest) -> str:
    """Return the uid; the name for objects without uid, such as PackageManifests of an aggregated API."""
    metadata = item["metadata"]
    return str(metadata.get("uid") or f"{metadata.get('namespace', '')}/{metadata['name']}")


def _follow(source: Source, query: Query, latest: _Latest, ended: threading.Event) -> None:
    while not ended.is_set():
        try:
            listed, version = source.list(query)
            latest.replace(listed)
            for event, item in source.watch(query, version, _WATCH_S):
                if ended.is_set():
                    return
                latest.update(event, item)
        except ClusterError as error:
            latest.fail(error)
        except Exception as error:  # observe() raises it; here it would end the thread silently
            latest.fail(error)
            return
        ended.wait(_PAUSE_S)
