"""Addresses of models, and valid answers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import (
    Answer,
    AnswerError,
    Caller,
    Endpoint,
    complete,
    endpoint_at,
    endpoint_of,
    endpoint_within,
)


def service(url: str = "") -> dict[str, Any]:
    metadata = {"namespace": "n", "name": "granite"}
    return {"kind": "InferenceService", "metadata": metadata, "status": {"url": url} if url else {}}


def test_address_round_trips() -> None:
    assert endpoint_at("https://a.example.com/b/") == Endpoint("https", "a.example.com", 443, "/b")
    for url in ("http://127.0.0.1:8080/n/granite", "https://a.example.com", "http://a:443"):
        assert endpoint_at(url).url == url


@pytest.mark.parametrize("url", ["", "grpc://a:1", "http://", "http://a:b", "a.example.com"])
def test_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is not the address of a served model"):
        endpoint_at(url)


def test_model_is_reached_at_its_url_or_the_labs_stand_in() -> None:
    found = service("https://granite-n.example.com")
    assert endpoint_of(found, None).url == "https://granite-n.example.com"
    lab = {"models-url": "http://127.0.0.1:5", "gateway-url": "http://127.0.0.1:6"}
    assert endpoint_of(found, lab).url == "http://127.0.0.1:5/n/granite"


def test_pods_reach_a_model_at_the_address_of_its_service() -> None:
    found = service("https://granite-n.example.com")
    with pytest.raises(ClusterError, match="InferenceService n/granite has no address for pods in its status"):
        endpoint_within(found)
    found["status"]["address"] = {"url": "http://granite-predictor.n.svc.cluster.local"}
    assert endpoint_within(found) == Endpoint("http", "granite-predictor.n.svc.cluster.local", 80)


def test_pod_reaches_an_address_within_the_cluster_but_no_simulated_model() -> None:
    found = service("http://granite-predictor.n.svc.cluster.local")
    assert endpoint_of(found, None, in_pod=True).host == "granite-predictor.n.svc.cluster.local"
    with pytest.raises(ClusterError, match="pods of a lab cannot reach the simulated model n/granite"):
        endpoint_of(found, {"models-url": "http://127.0.0.1:5"}, in_pod=True)


@pytest.mark.parametrize("port", ["", ":6"])
def test_routed_model_on_a_lab_is_reached_through_the_gateway(port: str) -> None:
    lab = {"models-url": "http://127.0.0.1:5", "gateway-url": "http://127.0.0.1:6"}
    assert endpoint_of(service(f"http://127.0.0.1{port}/n/granite"), lab).url == "http://127.0.0.1:6/n/granite"


def test_grpc_has_one_address_on_a_lab_and_the_http_one_elsewhere() -> None:
    found = service("https://granite-n.example.com")
    assert endpoint_of(found, None, "grpc").url == "https://granite-n.example.com"
    lab = {"models-url": "http://127.0.0.1:5", "models-grpc-url": "http://127.0.0.1:7"}
    assert endpoint_of(found, lab, "grpc").url == "http://127.0.0.1:7"
    with pytest.raises(ClusterError, match="has no gRPC server; pip install"):
        endpoint_of(found, {"models-url": "http://127.0.0.1:5"}, "grpc")


@pytest.mark.parametrize(
    ("found", "lab", "message"),
    [
        (service(), None, "has no address in its status; check its Gateway"),
        (service("http://granite-predictor.n.svc.cluster.local"), None, "only within the cluster"),
        (service("http://granite-n.example.com"), {}, "perflab up --with models"),
    ],
)
def test_unreachable_model_reports_why(found: dict[str, Any], lab: dict[str, str] | None, message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        endpoint_of(found, lab)


@contextmanager
def serve_answer(status: int, body: str, api_key: str = "") -> Iterator[Endpoint]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert (self.path, asked) == ("/x/v1/completions", {"model": "m", "prompt": "why", "max_tokens": 3})
            allowed = not api_key or self.headers["Authorization"] == f"Bearer {api_key}"
            self.send_response(status if allowed else 401)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield Endpoint("http", "127.0.0.1", server.server_port, "/x")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def body(text: str = "because", tokens: int = 2) -> str:
    return json.dumps(
        {"choices": [{"text": text}], "usage": {"prompt_tokens": 1, "completion_tokens": tokens}, "model": "m"}
    )


def test_response_has_text_and_counts() -> None:
    with serve_answer(200, body()) as endpoint:
        assert complete(endpoint, "m", "why", 3, Caller(5.0)) == Answer("because", 1, 2)


@pytest.mark.parametrize(
    ("status", "text", "message"),
    [
        (503, "no healthy upstream", "responds with 503 Service Unavailable: no healthy upstream"),
        (200, body(text=" "), "the answer is empty"),
        (200, body(tokens=0), "the answer is empty"),
        (200, "<html>", "the answer is not a completion: <html>"),
        (200, '{"choices": []}', "the answer is not a completion"),
    ],
)
def test_invalid_response_reports_why(status: int, text: str, message: str) -> None:
    with serve_answer(status, text) as endpoint, pytest.raises(AnswerError, match=message):
        complete(endpoint, "m", "why", 3, Caller(5.0))


def test_requests_have_the_bearer_token() -> None:
    with serve_answer(200, body(), api_key="sesame") as endpoint:
        assert complete(endpoint, "m", "why", 3, Caller(5.0, api_key="sesame")) == Answer("because", 1, 2)
        with pytest.raises(AnswerError, match=r"responds with 401 Unauthorized: .*; check api_key"):
            complete(endpoint, "m", "why", 3, Caller(5.0))


def test_token_is_in_no_repr_of_its_caller() -> None:
    assert "sesame" not in repr(Caller(5.0, api_key="sesame"))


def test_refused_connection_is_reported() -> None:
    with serve_answer(200, "") as endpoint:
        gone = endpoint
    with pytest.raises(AnswerError, match=r"does not respond: .*refused"):
        complete(gone, "m", "why", 3, Caller(5.0))


def test_unreadable_authority_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="cannot use the certificates in /nowhere"):
        complete(Endpoint("https", "127.0.0.1", 1), "m", "why", 3, Caller(5.0, "/nowhere"))
