"""A watch that lasts: one list, then every change after it, whatever happens to connections and versions.

A broken connection is taken up at the last version seen. A version that the server lost (410) means a
new list: what it shows is compared with what is known, so nothing is lost and nothing is told twice.
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
# the server ends a watch itself after this time, which moves us to another server behind a balancer
_WATCH_SECONDS = "280"
_FIRST_BACKOFF_S = 0.1
_LONGEST_BACKOFF_S = 3.0
_REFUSALS = (401, 403, 404)
_REFUSED_FOR_S = 30.0


class WatchSink(Protocol):
    """Who is told what a watch sees. Times are those of arrival, in seconds since the epoch."""

    def page(self, objects: list[dict[str, Any]], seen_s: float, *, first: bool) -> None:
        """Some of what there is now, in the first list or in one after versions were lost."""

    def listed(self, uids: set[str], seen_s: float) -> None:
        """The list is complete: these are all that there are."""

    def changed(self, kind: str, obj: dict[str, Any], seen_s: float) -> None:
        """One change: ``ADDED``, ``MODIFIED`` or ``DELETED``."""


@dataclass(slots=True)
class WatchCounts:
    """What a watch went through."""

    reconnects: int = 0
    relists: int = 0
    bookmarks: int = 0
    causes: dict[str, int] = field(default_factory=dict)

    def disturbed(self, cause: str) -> None:
        """Count one more disturbance of this cause."""
        self.causes[cause] = self.causes.get(cause, 0) + 1


class _VersionGoneError(Exception):
    """The server no longer has the version that we would go on from."""


class _BrokenError(Exception):
    """The watch ended before its time; its text is the cause to count."""


class ResourceWatch:
    """One watch of one collection, with a label selector."""

    def __init__(self, client: ApiClient, path: str, selector: str | None, sink: WatchSink, clock: RunClock) -> None:
        """*path* is the collection's, *selector* a label selector or None for all of it."""
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

        :raises ClusterError: when the server does not let us, or has no such collection any more.
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
                    # nothing came after the list: a server that keeps no versions is not to be listed without a pause
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
        """Tell the sink what there is, page by page, and go on from there."""
        while not await self._listed(first=first):
            # the continuation grew too old: begin anew, what was told is not told again
            self.counts.disturbed("list too old")

    async def _listed(self, *, first: bool) -> bool:
        """One try of a list; whether it came to its end."""
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
            answer = await self._client.request("GET", self.path, params=parameters, excuses=self._rights.excuses)
        except UnansweredError as error:
            raise ClusterError(f"{error}; the watch of {self.path} ends") from error
        if not answer.succeeded and answer.status != GONE:
            raise ClusterError(f"cannot list {self.path}: {answer.message()}")
        return answer

    async def _follow(self) -> None:
        """Tell the sink every change after the version we are at, until the server ends the watch."""
        parameters = {
            **self._selector,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": self._version,
            "timeoutSeconds": _WATCH_SECONDS,
        }
        try:
            async with self._client.stream(self.path, parameters) as response:
                await self._refuse(response)
                async with aclosing(arriving_lines(response, self._clock.now)) as lines:
                    async for line, seen_s in lines:
                        self._take(_change(line), seen_s)
        except TimeoutError as error:
            raise _BrokenError("silence") from error
        except (aiohttp.ClientError, OSError) as error:
            raise _BrokenError("connection lost") from error

    async def _refuse(self, response: aiohttp.ClientResponse) -> None:
        """Raise unless the watch is open. A server just started refuses what it will serve in a moment."""
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
        """Hand on one change, and remember its version: a repeated ``DELETED`` would count twice."""
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
