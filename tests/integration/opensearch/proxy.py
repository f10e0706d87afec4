"""A proxy in front of the tests' OpenSearch, which has no security plugin: TLS, basic authentication, faults."""

from __future__ import annotations

import base64
import http.client
import ssl
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from perflab.control_plane.certificates import Pair

PASSED = ("Content-Type", "Content-Encoding", "Accept-Encoding")


@dataclass
class Proxy:
    """A running proxy. `faults` are the statuses of the next bulk requests, one for each; 0 forwards it."""

    url: str
    faults: deque[int] = field(default_factory=deque)
    requests: list[str] = field(default_factory=list)


@contextmanager
def proxy(upstream: str, credentials: tuple[str, str], pair: Pair) -> Iterator[Proxy]:
    """Run a proxy on a free loopback port that forwards requests with the credentials."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    started = Proxy("")
    server = _Server(("127.0.0.1", 0), _handler(started, upstream, credentials))
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    started.url = f"https://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield started
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Ignore a client that breaks the connection because it refuses the certificate: tests do so."""


def _handler(started: Proxy, upstream: str, credentials: tuple[str, str]) -> type[BaseHTTPRequestHandler]:
    wanted = "Basic " + base64.b64encode(":".join(credentials).encode()).decode()
    parts = urlsplit(upstream)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            """Log nothing: the output is the tests'."""

        def _pass(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            started.requests.append(f"{self.command} {self.path}")
            if self.headers.get("Authorization") != wanted:
                self._answer(401, {"WWW-Authenticate": "Basic"}, b"Unauthorized")
            elif started.faults and self.path.endswith("/_bulk") and (status := started.faults.popleft()):
                self._answer(status, {}, b'{"error": "a fault of the test"}')
            else:
                connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=60)
                headers = {name: self.headers[name] for name in PASSED if name in self.headers}
                connection.request(self.command, self.path, body, headers)
                answer = connection.getresponse()
                kept = {name: value for name, value in answer.getheaders() if name.startswith("content-enc")}
                kind = {"Content-Type": answer.getheader("Content-Type") or "application/json"}
                self._answer(answer.status, {**kept, **kind}, answer.read())
                connection.close()

        def _answer(self, status: int, headers: dict[str, str], body: bytes) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _pass  # noqa: N815 - names that the base class looks for

    return Handler
