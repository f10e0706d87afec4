"""Requests by gRPC to a real server on loopback."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import grpc.aio
import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import Answer, AnswerError, Caller, Endpoint
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.client import (
    Question,
    compile_proto,
    connect,
)
from google.protobuf.message_factory import GetMessageClass
from grpc_reflection.v1alpha import reflection
from perflab.control_plane.certificates import Authority, Pair

PROTO = Path(__file__).parents[2] / "data/grpc/generation.proto"
METHOD = "tests.Generation/Generate"
REQUEST = {"model_id": "{model}", "requests": [{"text": "{prompt}"}], "max_new_tokens": "{tokens}"}
ANSWER = "responses[0].{text: text, prompt_tokens: input_token_count, completion_tokens: generated_token_count}"
PATIENCE_S = 20.0
POOL = compile_proto(PROTO)
SERVICE = POOL.FindServiceByName("tests.Generation")
GENERATE = SERVICE.FindMethodByName("Generate")
ASKED, TOLD = GetMessageClass(GENERATE.input_type), GetMessageClass(GENERATE.output_type)

Handler = Callable[[Any, Any], Awaitable[Any]]


def question(**other: Any) -> Question:
    return Question(**{"method": METHOD, "proto": str(PROTO), "request": REQUEST, "answer": ANSWER, **other})


async def generate(asked: Any, context: Any) -> Any:
    """Answer with the request's text."""
    model = dict(context.invocation_metadata())["mm-model-id"]
    assert asked.model_id == model
    text = f"{model}: {asked.requests[0].text} {asked.max_new_tokens}"
    return TOLD(responses=[{"text": text, "input_token_count": 1, "generated_token_count": 2}])


async def silent(asked: Any, context: Any) -> Any:
    await asyncio.sleep(PATIENCE_S)


async def empty(asked: Any, context: Any) -> Any:
    return TOLD()


async def busy(asked: Any, context: Any) -> Any:
    await context.abort(grpc.StatusCode.UNAVAILABLE, "no healthy upstream")


async def full(asked: Any, context: Any) -> Any:
    await context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "too many")


@contextmanager
def serving(
    handler: Handler | None, reflected: bool = False, pair: Pair | None = None, address: str = "127.0.0.1:0"
) -> Iterator[Endpoint]:
    """Serve with grpc.aio in a dedicated thread; without a *handler* it has no method."""
    loop, started, ended = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    ports: list[int] = []

    async def serve() -> None:
        server = grpc.aio.server()
        if handler:
            method = grpc.unary_unary_rpc_method_handler(
                handler, request_deserializer=ASKED.FromString, response_serializer=TOLD.SerializeToString
            )
            server.add_generic_rpc_handlers(
                (grpc.method_handlers_generic_handler("tests.Generation", {"Generate": method}),)
            )
        if reflected:
            reflection.enable_server_reflection(("tests.Generation", reflection.SERVICE_NAME), server, POOL)
        if pair:
            keys = [(pair.key.read_bytes(), pair.certificate.read_bytes())]
            ports.append(server.add_secure_port(address, grpc.ssl_server_credentials(keys)))
        else:
            ports.append(server.add_insecure_port(address))
        await server.start()
        started.set()
        await ended.wait()
        await server.stop(0)

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert started.wait(PATIENCE_S)
        yield Endpoint("https" if pair else "http", "127.0.0.1", ports[0])
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()
        loop.close()


def ask(endpoint: Endpoint, asked: Question, timeout_s: float = PATIENCE_S) -> Answer:
    with connect(endpoint, asked, Caller(timeout_s)) as connection:
        return connection.complete("granite", "why {not}", 7)


@pytest.mark.parametrize("proto", [str(PROTO), ""], ids=["by its proto", "by reflection"])
def test_response_has_text_and_counts(proto: str) -> None:
    with serving(generate, reflected=not proto) as endpoint:
        assert ask(endpoint, question(proto=proto)) == Answer("granite: why {not} 7", 1, 2)


@pytest.mark.parametrize(
    ("handler", "asked", "timeout_s", "message"),
    [
        (busy, {}, PATIENCE_S, "does not respond: no healthy upstream"),
        (None, {}, PATIENCE_S, "has no tests.Generation/Generate: Method not found"),
        (silent, {}, 0.2, r"did not respond within 0\.2 s"),
        (full, {}, PATIENCE_S, "responds with RESOURCE_EXHAUSTED: too many"),
        (empty, {}, PATIENCE_S, "finds no text, prompt_tokens and completion_tokens in the answer"),
        (generate, {"proto": ""}, PATIENCE_S, r"has no reflection \(.*\); pass its proto file"),
    ],
)
def test_invalid_response_reports_why(
    handler: Handler | None, asked: dict[str, Any], timeout_s: float, message: str
) -> None:
    with serving(handler) as endpoint, pytest.raises(AnswerError, match=rf"^http://127\.0\.0\.1:\d+:? .*{message}"):
        ask(endpoint, question(**asked), timeout_s)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"request": {"model": "m"}}, r"request: not a valid tests\.Request: .*no field named .model"),
        ({"method": "tests.Generation/Nothing"}, r"proto does not describe tests\.Generation/Nothing"),
        ({"method": "tests.Nobody/Generate"}, r"proto does not describe tests\.Nobody/Generate"),
        ({"method": "tests.Generation/Stream"}, r"tests\.Generation/Stream is a stream"),
        ({"method": "Generate"}, "method: invalid method 'Generate'"),
        ({"answer": "responses[0"}, "answer: 'responses.0' is not JMESPath"),
        ({"proto": "/nowhere/a.proto"}, "proto: cannot compile /nowhere/a.proto: .*a.proto"),
    ],
)
def test_invalid_request_is_a_usage_error(asked: dict[str, Any], message: str) -> None:
    with serving(generate) as endpoint, pytest.raises(UsageError, match=f"(?s){message}"):
        ask(endpoint, question(**asked))


def test_server_certificate_is_verified(tmp_path: Path) -> None:
    authority, other = Authority(tmp_path / "one"), Authority(tmp_path / "other")
    with serving(generate, pair=authority.issue_server("server", [])) as endpoint:
        with connect(endpoint, question(), Caller(PATIENCE_S, str(authority.pair.certificate))) as connection:
            assert connection.complete("granite", "why", 7).text == "granite: why 7"
        for unknown in (str(other.pair.certificate), ""):
            with (
                connect(endpoint, question(), Caller(PATIENCE_S, unknown)) as connection,
                pytest.raises(AnswerError, match="its certificate is not trusted"),
            ):
                connection.complete("granite", "why", 7)


def test_refused_connection_is_reported() -> None:
    with serving(generate) as endpoint:
        gone = endpoint
    with pytest.raises(AnswerError, match=r"does not respond: .*refused"):
        ask(gone, question())


def test_address_with_a_path_is_refused() -> None:
    with pytest.raises(UsageError, match="has a path, but gRPC calls have none"):
        ask(Endpoint("http", "127.0.0.1", 1, "/n/granite"), question())


def test_unreadable_authority_is_a_usage_error() -> None:
    with (
        pytest.raises(UsageError, match="cannot use the certificates in /nowhere"),
        connect(Endpoint("https", "127.0.0.1", 1), question(), Caller(1.0, "/nowhere")),
    ):
        pass


def test_missing_library_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grpc", None)
    with pytest.raises(UsageError, match=r"pip install 'psap-perf\[grpc\]'"):
        ask(Endpoint("http", "127.0.0.1", 1), question())
