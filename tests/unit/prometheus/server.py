"""A simulated Prometheus server that returns given answers and records its requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.standins.http_servers import Quiet, served

Asked = dict[str, list[str]]
Say = Callable[[str, Asked], tuple[int, Any]]


@dataclass
class FakePrometheus:
    """`asked` has method, path and fields of each request, `headers` those of the last one."""

    say: Say
    asked: list[tuple[str, str, Asked]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    url: str = ""


@contextmanager
def serving(say: Say) -> Iterator[FakePrometheus]:
    """Serve until the block ends. `say` receives path and fields, and returns the status and the body."""
    fake = FakePrometheus(say)

    class Handler(Quiet, BaseHTTPRequestHandler):
        def _answer(self, fields: str) -> None:
            path = urlsplit(self.path).path
            asked = parse_qs(fields)
            fake.asked.append((self.command, path, asked))
            fake.headers = dict(self.headers)
            status, answer = fake.say(path, asked)
            body = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
            self.send_response(status)
            if status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if status != 204:
                self.wfile.write(body)

        def do_GET(self) -> None:
            self._answer(urlsplit(self.path).query)

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])).decode())

    with served(Handler) as fake.url:
        yield fake


def success(result: Any, kind: str = "matrix", **more: Any) -> tuple[int, Any]:
    """Return an answer with a result."""
    return 200, {"status": "success", "data": {"resultType": kind, "result": result}, **more}


def refusal(status: int, kind: str, error: str) -> tuple[int, Any]:
    """Return a refusal."""
    return status, {"status": "error", "errorType": kind, "error": error}
