"""A local port at which the other end of a tunnel answers; a socket to a real server replaces the port-forward."""

from __future__ import annotations

import functools
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import Forwarded
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import (
    Answer,
    AnswerError,
    Caller,
    Endpoint,
    complete,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.forwarding import Connect, forwarding
from ansible_collections.psap.perf.plugins.module_utils.serving.grpc.client import connect
from perflab.control_plane.certificates import Authority

from tests.unit.serving.test_endpoints import body, serve_answer
from tests.unit.serving.test_grpc_client import generate, question, serving

CALLER = Caller(5.0)


@contextmanager
def tunnel(endpoint: Endpoint, error: str = "") -> Iterator[Forwarded]:
    with socket.create_connection((endpoint.host, endpoint.port)) as connection:
        yield Forwarded(connection, lambda: error)


@contextmanager
def forbidden() -> Iterator[Forwarded]:
    raise ClusterError("pods/portforward is forbidden")
    yield


def to(endpoint: Endpoint, error: str = "") -> Connect:
    return functools.partial(tunnel, endpoint, error)


def test_every_connection_has_a_separate_tunnel() -> None:
    with serve_answer(200, body()) as endpoint, forwarding(to(endpoint)) as here:
        there = replace(here.endpoint("", ""), path=endpoint.path)
        for _number in range(3):
            assert complete(there, "m", "why", 3, CALLER) == Answer("because", 1, 2)
        assert here.problem == ""
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection((there.host, there.port))


def test_grpc_call_passes_the_tunnel() -> None:
    with serving(generate) as endpoint, forwarding(to(endpoint)) as here:
        there = here.endpoint("", "port 8033 of pod models/granite")
        with connect(there, question(), Caller(20.0)) as connection:
            assert connection.complete("granite", "why", 7).text == "granite: why 7"


def test_remote_error_of_a_failed_connection_is_kept() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        threading.Thread(target=lambda: silent.accept()[0].close(), daemon=True).start()
        gone = Endpoint("http", "127.0.0.1", silent.getsockname()[1])
        with forwarding(to(gone, "nobody listens")) as here, pytest.raises(AnswerError, match="does not respond"):
            complete(here.endpoint("", ""), "m", "why", 3, CALLER)
        assert here.problem == "nobody listens"
    with forwarding(forbidden) as here, pytest.raises(AnswerError, match="port 1 of pod a/b does not respond"):
        complete(here.endpoint("", "port 1 of pod a/b"), "m", "why", 3, CALLER)
    assert here.problem == "pods/portforward is forbidden"


class Model(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(body().encode())

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def test_certificate_is_verified_by_the_pods_server_name(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    pair = authority.issue_server("server", ["granite.models.svc"])
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pair.certificate, pair.key)
    caller = Caller(5.0, str(authority.pair.certificate))
    with ThreadingHTTPServer(("127.0.0.1", 0), Model) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        with forwarding(to(Endpoint("https", "127.0.0.1", server.server_port))) as here:
            there = here.endpoint("granite.models.svc", "the pod")
            assert complete(there, "m", "why", 3, caller) == Answer("because", 1, 2)
            with pytest.raises(AnswerError, match="the pod: its certificate is not trusted: Hostname mismatch"):
                complete(replace(there, server_name="phi.models.svc"), "m", "why", 3, caller)
        server.shutdown()
        thread.join()


def test_grpc_certificate_is_verified_too(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    caller = Caller(20.0, str(authority.pair.certificate))
    with (
        serving(generate, pair=authority.issue_server("server", ["granite.models.svc"])) as endpoint,
        forwarding(to(endpoint)) as here,
    ):
        there = here.endpoint("granite.models.svc", "")
        with connect(there, question(), caller) as connection:
            assert connection.complete("granite", "why", 7).text == "granite: why 7"
        with (
            connect(replace(there, server_name="phi.models.svc"), question(), caller) as connection,
            pytest.raises(AnswerError),
        ):
            connection.complete("granite", "why", 7)
