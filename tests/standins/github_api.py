"""A stand-in for GitHub's API: a server on loopback with one pull request; it pages, limits, fails, and takes comments.

Its responses have the fields of GitHub's REST API (version 2022-11-28) that are read; nothing here is GitHub.
"""

from __future__ import annotations

import base64
import contextlib
import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "openshift-psap/psap-perf"
NUMBER = 7
PAGE = f"https://github.com/{REPOSITORY}/pull/{NUMBER}"
# the author of comments that the API creates
BOT = ("psap-perf[bot]", "NONE")
_FIRST = 1000
_COMMENT = f"/repos/{REPOSITORY}/issues/comments/"
# GitHub's maximum number of comments a page
_LARGEST_PAGE = 100


@dataclass
class GitHubApi:
    """The pull request and its comments; `requests` has the requests to the server.

    Attributes:
        comments: (author, association, body), the oldest first.
        failures: statuses that the next requests get, on paths that contain *failing*.
        answer: replaces all documents if set.
    """

    url: str = ""
    author: str = "ada"
    association: str = "MEMBER"
    body: str | None = ""
    comments: list[tuple[str, str, str]] = field(default_factory=list)
    owners: str | None = None
    failures: list[int] = field(default_factory=list)
    failing: str = ""
    answer: bytes | None = None
    requests: list[tuple[str, str]] = field(default_factory=list)

    def comment_url(self, index: int) -> str:
        """Return the URL of a comment's page."""
        return f"{PAGE}#issuecomment-{_FIRST + index}"

    def document(
        self, method: str, path: str, query: dict[str, list[str]], given: dict[str, Any]
    ) -> tuple[Any, dict[str, str]] | None:
        """Return the document of a path, with headers; None if it does not exist."""
        base = f"/repos/{REPOSITORY}"
        repository = {"full_name": REPOSITORY, "url": f"{self.url}{base}", "name": "psap-perf"}
        if path == base:
            return repository, {}
        if path == f"{base}/pulls/{NUMBER}":
            return {
                "number": NUMBER,
                "url": f"{self.url}{path}",
                "html_url": PAGE,
                "issue_url": f"{self.url}{base}/issues/{NUMBER}",
                "comments_url": f"{self.url}{base}/issues/{NUMBER}/comments",
                "body": self.body,
                "user": {"login": self.author},
                "author_association": self.association,
                "base": {"ref": "main", "repo": repository},
            }, {}
        if path == f"{base}/issues/{NUMBER}":
            return {"number": NUMBER, "url": f"{self.url}{path}", "html_url": PAGE}, {}
        if path == f"{base}/issues/{NUMBER}/comments" and method == "POST":
            self.comments.append((*BOT, given["body"]))
            return self._comment(len(self.comments) - 1), {}
        if path.startswith(_COMMENT) and method == "PATCH":
            index = int(path.removeprefix(_COMMENT)) - _FIRST
            self.comments[index] = (*self.comments[index][:2], given["body"])
            return self._comment(index), {}
        if path == f"{base}/issues/{NUMBER}/comments":
            return self._comments(path, query)
        if path == f"{base}/contents/OWNERS" and self.owners is not None and query.get("ref") == ["main"]:
            content = base64.b64encode(self.owners.encode()).decode()
            return {"type": "file", "encoding": "base64", "content": content, "name": "OWNERS", "path": "OWNERS"}, {}
        if path == f"{base}/installation":
            return {"id": 5, "app_id": 3, "access_tokens_url": f"{self.url}/app/installations/5/access_tokens"}, {}
        if path == "/app/installations/5/access_tokens" and method == "POST":
            return {"token": "ghs_of-the-installation", "expires_at": "2099-01-01T00:00:00Z", "permissions": {}}, {}
        return None

    def _comment(self, index: int) -> dict[str, Any]:
        author, association, body = self.comments[index]
        return {
            "id": _FIRST + index,
            "url": f"{self.url}{_COMMENT}{_FIRST + index}",
            "html_url": self.comment_url(index),
            "body": body,
            "user": {"login": author},
            "author_association": association,
        }

    def _comments(self, path: str, query: dict[str, list[str]]) -> tuple[Any, dict[str, str]]:
        size = min(int(query.get("per_page", ["30"])[0]), _LARGEST_PAGE)
        page = int(query.get("page", ["1"])[0])
        shown = [self._comment(index) for index in range(len(self.comments))]
        last = -(-len(shown) // size)
        link = f'<{self.url}{path}?per_page={size}&page={page + 1}>; rel="next"' if page < last else ""
        return shown[(page - 1) * size : page * size], {"Link": link} if link else {}


@contextlib.contextmanager
def github_api() -> Iterator[GitHubApi]:
    """Serve the API."""
    api = GitHubApi()

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None: ...  # noqa: A002 - http.server's word

        def _serve(self) -> None:
            place = urlsplit(self.path)
            content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            api.requests.append((self.path, self.headers.get("Authorization") or ""))
            if api.failures and api.failing in place.path:
                self._send(api.failures.pop(0), b'{"message": "API rate limit exceeded"}', {"Retry-After": "0"})
                return
            found = api.document(self.command, place.path, parse_qs(place.query), json.loads(content or b"{}"))
            if found is None:
                self._send(404, b'{"message": "Not Found"}', {})
                return
            created = self.command == "POST" and place.path.endswith("/comments")
            self._send(
                201 if created else 200, json.dumps(found[0]).encode() if api.answer is None else api.answer, found[1]
            )

        do_GET = do_POST = do_PATCH = _serve  # noqa: N815 - http.server's words

        def _send(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            limits = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()))} if status == 403 else {}
            self.send_response(status)
            for name, value in {"Content-Type": "application/json", **limits, **headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
