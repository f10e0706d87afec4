"""Controllers: a work queue of keys and workers that reconcile them."""

from __future__ import annotations

import asyncio
import logging
import math
from collections import deque
from collections.abc import Awaitable, Callable

from perflab.emulators.framework.store import Key, Store, key_of
from perflab.errors import ClusterError

# returns the seconds until the next reconciliation; None or infinity: only after a change
Reconcile = Callable[[Key], Awaitable[float | None]]

_log = logging.getLogger(__name__)
_FIRST_RETRY_S = 0.05
_LONGEST_RETRY_S = 5.0
_WORKERS = 8


class Controller:
    """A work queue of keys, and workers that reconcile each.

    Level-triggered: a key that is enqueued repeatedly while it waits is reconciled once; a key that is enqueued while
    it is reconciled is reconciled again. Failures are retried with exponential backoff.
    """

    def __init__(self, name: str, reconcile: Reconcile) -> None:
        """*name* is its name in the log."""
        self.name = name
        self._reconcile = reconcile
        self._waiting: deque[Key] = deque()
        self._queued: set[Key] = set()
        self._working: set[Key] = set()
        self._failures: dict[Key, int] = {}
        self._some = asyncio.Semaphore(0)
        self._followed: list[Store] = []

    def follow(self, store: Store, *, changes: bool = True) -> None:
        """Enqueue each object of *store* when it is added and, with *changes*, whenever it changes."""
        self._followed.append(store)
        store.listen(lambda old, new: self.enqueue(key_of(new)) if new and (changes or not old) else None)

    def enqueue_all(self, *_: object) -> None:
        """Enqueue every object of the followed stores; a listener for dependencies of all of them."""
        for store in self._followed:
            for document in store.values():
                self.enqueue(key_of(document))

    @property
    def is_idle(self) -> bool:
        """Return whether no key waits or is reconciled; keys enqueued for later do not count."""
        return not self._queued and not self._working

    def enqueue(self, key: Key) -> None:
        """Enqueue *key*."""
        if key in self._queued:
            return
        self._queued.add(key)
        if key not in self._working:
            self._release(key)

    def enqueue_after(self, key: Key, wait_s: float) -> None:
        """Enqueue *key* after *wait_s* seconds."""
        asyncio.get_running_loop().call_later(wait_s, self.enqueue, key)

    async def run(self) -> None:
        """Work until cancelled."""
        async with asyncio.TaskGroup() as group:
            for _ in range(_WORKERS):
                group.create_task(self._work())

    def _release(self, key: Key) -> None:
        self._waiting.append(key)
        self._some.release()

    async def _work(self) -> None:
        while True:
            await self._some.acquire()
            key = self._waiting.popleft()
            self._queued.discard(key)
            self._working.add(key)
            await self._process(key)
            self._working.discard(key)
            if key in self._queued:
                self._release(key)

    async def _process(self, key: Key) -> None:
        try:
            again_s = await self._reconcile(key)
        except ClusterError as error:
            self._retry(key, str(error))
        except Exception:
            # an error of one object must not end the work on all others; it is logged
            _log.exception("%s %s/%s", self.name, *key)
            self._retry(key, "failed")
        else:
            self._failures.pop(key, None)
            if again_s is not None and again_s < math.inf:
                self.enqueue_after(key, again_s)

    def _retry(self, key: Key, why: str) -> None:
        count = self._failures.get(key, 0)
        self._failures[key] = count + 1
        wait_s = min(_FIRST_RETRY_S * 2**count, _LONGEST_RETRY_S)
        _log.warning("%s %s/%s: %s; again in %.2f s", self.name, *key, why, wait_s)
        self.enqueue_after(key, wait_s)
