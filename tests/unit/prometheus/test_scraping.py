"""Targets of monitors, scraped from a local server in place of a port-forward."""

from __future__ import annotations

import base64
import http.server
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import Forwarded
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.monitors import Key, Request, Target
from ansible_collections.psap.perf.plugins.module_utils.prometheus.scraping import Scraper, TargetError, targets_of

from tests.standins.http_servers import Quiet, served

TOKEN, PASSWORD = Key("Secret", "s", "token"), Key("Secret", "s", "password")
SECRET = {name: base64.b64encode(value).decode() for name, value in (("token", b"t0ken"), ("password", b"pass"))}


class Page(Quiet, http.server.BaseHTTPRequestHandler):
    """Answers with the sender of the request."""

    def do_GET(self) -> None:
        """Return one sample, whose label is the header."""
        if self.path == "/gone":
            self.send_error(404)
            return
        if self.path == "/cut":
            self.close_connection = True
            return
        body = f'asked{{by="{self.headers.get("Authorization", "")}"}} 1\n'.encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Source:
    """A cluster with a Secret, a Service of two pods, and its EndpointSlice."""

    def get(self, query: Query) -> dict[str, Any] | None:
        return {"data": SECRET} if (query.kind, query.name) == ("Secret", "s") else None

    def list(self, query: Query) -> tuple[list[dict[str, Any]], str]:
        if query.kind == "Service":
            return [{"metadata": {"namespace": query.namespace, "name": "web"}}], "1"
        assert query.label_selector == "kubernetes.io/service-name=web"
        pods = [{"targetRef": {"kind": "Pod", "name": name}} for name in ("one", "two")]
        metadata = {"namespace": query.namespace}
        return [{"metadata": metadata, "ports": [{"name": "m", "port": 1}], "endpoints": pods}], "1"


@pytest.fixture(name="scraper")
def _scraper() -> Iterator[tuple[Scraper, list[str]]]:
    hidden: list[str] = []
    with served(Page) as url:

        @contextmanager
        def connect(_namespace: str, pod: str, _port: int) -> Iterator[Forwarded]:
            if pod == "forbidden":
                raise ClusterError("forbidden: pods/portforward")
            parts = urlsplit(url)
            with socket.create_connection((parts.hostname or "", parts.port or 0)) as connection:
                yield Forwarded(connection, lambda: "nobody listens" if pod == "closed" else "")

        yield Scraper(Source(), "ns", lambda: "own", hidden.append, connect, 10.0), hidden


def target(pod: str = "one", **request: Any) -> Target:
    return Target("ns", pod, 80, Request(**request))


@pytest.mark.parametrize(
    ("options", "header", "secrets"),
    [
        ({}, "", []),
        ({"token": TOKEN}, "Bearer t0ken", ["t0ken"]),
        ({"own_token": True}, "Bearer own", ["own"]),
        ({"kind": "Basic", "user": PASSWORD, "token": TOKEN}, "Basic cGFzczp0MGtlbg==", ["t0ken", "cGFzczp0MGtlbg=="]),
    ],
)
def test_target_gets_the_credentials_of_its_monitor(
    scraper: tuple[Scraper, list[str]], options: dict[str, Any], header: str, secrets: list[str]
) -> None:
    asker, hidden = scraper
    assert asker.page(target(**options)) == f'asked{{by="{header}"}} 1\n'
    assert hidden == secrets


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (target(path="/gone"), "responds with 404 Not Found"),
        (target("closed", path="/cut"), "nobody listens"),
        (target(path="/cut"), "Remote end closed connection"),
        (target("forbidden"), "forbidden: pods/portforward"),
        (target(token=Key("Secret", "s", "nothing")), "Secret ns/s with nothing of the monitor is missing"),
        (target(scheme="https"), "SSL"),
        (target(scheme="https", authority=TOKEN), "cannot use the certificates in s"),
    ],
)
def test_failing_target_has_a_reason(scraper: tuple[Scraper, list[str]], asked: Target, words: str) -> None:
    with pytest.raises(TargetError, match=words):
        scraper[0].page(asked)


def test_targets_of_all_namespaces_are_found_once() -> None:
    monitor = {
        "kind": "ServiceMonitor",
        "metadata": {"namespace": "ns"},
        "spec": {"endpoints": [{"port": "m"}, {"port": "m"}], "namespaceSelector": {"matchNames": ["a", "b"]}},
    }
    found = [f"{each.namespace}/{each.pod}:{each.port}" for each in targets_of(Source(), monitor)]
    assert found == ["a/one:1", "a/two:1", "b/one:1", "b/two:1"]
