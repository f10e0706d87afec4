"""A stand-in for the API server and the OAuth server of an OpenShift; the test sets who may log in.

It serves ``oc login``: the metadata at ``/.well-known/oauth-authorization-server``, then a token by Basic
authentication, which is in the fragment of a redirection. Its tokens have no effect.
"""

from __future__ import annotations

import base64
import http.server
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import yaml

from tests.standins.http_servers import Quiet, served

TOKEN = "sha256~the-token-of-the-stand-in"


@dataclass
class Login:
    """The behaviour of the stand-in, and the requests that it got."""

    passwords: dict[str, str] = field(default_factory=dict)
    restarting: int = 0
    """Number of further requests for which the server is unavailable."""
    has_oauth: bool = True
    url: str = ""
    asked: list[str] = field(default_factory=list)

    def kubeconfig(self, folder: Path) -> Path:
        """Write a kubeconfig of the server, without any credentials."""
        cluster = {"name": "it", "cluster": {"server": self.url}}
        context = {"name": "it", "context": {"cluster": "it", "user": "it"}}
        users = [{"name": "it", "user": {}}]
        document = {"clusters": [cluster], "contexts": [context], "users": users, "current-context": "it"}
        path = folder / "kubeconfig"
        path.write_text(yaml.safe_dump({"apiVersion": "v1", "kind": "Config", **document}), encoding="utf-8")
        return path


@contextmanager
def oauth_server(login: Login) -> Iterator[Login]:
    """Serve until the block ends."""

    class Handler(Quiet, http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path)
            if path.path == "/.well-known/oauth-authorization-server" and login.has_oauth:
                body = {"issuer": login.url, "authorization_endpoint": f"{login.url}/oauth/authorize"}
                self._answer(200, json.dumps(body).encode())
            elif path.path == "/oauth/authorize":
                self._authorize(parse_qs(path.query))
            else:
                self._answer(404)

        def _authorize(self, asked: dict[str, list[str]]) -> None:
            basic = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode()
            user, _colon, password = basic.partition(":")
            login.asked.append(user)
            if login.restarting:
                login.restarting -= 1
                self._answer(503)
            elif "X-CSRF-Token" not in self.headers or asked.get("client_id") != ["openshift-challenging-client"]:
                self._answer(400)
            elif login.passwords.get(user, "") != password:
                self._answer(401)
            else:
                self._answer(302, location=f"{login.url}/oauth/token/implicit#access_token={TOKEN}&token_type=Bearer")

        def _answer(self, status: int, body: bytes = b"", location: str = "") -> None:
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    with served(Handler) as login.url:
        yield login
