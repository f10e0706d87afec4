"""Brings objects to where they shall be, one at a time each, as often as it takes."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable

from perflab.emulators.framework.store import Key, Store, key_of
from perflab.errors import ClusterError

# returns after how many seconds to look again, None or infinity when only a change can make a difference
Reconcile = Callable[[Key], Awaitable[float | None]]

_log = logging.getLogger(__name__)
_FIRST_RETRY_S = 0.05
_LONGEST_RETRY_S = 5.0
_WORKERS = 8


class Controller:
    """A queue of keys, and workers that call *reconcile* for each.

    Level-triggered: a key that is asked for many times while it waits is looked at once; one that is asked for while
    it is looked at is looked at again. What fails is tried again, later each time, for ever.
    """

    def __init__(self, name: str, reconcile: Reconcile) -> None:
        """*name* is what the log calls it."""
        self.name = name
        self._reconcile = reconcile
        self._waiting: deque[Key] = deque()
        self._queued: set[Key] = set()
        self._working: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._some = asyncio.Semaphore(0)
        self._followed: list[Store] = []

    def follow(self, store: Store, *, changes: bool = True) -> None:
        """Have each object of *store* looked at when it comes and, with *changes*, whenever it has changed."""
        self._followed.append(store)
        store.listen(lambda old, new: self.ask(key_of(new)) if new and (changes or not old) else None)

    def ask_all(self, *_: object) -> None:
        """Have every object of the stores that are followed looked at; it can listen to whatever they depend on."""
        for store in self._followed:
            for document in store.values():
                self.ask(key_of(document))

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits or is looked at; what is to be looked at later does not count."""
        return not self._queued and not self._working

    def ask(self, key: Key) -> None:
        """Have *key* looked at soon."""
        if key in self._queued:
            return
        self._queued.add(key)
        if key not in self._working:
            self._hand_over(key)

    def ask_later(self, key: Key, wait_s: float) -> None:
        """Have *key* looked at in *wait_s* seconds."""
        asyncio.get_running_loop().call_later(wait_s, self.ask, key)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_WORKERS):
                group.create_task(self._work())

    def _hand_over(self, key: Key) -> None:
        self._waiting.append(key)
        self._some.release()

    async def _work(self) -> None:
        while True:
            await self._some.acquire()
            key = self._waiting.popleft()
            self._queued.discard(key)
            self._working.add(key)
            await self._look_at(key)
            self._working.discard(key)
            if key in self._queued:
                self._hand_over(key)

    async def _look_at(self, key: Key) -> None:
        try:
            again_s = await self._reconcile(key)
        except ClusterError as error:
            self._retry(key, str(error))
        except Exception:
            # a bug met by one object must not end the work on all others; the log has it
            _log.exception("%s %s/%s", self.name, *key)
            self._retry(key, "failed")
        else:
            self._failures.pop(key, None)
            if again_s is not None and again_s < math.inf:
                self.ask_later(key, again_s)

    def _retry(self, key: Key, why: str) -> None:
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        wait_s = min(_FIRST_RETRY_S * 2**count, _LONGEST_RETRY_S)
        _log.warning("%s %s/%s: %s; again in %.2f s", self.name, *key, why, wait_s)
        self.ask_later(key, wait_s)
