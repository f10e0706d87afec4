"""A simulated API server for exec: it accepts the WebSocket, records the request, and sends the given frames."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from tests.standins.http_servers import Quiet, served

STDOUT, STDERR, ENDED = b"\1", b"\2", b"\3"
SUCCESS = ENDED + b'{"metadata":{},"status":"Success"}'
REFUSAL = b'{"kind":"Status","message":"pods \\"prometheus-k8s-0\\" is forbidden"}'
_ACCEPT = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


def failure(code: int) -> bytes:
    """Return the frame of a program that ended with `code`."""
    text = f'{{"status":"Failure","details":{{"causes":[{{"reason":"ExitCode","message":"{code}"}}]}}}}'
    return ENDED + text.encode()


@dataclass
class FakeExec:
    """`asked` has path and headers of each request."""

    url: str = ""
    asked: list[tuple[str, dict[str, str]]] = field(default_factory=list)


@contextmanager
def executing(frames: Sequence[bytes], status: int = 101) -> Iterator[FakeExec]:
    """Serve until the block ends; refuse with a `status` other than 101."""
    fake = FakeExec()

    class Handler(Quiet, BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            fake.asked.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
            self.close_connection = True
            if status != 101:
                self.send_response(status)
                self.send_header("Content-Length", str(len(REFUSAL)))
                self.end_headers()
                self.wfile.write(REFUSAL)
                return
            key = hashlib.sha1(self.headers["Sec-WebSocket-Key"].encode() + _ACCEPT).digest()
            self.send_response(101)
            self.send_header("Upgrade", "websocket")
            self.send_header("Connection", "Upgrade")
            self.send_header("Sec-WebSocket-Accept", base64.b64encode(key).decode())
            self.send_header("Sec-WebSocket-Protocol", "v4.channel.k8s.io")
            self.end_headers()
            for frame in frames:
                self.wfile.write(b"\x82" + _length(len(frame)) + frame)
            self.wfile.write(b"\x88\x00")

    with served(Handler) as fake.url:
        yield fake


def _length(size: int) -> bytes:
    return bytes([size]) if size < 126 else b"\x7e" + struct.pack(">H", size)
