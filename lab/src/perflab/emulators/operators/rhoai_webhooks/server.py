"""Serves the webhooks of OpenShift AI's operator, and registers them at the API server."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.operator_deployments import Operators
from perflab.emulators.framework.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DATA_SCIENCE_CLUSTERS,
    DSC_INITIALIZATIONS,
)
from perflab.emulators.framework.store import Key
from perflab.emulators.framework.webhook_server import WebhookServer
from perflab.emulators.operators.rhoai_webhooks import admission, conversion

PACKAGES = ("rhods-operator", "opendatahub-operator")
_CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
_NAME = "datasciencecluster.lab.psap.perf"
_CONVERT, _VALIDATE = "/convert", "/validate"
_CONVERTED = frozenset(f"{each.plural}.{each.group}" for each in (DATA_SCIENCE_CLUSTERS, DSC_INITIALIZATIONS))
# required by a definition of generation 3 while its operator is absent: its objects are still read
_WITHOUT_OPERATOR = (3,)


class Webhooks:
    """Both kinds of webhooks of one lab."""

    name = "webhooks"

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        """*folder* is the lab's."""
        self._cluster = cluster
        self._clusters = cluster.store(DATA_SCIENCE_CLUSTERS)
        self._definitions = cluster.store(CUSTOM_RESOURCE_DEFINITIONS)
        self._operators = Operators(cluster, PACKAGES)
        self._server = WebhookServer(folder, {_CONVERT: self._convert, _VALIDATE: self._validate})
        self._started = asyncio.Event()
        self.controller = Controller("conversions", self._set_conversion)
        self.controller.follow(self._definitions)

    async def run(self) -> None:
        """Serve until cancelled."""
        await self._server.start()
        self._started.set()
        configuration = _configuration(self._server.client_config(_VALIDATE), self._cluster.mark())
        if await self._cluster.api.create(_CONFIGURATIONS, configuration) is None:
            # of an earlier process, which had another port
            await self._cluster.api.patch(f"{_CONFIGURATIONS}/{_NAME}", {"webhooks": configuration["webhooks"]})
        await asyncio.Event().wait()

    async def _convert(self, request: Document) -> Document:
        return conversion.respond(request, self._version() or _WITHOUT_OPERATOR)

    async def _validate(self, request: Document) -> Document:
        version = self._version()
        if version is None:
            # on a cluster, OLM removes the webhook with the operator
            return {"uid": request["uid"], "allowed": True}
        return admission.respond(request, self._clusters.values(), version)

    def _version(self) -> tuple[int, ...] | None:
        """Return the version of the running operator; None if there is no such operator."""
        running = self._operators.running
        if running is None:
            return None
        owner = running["labels"].get("olm.owner", "").removeprefix(f"{running['package']}.")
        return tuple(map(int, re.findall(r"\d+", owner)))

    async def _set_conversion(self, key: Key) -> float | None:
        """Make the API server convert by this process, as OLM does with the operator."""
        definition = self._definitions.get(key)
        if key[1] not in _CONVERTED or definition is None:
            return None
        await self._started.wait()
        if "v2" not in {version["name"] for version in definition["spec"]["versions"]}:
            return None
        webhook = {"conversionReviewVersions": ["v1"], "clientConfig": self._server.client_config(_CONVERT)}
        wanted = {"strategy": "Webhook", "webhook": webhook}
        if definition["spec"].get("conversion") != wanted:
            await self._definitions.patch(key, {"spec": {"conversion": wanted}})
        return None


def _configuration(client_config: Document, mark: dict[str, str]) -> Document:
    rule = {
        "apiGroups": [DATA_SCIENCE_CLUSTERS.group],
        "operations": ["CREATE", "UPDATE"],
        "resources": [DATA_SCIENCE_CLUSTERS.plural],
    }
    webhooks = [
        {
            "name": f"datasciencecluster-{version}-validator.opendatahub.io",
            "admissionReviewVersions": ["v1"],
            "sideEffects": "None",
            "failurePolicy": "Fail",
            "matchPolicy": "Exact",
            "rules": [{**rule, "apiVersions": [version]}],
            "clientConfig": client_config,
        }
        for version in ("v1", "v2")
    ]
    return {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": _NAME, "annotations": mark},
        "webhooks": webhooks,
    }
