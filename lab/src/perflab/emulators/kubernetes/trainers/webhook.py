"""Serves the admission of trainers' pods, and tells the API server where."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Callable
from pathlib import Path

from aiohttp import web

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.kubernetes.trainers.admission import review
from perflab.emulators.kubernetes.trainers.job import TRAINER
from perflab.processes.ports import LOOPBACK

_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_NAME = "trainers.lab.psap.perf"
_ANY_FREE_PORT = 0
# a ConfigMap and a node are read for an answer
_TIMEOUT_S = 10


class Webhook:
    """The webhook of one lab, whose certificate it serves with."""

    name = "webhook"

    def __init__(self, cluster: Cluster, folder: Path, speed: Callable[[], float]) -> None:
        """*folder* is the lab's; *speed* tells how fast trainings run whose pod says nothing."""
        self._cluster = cluster
        self._pki = folder / "pki"
        self._speed = speed

    async def run(self) -> None:
        """Serve until cancelled."""
        app = web.Application()
        app.router.add_post("/", self._answer)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        tls.load_cert_chain(self._pki / "server.crt", self._pki / "server.key")
        await web.TCPSite(runner, LOOPBACK, _ANY_FREE_PORT, ssl_context=tls).start()
        await self._register(runner.addresses[0][1])
        await asyncio.Event().wait()

    async def _answer(self, request: web.Request) -> web.Response:
        asked: Document = await request.json()
        answer = await review(self._cluster.api, asked["request"], self._speed())
        return web.json_response({"apiVersion": asked["apiVersion"], "kind": asked["kind"], "response": answer})

    async def _register(self, port: int) -> None:
        configuration = _configuration(port, (self._pki / "ca.crt").read_bytes(), self._cluster.mark())
        if await self._cluster.api.create(_CONFIGURATIONS, configuration) is None:
            # of a process before this one, which had another port
            await self._cluster.api.patch(f"{_CONFIGURATIONS}/{_NAME}", {"webhooks": configuration["webhooks"]})


def _configuration(port: int, authority: bytes, mark: dict[str, str]) -> Document:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    webhook = {
        "name": _NAME,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": _TIMEOUT_S,
        # no other pod pays for it
        "objectSelector": {"matchExpressions": [{"key": TRAINER, "operator": "Exists"}]},
        "rules": [rule],
        "clientConfig": {
            "url": f"https://{LOOPBACK}:{port}/",
            "caBundle": base64.b64encode(authority).decode(),
        },
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": _NAME, "annotations": mark},
        "webhooks": [webhook],
    }
