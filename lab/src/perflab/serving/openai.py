"""OpenAI's completions and chat completions, streamed or not, and vLLM's metrics, for declared models."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from perflab.processes.ports import LOOPBACK
from perflab.serving.models import ServedModel
from perflab.serving.servers import FAILS, MOST_TOKENS, WORD, NoPodError, Servers, Serving


@dataclass(frozen=True)
class Asked:
    """A request: the form of its answer, the words of its prompt, and the number of tokens of its answer."""

    kind: str
    stream: bool
    usage_in_stream: bool
    prompt: list[str]
    tokens: int


SERVERS: web.AppKey[Servers] = web.AppKey("servers", Servers)


def application(servers: Servers) -> web.Application:
    """Return the routes of all services below `/NAMESPACE/SERVICE`, and without that prefix for any pod with the model.

    At the address of a pod, only that pod answers.
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
    servers, place = request.app[SERVERS], _place(request)
    registry = next((one.registry for one in servers.of(place)), None) if place else servers.registry
    if registry is None:
        return web.Response(status=503)
    return web.Response(body=registry.text, headers={"Content-Type": "text/plain; version=0.0.4"})


async def _models(request: web.Request) -> web.Response:
    names = dict.fromkeys(one.model.name for one in request.app[SERVERS].of(_place(request)))
    listed = [{"id": name, "object": "model", "owned_by": "perflab"} for name in names]
    return web.json_response({"object": "list", "data": listed})


async def _complete(request: web.Request) -> web.StreamResponse:
    try:
        body = await request.json()
        serving = request.app[SERVERS].choose(_place(request), body["model"])
        asked = _asked(request.path, body, serving.model)
    except NoPodError as error:
        # as a gateway responds
        raise web.HTTPServiceUnavailable(text=str(error)) from error
    except KeyError as error:
        return _error(404, f"it is not there: {error}")
    except (ValueError, TypeError, AttributeError) as error:
        return _error(400, f"cannot read the request: {error}")
    if serving.fails():
        return _error(500, FAILS)
    try:
        return await serving.answer(_answer(request, serving, asked))
    except asyncio.CancelledError:
        # its pod has ended, or the client has disconnected
        if request.transport is not None:
            request.transport.close()
        raise


def _asked(path: str, body: dict[str, Any], model: ServedModel) -> Asked:
    chat = path.endswith("/chat/completions")
    prompt = body["messages"] if chat else body["prompt"]
    text = " ".join(str(one.get("content")) for one in prompt) if chat else str(prompt)
    most = body.get("max_completion_tokens") or body.get("max_tokens") or model.answer_tokens
    if not isinstance(most, int) or not 1 <= most <= MOST_TOKENS:
        raise ValueError(f"max_tokens must be a whole number up to {MOST_TOKENS}")
    options = body.get("stream_options") or {}
    kind = "chat.completion" if chat else "text_completion"
    return Asked(kind, bool(body.get("stream")), bool(options.get("include_usage")), text.split(), most)


async def _answer(request: web.Request, serving: Serving, asked: Asked) -> web.StreamResponse:
    name, response = serving.model.name, None
    if asked.stream:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)

    async def send(place: int) -> None:
        if response is not None:
            await _event(response, _chunk(name, asked, WORD, ended=place + 1 == asked.tokens))

    cached = await serving.generate(asked.prompt, asked.tokens, send)
    usage = {
        "prompt_tokens": len(asked.prompt),
        "completion_tokens": asked.tokens,
        "total_tokens": len(asked.prompt) + asked.tokens,
        "prompt_tokens_details": {"cached_tokens": cached},
    }
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
    """Return the whole answer, or a part of one that is streamed."""
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
