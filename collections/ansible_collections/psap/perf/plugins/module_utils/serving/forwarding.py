"""Make a pod's port available on this machine to any client, through port-forwards of the API server."""

from __future__ import annotations

import selectors
import socket
import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import Forwarded
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import Endpoint

_LOOPBACK = "127.0.0.1"
_CHUNK_BYTES = 1 << 16
_POLL_S = 0.05

Connect = Callable[[], AbstractContextManager[Forwarded]]


class Forwarding(socketserver.ThreadingTCPServer):
    """Listens on loopback; each connection has its own port-forward, which ends with it."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, connect: Connect) -> None:
        super().__init__((_LOOPBACK, 0), _Connection)
        self.connect = connect
        self.problem = ""
        """The last error of the other side or the cluster about a failed connection."""

    def endpoint(self, server_name: str, place: str) -> Endpoint:
        """Return its endpoint; with TLS if *server_name* is given."""
        return Endpoint(
            "https" if server_name else "http", _LOOPBACK, int(self.server_address[1]), "", server_name, place
        )


class _Connection(socketserver.BaseRequestHandler):
    server: Forwarding

    def handle(self) -> None:
        """Forward data in both directions."""
        try:
            with self.server.connect() as there:
                _pass_on(self.request, there.socket)
                self.server.problem = there.error() or self.server.problem
        except ClusterError as error:
            self.server.problem = str(error)


@contextmanager
def forwarding(connect: Connect) -> Iterator[Forwarding]:
    """Forward a port of this machine to the other end of *connect*, until the block ends."""
    with Forwarding(connect) as server:
        thread = threading.Thread(target=server.serve_forever, args=(_POLL_S,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def _pass_on(here: socket.socket, there: Any) -> None:
    """Forward data until either side closes; data sent before that is forwarded first."""
    with selectors.DefaultSelector() as selector:
        selector.register(here, selectors.EVENT_READ, there)
        selector.register(there, selectors.EVENT_READ, here)
        while True:
            for key, _events in selector.select():
                try:
                    chunk = key.fileobj.recv(_CHUNK_BYTES)  # type: ignore[union-attr]  # none is a number here
                    if not chunk:
                        return
                    key.data.sendall(chunk)
                except OSError:
                    return
