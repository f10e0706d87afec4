"""Serves the admission of trainers' pods, and registers it at the API server."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.webhook_server import WebhookServer
from perflab.emulators.kubernetes.trainers.admission import review
from perflab.emulators.kubernetes.trainers.job import TRAINER

_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"
_NAME = "trainers.lab.psap.perf"
# a ConfigMap and a node are read for a response
_TIMEOUT_S = 10


class Webhook:
    """The webhook of one lab, which serves with the lab's certificate."""

    name = "webhook"

    def __init__(self, cluster: Cluster, folder: Path, speed: Callable[[], float]) -> None:
        """*folder* is the lab's; *speed* returns the speed of trainings whose pod does not set it."""
        self._cluster = cluster
        self._server = WebhookServer(folder, {"/": self._answer})
        self._speed = speed

    async def run(self) -> None:
        """Serve until cancelled."""
        await self._server.start()
        configuration = _configuration(self._server.client_config("/"), self._cluster.mark())
        if await self._cluster.api.create(_CONFIGURATIONS, configuration) is None:
            # of an earlier process, which had another port
            await self._cluster.api.patch(f"{_CONFIGURATIONS}/{_NAME}", {"webhooks": configuration["webhooks"]})
        await asyncio.Event().wait()

    async def _answer(self, request: Document) -> Document:
        return await review(self._cluster.api, request, self._speed())


def _configuration(client_config: Document, mark: dict[str, str]) -> Document:
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
    webhook = {
        "name": _NAME,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "timeoutSeconds": _TIMEOUT_S,
        # other pods do not depend on it
        "objectSelector": {"matchExpressions": [{"key": TRAINER, "operator": "Exists"}]},
        "rules": [rule],
        "clientConfig": client_config,
    }
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": _NAME, "annotations": mark},
        "webhooks": [webhook],
    }
