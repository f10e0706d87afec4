"""A small client of the tests that loads a served model and writes results in the format of llm-load-test.

It does not replace the load generators of measurements, which are installed in separate environments.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import aiohttp
import grpc
import grpc.aio
from google.protobuf.message_factory import GetMessageClass
from perflab.serving.tgis import SERVICE, described

Request = Callable[[], Awaitable[dict[str, Any]]]


async def load(url: str, model: str, *, users: int, requests: int, tokens: int, api_key: str = "") -> dict[str, Any]:
    """Return results of this many requests by this many concurrent users, each with one request at a time."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    async with aiohttp.ClientSession(headers=headers) as session:
        return await _loaded(lambda: _request(session, url, model, tokens), model, users, requests)


async def load_by_grpc(url: str, model: str, *, users: int, requests: int, tokens: int) -> dict[str, Any]:
    """Load like `load`, but by the streams of TGIS at HOST:PORT."""
    method = described().FindServiceByName(SERVICE).FindMethodByName("GenerateStream")
    sent, received = GetMessageClass(method.input_type), GetMessageClass(method.output_type)
    message = sent(model_id=model, request={"text": "a few words"}, params={"stopping": {"max_new_tokens": tokens}})
    async with grpc.aio.insecure_channel(url) as channel:
        call = channel.unary_stream(f"/{SERVICE}/GenerateStream", sent.SerializeToString, received.FromString)
        return await _loaded(lambda: _call(call, message), model, users, requests)


async def _loaded(request: Request, model: str, users: int, requests: int) -> dict[str, Any]:
    results: list[dict[str, Any]] = []

    async def user(number: int) -> None:
        for _ in range(requests // users):
            results.append({"user_id": number, **await request()})

    await asyncio.gather(*map(user, range(users)))
    return {
        "results": results,
        "config": {
            "load_options": {"type": "constant", "concurrency": users, "duration": 0},
            "plugin_options": {"model_name": model, "streaming": True},
            "extra_metadata": {"written_by": "a client of psap.perf's tests, not llm-load-test"},
        },
        "summary": {"total_requests": len(results)},
    }


async def _request(session: aiohttp.ClientSession, url: str, model: str, tokens: int) -> dict[str, Any]:
    body = {"model": model, "prompt": "a few words", "max_tokens": tokens, "stream": True}
    body["stream_options"] = {"include_usage": True}
    began, first, code = time.time(), None, None
    usage: dict[str, int] = {}
    try:
        async with session.post(f"{url}/v1/completions", json=body) as response:
            code = response.status
            response.raise_for_status()
            async for line in response.content:
                if not line.startswith(b"data: {"):
                    continue
                part = json.loads(line.removeprefix(b"data: "))
                first = first or (time.time() if part["choices"] else None)
                usage = part.get("usage") or usage
    except aiohttp.ClientError as error:
        # llm-load-test records the exception, too, and the status with which an interrupted stream began
        failure = {"error_code": code, "error_text": f"{type(error).__name__}: {error}"}
        return {"start_time": began, "end_time": time.time(), **failure}
    return _record(began, first, usage["prompt_tokens"], usage["completion_tokens"])


async def _call(call: Any, message: Any) -> dict[str, Any]:
    began, first, sent, received = time.time(), None, 0, 0
    try:
        async for part in call(message):
            # the first part acknowledges the prompt
            sent = sent or part.input_token_count
            first = first or (time.time() if part.tokens else None)
            received = part.generated_token_count
    except grpc.aio.AioRpcError as error:
        failure = {"error_code": error.code().value[0], "error_text": error.details()}
        return {"start_time": began, "end_time": time.time(), **failure}
    return _record(began, first, sent, received)


def _record(began: float, first: float | None, sent: int, received: int) -> dict[str, Any]:
    ended = time.time()
    return {
        "start_time": began,
        "first_token_time": first,
        "end_time": ended,
        "ttft": 1000 * ((first or ended) - began),
        "input_tokens": sent,
        "output_tokens": received,
        "output_tokens_before_timeout": received,
        "error_code": None,
        "error_text": None,
    }


def write(place: Path, results: dict[str, Any], **stated: Any) -> None:
    """Write results as a recording of llm-load-test."""
    (place / "output").mkdir(parents=True)
    (place / "output" / "output.json").write_text(json.dumps(results))
    lab = {"name": "default", "real": ["HTTP"], "emulated": ["served models"], "simulated": []}
    (place / "llm_load_test.json").write_text(json.dumps({"schema": "psap.perf/load-test/1", "lab": lab, **stated}))
