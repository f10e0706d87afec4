"""The endpoints of vLLM's torch profiler, played by a server of this process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import Endpoint
from ansible_collections.psap.perf.plugins.module_utils.serving.profiler import set_profiler, set_profilers

from tests.standins.http_servers import Quiet


@contextmanager
def server(status: int) -> Iterator[tuple[Endpoint, list[str]]]:
    requests: list[str] = []

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requests.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(b"Profiler is busy")

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
        yield Endpoint("http", "127.0.0.1", serving.server_address[1], place="port 8080 of pod a/b"), requests
        serving.shutdown()


def test_profiler_is_started_and_stopped_by_one_request_each() -> None:
    with server(200) as (endpoint, requests):
        set_profiler(endpoint, "started", 5.0)
        set_profiler(endpoint, "stopped", 5.0)
    assert requests == ["/start_profile", "/stop_profile"]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (404, "port 8080 of pod a/b has no /start_profile .* start vLLM with --profiler-config"),
        (500, "port 8080 of pod a/b refuses /start_profile: it responds with 500 .*: Profiler is busy"),
    ],
)
def test_server_without_profiler_is_refused(status: int, message: str) -> None:
    with server(status) as (endpoint, _requests), pytest.raises(ClusterError, match=message):
        set_profiler(endpoint, "started", 5.0)


def test_unreachable_server_is_refused() -> None:
    with server(200) as (endpoint, _requests):
        pass
    with pytest.raises(ClusterError, match="port 8080 of pod a/b does not respond"):
        set_profiler(endpoint, "started", 5.0)


@pytest.mark.parametrize(
    ("state", "failing", "done"),
    [
        ("started", "", ["a started", "b started", "c started"]),
        ("started", "c", ["a started", "b started", "a stopped", "b stopped"]),
        ("stopped", "a", ["b stopped", "c stopped"]),
    ],
)
def test_failed_pod_leaves_no_profiler_running(state: str, failing: str, done: list[str]) -> None:
    found: list[str] = []

    def set_one(pod: str, asked: str) -> None:
        if pod == failing:
            raise ClusterError(f"{pod} does not respond")
        found.append(f"{pod} {asked}")

    if failing:
        with pytest.raises(ClusterError, match=f"{failing} does not respond"):
            set_profilers(["a", "b", "c"], state, set_one)
    else:
        set_profilers(["a", "b", "c"], state, set_one)
    assert found == done
