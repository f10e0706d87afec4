"""An HTTP proxy on this machine with CONNECT only, like a bastion in front of a cluster."""

from __future__ import annotations

import contextlib
import select
import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

_CHUNK = 1 << 16


@dataclass
class ConnectProxy:
    """The proxy's URL, and the targets of its connections, by the names that clients used.

    Attributes:
        routes: host names that only the proxy resolves, and their addresses.
        login: required ``Basic …`` header of clients; empty if none is required.
    """

    routes: dict[str, tuple[str, int]]
    login: str = ""
    url: str = ""
    targets: list[str] = field(default_factory=list)
    refused: int = 0


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    proxy: ConnectProxy


class _Tunnel(socketserver.StreamRequestHandler):
    server: _Server

    def handle(self) -> None:
        method, target, _version = self.rfile.readline().decode().split()
        headers = {}
        while line := self.rfile.readline().decode().strip():
            name, _colon, value = line.partition(":")
            headers[name.lower()] = value.strip()
        proxy, host = self.server.proxy, target.rpartition(":")[0]
        if proxy.login and headers.get("proxy-authorization") != proxy.login:
            proxy.refused += 1
            self.wfile.write(b"HTTP/1.1 407 Proxy Authentication Required\r\nContent-Length: 0\r\n\r\n")
        elif method != "CONNECT" or host not in proxy.routes:
            proxy.refused += 1
            self.wfile.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
        else:
            proxy.targets.append(target)
            with socket.create_connection(proxy.routes[host]) as there, contextlib.suppress(OSError):
                self.wfile.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
                _forward(self.connection, there)


def _forward(here: socket.socket, there: socket.socket) -> None:
    while True:
        for ready in select.select([here, there], [], [])[0]:
            data = ready.recv(_CHUNK)
            if not data:
                return
            (there if ready is here else here).sendall(data)


@contextmanager
def connect_proxy(routes: dict[str, tuple[str, int]], login: str = "") -> Iterator[ConnectProxy]:
    """Serve until the block ends, on a free port."""
    with _Server(("127.0.0.1", 0), _Tunnel) as server:
        server.proxy = ConnectProxy(routes, login, f"http://127.0.0.1:{server.server_address[1]}")
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server.proxy
        server.shutdown()
