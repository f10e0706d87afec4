"""A continuous watch: a list, then every change after it, in spite of broken connections and expired versions.

After a broken connection, it continues at the last version. If that version has expired (410), it lists the objects
and reports only the differences, so that no change is lost or repeated.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol

import aiohttp
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.instants import RunClock
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import (
    Answer,
    ApiClient,
    UnansweredError,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.unsettled import UnsettledRights
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lines import arriving_lines

GONE = 410
_PAGE = "500"
# the server ends a watch after this time, so that a balancer may select another server
_WATCH_SECONDS = "280"
_FIRST_BACKOFF_S = 0.1
_LONGEST_BACKOFF_S = 3.0
_REFUSALS = (401, 403, 404)
_REFUSED_FOR_S = 30.0


class WatchSink(Protocol):
    """The receiver of a watch's objects. Times are those of arrival, in seconds since the epoch."""

    def page(self, objects: list[dict[str, Any]], seen_s: float, *, first: bool) -> None:
        """Receive some of the existing objects, of the first list or one after an expired version."""

    def listed(self, uids: set[str], seen_s: float) -> None:
        """Receive the uids of all existing objects at the end of a list."""

    def changed(self, kind: str, obj: dict[str, Any], seen_s: float) -> None:
        """Receive one change: ``ADDED``, ``MODIFIED`` or ``DELETED``."""


@dataclass(slots=True)
class WatchCounts:
    """The numbers of disturbances of a watch."""

    reconnects: int = 0
    relists: int = 0
    bookmarks: int = 0
    causes: dict[str, int] = field(default_factory=dict)

    def disturbed(self, cause: str) -> None:
        """Count one more disturbance of this cause."""
        self.causes[cause] = self.causes.get(cause, 0) + 1


class _VersionGoneError(Exception):
    """The version at which the watch would continue has expired."""


class _BrokenError(Exception):
    """The watch ended early; its text is the cause to count."""


class ResourceWatch:
    """One watch of one collection, with a label selector."""

    def __init__(self, client: ApiClient, path: str, selector: str | None, sink: WatchSink, clock: RunClock) -> None:
        """Store the collection's path and the label selector, None for all objects."""
        self._client = client
        self.path = path
        self._selector = {"labelSelector": selector} if selector else {}
        self._sink = sink
        self._clock = clock
        self._version = ""
        self._refused_since: float | None = None
        self._rights = UnsettledRights()
        self.synced = asyncio.Event()
        self.first_version: str | None = None
        self.counts = WatchCounts()

    async def run(self) -> None:
        """Watch until cancelled.

        Raises:
            ClusterError: If the server refuses it, or no longer has the collection.
        """
        await self._list(first=True)
        self.first_version = self._version
        self.synced.set()
        backoff = _FIRST_BACKOFF_S
        while True:
            before = self._version
            try:
                await self._follow()
            except _VersionGoneError:
                self.counts.relists += 1
                self.counts.disturbed("version gone")
                if self._version == before:
                    # no change followed the list; pause, in case that the server keeps no versions
                    backoff = min(backoff * 2, _LONGEST_BACKOFF_S)
                    await asyncio.sleep(backoff)
                else:
                    backoff = _FIRST_BACKOFF_S
                await self._list(first=False)
            except _BrokenError as broken:
                self.counts.reconnects += 1
                self.counts.disturbed(str(broken))
                backoff = min(backoff * 2, _LONGEST_BACKOFF_S) if self._version == before else _FIRST_BACKOFF_S
                await asyncio.sleep(backoff)

    async def _list(self, *, first: bool) -> None:
        """Pass the existing objects to the sink, page by page, and continue at the list's version."""
        while not await self._try_list(first=first):
            # the continuation has expired: start again, the sink ignores repeated objects
            self.counts.disturbed("list too old")

    async def _try_list(self, *, first: bool) -> bool:
        """List once; return False if the continuation expired."""
        uids: set[str] = set()
        parameters = {**self._selector, "limit": _PAGE}
        while True:
            answer = await self._page(parameters)
            seen_s = self._clock.now()
            if answer.status == GONE:
                return False
            page = answer.document()
            objects = page.get("items") or []
            uids.update(str(obj["metadata"]["uid"]) for obj in objects)
            self._sink.page(objects, seen_s, first=first)
            metadata = page["metadata"]
            if not metadata.get("continue"):
                self._version = str(metadata["resourceVersion"])
                self._sink.listed(uids, seen_s)
                return True
            parameters["continue"] = metadata["continue"]

    async def _page(self, parameters: Mapping[str, str]) -> Answer:
        try:
            answer = await self._client.request(
                "GET", self.path, params=parameters, also_repeat=self._rights.is_temporary
            )
        except UnansweredError as error:
            raise ClusterError(f"{error}; the watch of {self.path} ends") from error
        if not answer.succeeded and answer.status != GONE:
            raise ClusterError(f"cannot list {self.path}: {answer.message()}")
        return answer

    async def _follow(self) -> None:
        """Pass every change after the present version to the sink, until the server ends the watch."""
        parameters = {
            **self._selector,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": _WATCH_SECONDS,
        }
        try:
            async with self._client.stream(self.path, parameters) as response:
                await self._check(response)
                async with aclosing(arriving_lines(response, self._clock.now)) as lines:
                    async for line, seen_s in lines:
                        self._take(_change(line), seen_s)
        except TimeoutError as error:
            raise _BrokenError("silence") from error
        except (aiohttp.ClientError, OSError) as error:
            raise _BrokenError("connection lost") from error

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        """Raise unless the watch is open; repeat a refused one for a while, as the server may just have started."""
        if response.status == GONE:
            raise _VersionGoneError
        if response.status == 200:
            self._refused_since = None
            return
        if response.status in _REFUSALS:
            now = self._clock.now()
            self._refused_since = self._refused_since or now
            if now - self._refused_since > _REFUSED_FOR_S:
                answer = Answer(response.status, await response.read(), 1)
                raise ClusterError(f"cannot watch {self.path}: {answer.message()}")
        raise _BrokenError(str(response.status))

    def _take(self, change: Mapping[str, Any], seen_s: float) -> None:
        """Pass on one change, and store its version: a repeated ``DELETED`` would count twice."""
        kind, obj = change["type"], change["object"]
        if kind == "ERROR":
            if obj.get("code") == GONE:
                raise _VersionGoneError
            raise _BrokenError(str(obj.get("code") or obj.get("reason") or "error"))
        self._version = str(obj["metadata"]["resourceVersion"])
        if kind == "BOOKMARK":
            self.counts.bookmarks += 1
        else:
            self._sink.changed(kind, obj, seen_s)


def _change(line: bytes) -> dict[str, Any]:
    try:
        change: dict[str, Any] = json.loads(line)
    except ValueError as error:
        raise _BrokenError("not JSON") from error
    return change
