"""OpenAI's completions and chat completions, streamed or whole, and vLLM's metrics, for declared models."""

from __future__ import annotations

import asyncio
import json
import random
import time
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from perflab.processes.ports import LOOPBACK
from perflab.serving.metrics import ModelMetrics, Registry
from perflab.serving.models import ServedModel

WORD = "token "
MOST_TOKENS = 1_000_000


@dataclass
class Serving:
    """A pod that serves a model: its slots, its chance, what was counted of it, and the requests that it answers."""

    service: str
    address: str
    model: ServedModel
    slots: asyncio.Semaphore
    chance: random.Random
    metrics: ModelMetrics
    asked: int = 0
    answering: set[asyncio.Task[Any]] = field(default_factory=set)

    def fails(self) -> bool:
        """Whether this request is one of those that fail: evenly spread, the same in every run."""
        self.asked += 1
        share = self.model.failing_percent
        return self.asked * share // 100 > (self.asked - 1) * share // 100


class Servers:
    """The pods that serve, and the metrics of all. The same seed draws the same latencies."""

    def __init__(self, seed: int = 0) -> None:
        self.registry = Registry()
        self._seed = seed
        self._pods: dict[str, Serving] = {}

    def set(self, pod: str, service: str, model: ServedModel | None, address: str = "") -> None:
        """From now on *pod* serves *model* for *service*, or nothing; what it was answering is cut off when it ends.

        At *address* it alone is asked.
        """
        present = self._pods.get(pod)
        if present is not None and (present.model, present.address) != (model, address):
            del self._pods[pod]
            for request in present.answering:
                request.cancel()
        if model is not None and pod not in self._pods:
            chance = random.Random(f"{self._seed} {pod}")  # noqa: S311 - latencies are no secrets
            slots = asyncio.Semaphore(model.concurrency)
            self._pods[pod] = Serving(service, address, model, slots, chance, self.registry.of(model.name))

    def of(self, place: str) -> list[Serving]:
        """The pods of a service, `NAMESPACE/NAME`, or the pod of an address; all pods when *place* is empty."""
        return [one for one in self._pods.values() if place in ("", one.service, one.address)]

    def choose(self, place: str, model: str) -> Serving:
        """The pod with the fewest requests of those that serve *model*.

        Raises HTTPServiceUnavailable when there is no pod, as a gateway answers, KeyError without the model.
        """
        pods = self.of(place)
        if not pods:
            raise web.HTTPServiceUnavailable(text="no healthy upstream")
        serving = [one for one in pods if one.model.name == model]
        if not serving:
            raise KeyError(model)
        return min(serving, key=lambda one: len(one.answering))


@dataclass(frozen=True)
class Asked:
    """A request: how its answer is spelled, and how many tokens it has."""

    kind: str
    stream: bool
    usage_in_stream: bool
    prompt_tokens: int
    tokens: int


SERVERS: web.AppKey[Servers] = web.AppKey("servers", Servers)


def application(servers: Servers) -> web.Application:
    """The routes of all services below `/NAMESPACE/SERVICE`, and without that prefix of whoever serves the model.

    At the address of a pod, that is the pod.
    """
    app = web.Application()
    app[SERVERS] = servers
    app.router.add_get("/metrics", _metrics)
    for prefix in ("", "/{namespace}/{name}"):
        app.router.add_get(f"{prefix}/health", _health)
        app.router.add_get(f"{prefix}/v1/models", _models)
        app.router.add_post(f"{prefix}/v1/completions", _complete)
        app.router.add_post(f"{prefix}/v1/chat/completions", _complete)
    return app


def _place(request: web.Request) -> str:
    if request.match_info or request.transport is None:
        return "/".join(request.match_info.values())
    address: str = request.transport.get_extra_info("sockname")[0]
    return "" if address == LOOPBACK else address


async def _health(request: web.Request) -> web.Response:
    place = _place(request)
    return web.Response(status=200 if not place or request.app[SERVERS].of(place) else 503)


async def _metrics(request: web.Request) -> web.Response:
    return web.Response(body=request.app[SERVERS].registry.text, headers={"Content-Type": "text/plain; version=0.0.4"})


async def _models(request: web.Request) -> web.Response:
    names = dict.fromkeys(one.model.name for one in request.app[SERVERS].of(_place(request)))
    listed = [{"id": name, "object": "model", "owned_by": "perflab"} for name in names]
    return web.json_response({"object": "list", "data": listed})


async def _complete(request: web.Request) -> web.StreamResponse:
    began = time.monotonic()
    try:
        body = await request.json()
        serving = request.app[SERVERS].choose(_place(request), body["model"])
        asked = _asked(request.path, body, serving.model)
    except KeyError as error:
        return _error(404, f"it is not there: {error}")
    except (ValueError, TypeError, AttributeError) as error:
        return _error(400, f"the request cannot be read: {error}")
    if serving.fails():
        serving.metrics.failed()
        return _error(500, "this failure was declared")
    task = asyncio.ensure_future(_served(request, serving, asked, began))
    serving.answering.add(task)
    try:
        return await task
    except asyncio.CancelledError:
        # its pod has ended, or the client has gone
        task.cancel()
        if request.transport is not None:
            request.transport.close()
        raise
    finally:
        serving.answering.discard(task)


async def _served(request: web.Request, serving: Serving, asked: Asked, began: float) -> web.StreamResponse:
    with serving.metrics.waiting():
        await serving.slots.acquire()
    try:
        with serving.metrics.running():
            return await _answer(request, serving, asked, began)
    finally:
        serving.slots.release()


def _asked(path: str, body: dict[str, Any], model: ServedModel) -> Asked:
    chat = path.endswith("/chat/completions")
    prompt = body["messages"] if chat else body["prompt"]
    text = " ".join(str(one.get("content")) for one in prompt) if chat else str(prompt)
    most = body.get("max_completion_tokens") or body.get("max_tokens") or model.answer_tokens
    if not isinstance(most, int) or not 1 <= most <= MOST_TOKENS:
        raise ValueError(f"max_tokens is a whole number up to {MOST_TOKENS}")
    options = body.get("stream_options") or {}
    kind = "chat.completion" if chat else "text_completion"
    return Asked(kind, bool(body.get("stream")), bool(options.get("include_usage")), len(text.split()), most)


async def _answer(request: web.Request, serving: Serving, asked: Asked, began: float) -> web.StreamResponse:
    """Each token at its own moment, so that one that is late does not delay the others."""
    name, released, last = serving.model.name, time.monotonic(), began
    response: web.StreamResponse | None = None
    if asked.stream:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
    for place, offset in enumerate(serving.model.times(asked.tokens, serving.chance)):
        await asyncio.sleep(max(0.0, released + offset - time.monotonic()))
        if response is not None:
            await _event(response, _chunk(name, asked, WORD, ended=place + 1 == asked.tokens))
        now = time.monotonic()
        serving.metrics.token(now - last, first=place == 0)
        last = now
    serving.metrics.succeeded(last - began, asked.prompt_tokens, asked.tokens)
    usage = {"prompt_tokens": asked.prompt_tokens, "completion_tokens": asked.tokens}
    usage["total_tokens"] = sum(usage.values())
    if response is None:
        whole = _chunk(name, asked, WORD * asked.tokens, ended=True)
        return web.json_response({**whole, "usage": usage})
    if asked.usage_in_stream:
        await _event(response, {**_chunk(name, asked, "", ended=True), "choices": [], "usage": usage})
    await response.write(b"data: [DONE]\n\n")
    await response.write_eof()
    return response


async def _event(response: web.StreamResponse, document: dict[str, Any]) -> None:
    await response.write(b"data: " + json.dumps(document).encode() + b"\n\n")


def _chunk(model: str, asked: Asked, text: str, *, ended: bool) -> dict[str, Any]:
    """The whole answer, or a part of one that is streamed."""
    choice: dict[str, Any] = {"index": 0, "finish_reason": "length" if ended else None}
    kind = asked.kind
    if kind == "text_completion":
        choice["text"] = text
    elif asked.stream:
        kind += ".chunk"
        choice["delta"] = {"role": "assistant", "content": text}
    else:
        choice["message"] = {"role": "assistant", "content": text}
    return {"id": "perflab", "object": kind, "created": int(time.time()), "model": model, "choices": [choice]}


def _error(status: int, text: str) -> web.Response:
    return web.json_response({"error": {"message": text, "type": "perflab", "code": status}}, status=status)
