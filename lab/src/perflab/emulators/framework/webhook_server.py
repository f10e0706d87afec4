"""Serves webhooks of an emulator to the API server: on loopback, with the lab's certificate."""

from __future__ import annotations

import base64
import functools
import ssl
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from aiohttp import web

from perflab.cluster.api import Document
from perflab.processes.ports import LOOPBACK

# from the request of a review to its response
Answer = Callable[[Document], Awaitable[Document]]
_ANY_FREE_PORT = 0


class WebhookServer:
    """The webhooks of one emulator in the lab's *folder*, by their paths."""

    def __init__(self, folder: Path, answers: Mapping[str, Answer]) -> None:
        """Nothing is served before `start`."""
        self._pki = folder / "pki"
        self._answers = answers
        self._port = _ANY_FREE_PORT

    async def start(self) -> None:
        """Serve at a free port."""
        app = web.Application()
        for path, answer in self._answers.items():
            app.router.add_post(path, functools.partial(_respond, answer))
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(self._pki / "server.crt", self._pki / "server.key")
        await web.TCPSite(runner, LOOPBACK, _ANY_FREE_PORT, ssl_context=tls).start()
        self._port = runner.addresses[0][1]

    def client_config(self, path: str) -> Document:
        """Return the `clientConfig` by which the API server reaches the webhook at *path*."""
        authority = (self._pki / "ca.crt").read_bytes()
        return {"url": f"https://{LOOPBACK}:{self._port}{path}", "caBundle": base64.b64encode(authority).decode()}


async def _respond(answer: Answer, request: web.Request) -> web.Response:
    asked: Document = await request.json()
    response = await answer(asked["request"])
    return web.json_response({"apiVersion": asked["apiVersion"], "kind": asked["kind"], "response": response})
