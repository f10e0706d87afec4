"""Configure how the API server reaches the webhooks of a lab's programs: on loopback, with the lab's own authority."""

from __future__ import annotations

import base64
from collections.abc import Iterable

from perflab.cluster.api import Document
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import Lab


def client_config(lab: Lab, port: str, path: str) -> Document:
    """Return the `clientConfig` of a webhook that is served at *path* on the port of this name."""
    bundle = base64.b64encode((lab.folder / "pki" / "ca.crt").read_bytes()).decode()
    return {"url": f"https://{LOOPBACK}:{lab.ports[port]}{path}", "caBundle": bundle}


def webhooks_at(lab: Lab, port: str, webhooks: Iterable[Document]) -> list[Document]:
    """Yield upstream's webhooks, which name a Service, with a port of the lab instead."""
    return [
        {**each, "clientConfig": client_config(lab, port, each["clientConfig"]["service"]["path"])} for each in webhooks
    ]


def open_version(version: Document) -> Document:
    """Return a version of a CustomResourceDefinition without the schemas of `spec` and `status`."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"openAPIV3Schema": {"type": "object", "properties": {"spec": anything, "status": anything}}}
    return {**version, "schema": schema}


def converted_at(lab: Lab, port: str, definition: Document) -> Document:
    """Return a CustomResourceDefinition whose objects a program converts between versions, at the port of this name."""
    webhook = {"clientConfig": client_config(lab, port, "/convert"), "conversionReviewVersions": ["v1"]}
    return {**definition, "spec": {**definition["spec"], "conversion": {"strategy": "Webhook", "webhook": webhook}}}


def port_of(product: str) -> str:
    """Return the name of the port of a product's webhooks."""
    return f"{product}-webhook"


def configured(lab: Lab, product: str, configuration: Document, *, pods_with: str = "") -> Document:
    """Return upstream's configuration of webhooks under a name of the *product*, at its port.

    Args:
        pods_with: Label of the pods that the webhooks of pods receive. Without such a limit, the API server refuses
            every pod while the product is down.
    """
    selector = {"matchExpressions": [{"key": pods_with, "operator": "Exists"}]}
    webhooks = [
        {**each, "objectSelector": selector} if each["name"].endswith("pod.kb.io") else each
        for each in configuration["webhooks"]
    ]
    metadata = {**configuration["metadata"], "name": f"{product}-{configuration['metadata']['name']}"}
    return {**configuration, "metadata": metadata, "webhooks": webhooks_at(lab, port_of(product), webhooks)}
