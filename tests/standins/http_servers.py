"""HTTP servers on this machine for the duration of a test."""

from __future__ import annotations

import http.server
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Quiet:
    """A request handler without log lines, because the output is the test's. List it before the base class."""

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def served(handler: type[http.server.BaseHTTPRequestHandler], port: int = 0) -> Iterator[str]:
    """Serve until the block ends, on a free port if none is given; yield the address."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def serve_until_removed(address: str, place: Path, longest_s: float = 2340.0) -> None:
    """Write the address of a running server to a file, and return when the file is removed.

    Args:
        address: The server's URL.
        place: The file.
        longest_s: Seconds after which to return anyway.
    """
    place.write_text(address, encoding="utf-8")
    until = time.monotonic() + longest_s
    while place.exists() and time.monotonic() < until:
        time.sleep(0.2)
