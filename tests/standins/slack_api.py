"""A stand-in for Slack's Web API: a server on loopback with one channel; it keeps threads, limits and fails as set.

Its responses have the fields of Slack's API that are read; nothing here is Slack.
"""

from __future__ import annotations

import http.server
import json
import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.standins.http_servers import Quiet, served


@dataclass
class SlackApi:
    """The channel.

    Attributes:
        messages: with their `ts`, the oldest first.
        refusals: status and headers that the next requests get.
        tokens: the tokens of requests.
    """

    url: str = ""
    messages: list[dict[str, Any]] = field(default_factory=list)
    refusals: list[tuple[int, dict[str, str]]] = field(default_factory=list)
    tokens: set[str] = field(default_factory=set)

    def answer(self, method: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the response of a method."""
        if method == "conversations.history":
            return {"ok": True, "messages": list(reversed(self.messages))}
        if method == "chat.update":
            for known in self.messages:
                if known["ts"] == given["ts"]:
                    known["text"] = given["text"]
                    return {"ok": True, "ts": known["ts"]}
            return {"ok": False, "error": "message_not_found"}
        metadata = given.get("metadata")
        given["metadata"] = json.loads(metadata) if isinstance(metadata, str) else metadata
        self.messages.append({**given, "ts": f"{len(self.messages) + 1}.0"})
        return {"ok": True, "ts": self.messages[-1]["ts"]}


@contextmanager
def slack_api() -> Iterator[SlackApi]:
    """Serve the API."""
    api = SlackApi()

    class Handler(Quiet, http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            content = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
            api.tokens.add(str(self.headers["Authorization"]).removeprefix("Bearer "))
            code, headers = api.refusals.pop(0) if api.refusals else (0, {})
            try:
                given = json.loads(content)
            except ValueError:
                given = dict(urllib.parse.parse_qsl(content))
            refused = {"ok": False, "error": "ratelimited"}
            answer = json.dumps(refused if code else api.answer(self.path.rpartition("/")[2], given)).encode()
            self.send_response(code or 200)
            for name, value in {"Content-Type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    with served(Handler) as address:
        api.url = f"{address}/api/"
        yield api
