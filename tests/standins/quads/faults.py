"""The ways in which a request reaches the stand-in: in process, with a fault at a call, or over HTTP."""

from __future__ import annotations

import functools
import http.server
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from ansible_collections.psap.perf.plugins.module_utils.quads.connection import Reply
from ansible_collections.psap.perf.plugins.module_utils.quads.errors import LostAnswerError
from ansible_collections.psap.perf.plugins.module_utils.quads.times import header_time

from tests.standins.http_servers import Quiet, served
from tests.standins.quads.answers import Answer
from tests.standins.quads.server import StandIn

# the server does not act / acts, and then …; or it acts late, because its ticket system is slow
FAULTS = (
    "timeout before", "timeout after", "timeout late", "error before", "error after", "expired token", "killed before",
    "killed after", "killed late",
)  # fmt: skip
LATE_S = 25.0
_PAGE = b"<!doctype html><title>502 Bad Gateway</title>"


class Killed(BaseException):
    """The driver was killed."""


class ManualTime:
    """Time that passes only during waits."""

    def __init__(self, start: datetime = datetime(2026, 11, 23, 15, 0, tzinfo=UTC)) -> None:
        self._now = start
        self._passed = 0.0

    def now(self) -> datetime:
        """Return the current time."""
        return self._now

    def monotonic(self) -> float:
        """Return the seconds that have passed."""
        return self._passed

    def pause(self, seconds: float) -> None:
        """Let time pass."""
        self._now += timedelta(seconds=seconds)
        self._passed += seconds


@dataclass(slots=True)
class Direct:
    """In process; *faults* maps the number of a call to its fault; `calls` lists calls; *watch* runs after each."""

    server: StandIn
    time: ManualTime
    faults: dict[int, str] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    watch: Callable[[], None] = lambda: None
    late: list[tuple[float, Callable[[], object]]] = field(default_factory=list)
    """Requests that the server executes later, although their client is gone."""

    def work_late(self) -> None:
        """Execute the late requests that are due."""
        for due, act in list(self.late):
            if due <= self.time.monotonic():
                self.late.remove((due, act))
                act()
                self.watch()

    def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> Reply:
        """Return the response, or apply the fault."""
        number = len(self.calls)
        self.calls.append(f"{method} {url.partition('/api/v3')[2]}")
        # a call takes time
        self.time.pause(0.2)
        self.work_late()
        fault = self.faults.pop(number, "")
        if fault.endswith("late"):
            # only a request for an assignment waits for a ticket
            if url.endswith("/assignments/self/"):
                act = functools.partial(self.server.handle, method, url, headers, body)
                self.late.append((self.time.monotonic() + LATE_S, act))
            fault = fault.replace("late", "before")
        if fault == "killed before":
            raise Killed
        if fault == "timeout before":
            raise LostAnswerError("no answer")
        if fault == "error before":
            return Reply(502, _PAGE)
        if fault == "expired token":
            self.server.lab.tokens.clear()
        answer = self.server.handle(method, url, headers, body)
        self.watch()
        if fault == "killed after":
            raise Killed
        if fault == "timeout after":
            raise LostAnswerError("no answer")
        if fault == "error after":
            return Reply(502, _PAGE)
        return Reply(answer.status, answer.body, header_time(self.server.date))


@contextmanager
def over_http(server: StandIn) -> Iterator[str]:
    """Serve the stand-in on this machine until the block ends; yield the address."""
    lock = threading.Lock()

    class Handler(Quiet, http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length) if length else None
            if self.path.rstrip("/").endswith("/assignments/self"):
                # the client may have left by then
                time.sleep(server.lab.settings.ticket_s)
            with lock:
                answer: Answer = server.handle(self.command, self.path, dict(self.headers.items()), body)
                date = server.date
            self.send_response_only(answer.status)
            self.send_header("Date", date)
            self.send_header("Content-Type", answer.content_type)
            self.send_header("Content-Length", str(len(answer.body)))
            # the client may have left
            with suppress(OSError):
                self.end_headers()
                self.wfile.write(answer.body)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815 - names of the standard library

    with served(Handler) as address:
        yield address
