"""The pods that serve declared models, for any protocol."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from perflab.serving.metrics import ModelMetrics, Registry
from perflab.serving.models import ServedModel
from perflab.serving.prefix_cache import PrefixCache

Answer = TypeVar("Answer")

WORD = "token "
MOST_TOKENS = 1_000_000
FAILS = "this failure was declared"


SendToken = Callable[[int], Awaitable[None]]
"""Sends a token of an answer, by its number."""


class NoPodError(Exception):
    """No pod serves the requested service."""


async def _silently(_place: int) -> None:
    """Send nothing, for an answer that is not streamed."""


@dataclass
class Serving:
    """A pod that serves a model: its slots, random numbers, metrics, prefix cache and current requests."""

    service: str
    address: str
    model: ServedModel
    slots: asyncio.Semaphore
    chance: random.Random
    registry: Registry
    metrics: ModelMetrics
    cache: PrefixCache
    asked: int = 0
    answering: set[asyncio.Task[Any]] = field(default_factory=set)

    def fails(self) -> bool:
        """Return whether this request fails: failures are evenly spread, the same in every run."""
        self.asked += 1
        share = self.model.failing_percent
        failed = self.asked * share // 100 > (self.asked - 1) * share // 100
        if failed:
            self.metrics.failed()
        return failed

    async def generate(self, prompt: Sequence[str], tokens: int, send: SendToken = _silently) -> int:
        """Send the number of each token of an answer, from 0, at its own time; a late token delays no other.

        Returns how many of the prompt's tokens, its words, were in the prefix cache.
        Frees the slot however the answer ends: completed, or cut off by the end of the pod or of the client.
        """
        began = last = time.monotonic()
        with self.metrics.waiting():
            await self.slots.acquire()
        try:
            with self.metrics.running():
                released = time.monotonic()
                cached = self.cache.lookup(prompt)
                self.metrics.looked_up(len(prompt), cached)
                for place, offset in enumerate(self.model.times(tokens, self.chance, len(prompt) - cached)):
                    await asyncio.sleep(max(0.0, released + offset - time.monotonic()))
                    await send(place)
                    now = time.monotonic()
                    self.metrics.token(now - last, first=place == 0)
                    last = now
                self.metrics.succeeded(last - began, len(prompt), tokens)
                return cached
        finally:
            self.slots.release()

    async def answer(self, answering: Coroutine[Any, Any, Answer]) -> Answer:
        """Return the response to a request. Raises CancelledError if the pod ends meanwhile."""
        task = asyncio.ensure_future(answering)
        self.answering.add(task)
        try:
            return await task
        finally:
            # if the client has disconnected
            task.cancel()
            self.answering.discard(task)


class Servers:
    """The pods that serve, and the metrics of all. The same seed gives the same latencies."""

    def __init__(self, seed: int = 0) -> None:
        self.registry = Registry()
        self._seed = seed
        self._pods: dict[str, Serving] = {}

    def set(self, pod: str, service: str, model: ServedModel | None, address: str = "") -> None:
        """Make *pod* serve *model* for *service*, or nothing; its current answers are cut off when it ends.

        Requests to *address* are for this pod only.
        """
        present = self._pods.get(pod)
        if present is not None and (present.model, present.address) != (model, address):
            del self._pods[pod]
            for request in present.answering:
                request.cancel()
        if model is not None and pod not in self._pods:
            chance = random.Random(f"{self._seed} {pod}")  # noqa: S311 - latencies are no secrets
            slots = asyncio.Semaphore(model.concurrency)
            own = Registry()
            metrics = ModelMetrics((self.registry, own), model.name)
            cache = PrefixCache(model.cached_tokens)
            self._pods[pod] = Serving(service, address, model, slots, chance, own, metrics, cache)

    def of(self, place: str) -> list[Serving]:
        """Return the pods of a service, `NAMESPACE/NAME`, or the pod of an address; all pods if *place* is empty."""
        return [one for one in self._pods.values() if place in ("", one.service, one.address)]

    def choose(self, place: str, model: str) -> Serving:
        """Return the pod with the fewest requests of those that serve *model*.

        Raises NoPodError if no pod exists, KeyError if none has the model.
        """
        pods = self.of(place)
        if not pods:
            raise NoPodError("no healthy upstream")
        serving = [one for one in pods if one.model.name == model]
        if not serving:
            raise KeyError(model)
        return min(serving, key=lambda one: len(one.answering))
