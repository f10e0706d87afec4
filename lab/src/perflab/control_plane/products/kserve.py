"""KServe itself in a lab: its program, the kinds that it serves and requires, its settings, its webhooks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.webhooks import converted_at, open_version, port_of, webhooks_at
from perflab.emulators.kubernetes.gateway.routing import CONTROLLER
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import ENVOY, KSERVE, LWS

NAMESPACE = "kserve"
WEBHOOK_PORT = port_of(KSERVE)
# by folder in upstream's config/crd/full, the largest first, while the API server is idle; the deletion of an
# InferenceService queries its trained models
_KINDS: Mapping[str, tuple[str, ...]] = {
    "llmisvc": ("llminferenceservices", "llminferenceserviceconfigs"),
    "": ("inferenceservices", "clusterservingruntimes", "servingruntimes", "trainedmodels"),
    "clusterstoragecontainer": ("clusterstoragecontainers",),
}
# Kinds without their schema. Those of LLMInferenceService and of pods (again) cost 8 s of the API server's CPU and 0.7
# GB. KServe's webhook validates the one; no controller of the other runs.
_OPEN = ("llminferenceserviceconfigs.serving.kserve.io", "leaderworkersets.leaderworkerset.x-k8s.io")
_GATEWAY_KINDS = ("gatewayclasses", "gateways", "httproutes")
_WEBHOOKS = ("webhook/manifests.yaml", "webhook/llmisvc/manifests.yaml")
# a webhook for a kind that the program does not serve would refuse every object of it
_LEFT_OUT = ("inferencegraph", "trainedmodel")
# upstream's defaults are for Knative and Istio, which the lab does not have
_SETTINGS: Mapping[str, Document] = {
    "deploy": {"defaultDeploymentMode": "Standard"},
    "ingress": {"disableIstioVirtualHost": True},
}


def definitions(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinitions, and those for access to models."""
    crds = binaries.manifests(KSERVE) / "crd" / "full"
    for folder, kinds in _KINDS.items():
        for kind in kinds:
            for document in read_documents(crds / folder / f"serving.kserve.io_{kind}.yaml"):
                yield _converted(lab, _opened(document))
    yield from read_documents(binaries.manifests(KSERVE) / "llmisvc" / "gateway-inference-extension.yaml")
    for kind in _GATEWAY_KINDS:
        yield from read_documents(binaries.manifests("gateway-crds") / f"gateway.networking.k8s.io_{kind}.yaml")
    if LWS in lab.options.products:
        return
    # KServe reads those of an LLMInferenceService even if it needs none
    for document in read_documents(binaries.manifests("lws-crds") / "leaderworkerset.x-k8s.io_leaderworkersets.yaml"):
        yield _opened(document)


def _converted(lab: Lab, document: Document) -> Document:
    """The program converts objects of a kind that is served in several versions."""
    return document if len(document["spec"]["versions"]) == 1 else converted_at(lab, WEBHOOK_PORT, document)


def _opened(document: Document) -> Document:
    """Return the definition, without the schema of `spec` and `status` if that costs too much."""
    if document["metadata"]["name"] not in _OPEN:
        return document
    versions = [open_version(each) for each in document["spec"]["versions"]]
    return {**document, "spec": {**document["spec"], "versions": versions}}


def objects(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its namespace, its settings, and the default configuration of an LLMInferenceService."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}
    [settings] = read_documents(binaries.manifests(KSERVE) / "configmap" / "inferenceservice.yaml")
    data = {name: text for name, text in settings["data"].items() if name != "_example"}
    ours = {name: json.dumps({**json.loads(data[name]), **values}, indent=4) for name, values in _SETTINGS.items()}
    yield {**settings, "data": {**data, **ours}}
    yield from _gateway(json.loads(data["ingress"])["kserveIngressGateway"], lab.ports[ENVOY])
    for path in sorted((binaries.manifests(KSERVE) / "llmisvcconfig").glob("config-*.yaml")):
        for document in read_documents(path):
            yield {**document, "metadata": {**document["metadata"], "namespace": NAMESPACE}}


def _gateway(address: str, port: int) -> Iterator[Document]:
    """Return the gateway that KServe's settings name, `NAMESPACE/NAME`, of the lab's class, at the port of the lab's
    Envoy.
    """
    namespace, name = address.split("/")
    base = {"apiVersion": "gateway.networking.k8s.io/v1"}
    yield {**base, "kind": "GatewayClass", "metadata": {"name": "lab"}, "spec": {"controllerName": CONTROLLER}}
    listener = {"name": "http", "port": port, "protocol": "HTTP", "allowedRoutes": {"namespaces": {"from": "All"}}}
    spec = {"gatewayClassName": "lab", "listeners": [listener]}
    yield {**base, "kind": "Gateway", "metadata": {"namespace": namespace, "name": name}, "spec": spec}


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the controllers of InferenceServices and LLMInferenceServices, and their webhooks."""
    address = f"{LOOPBACK}:{lab.ports[KSERVE]}"
    command = (
        binaries.program("kserve"),
        f"--kubeconfig={kubeconfig}",
        f"--health-probe-bind-address={address}",
        f"--webhook-host={LOOPBACK}",
        f"--webhook-port={lab.ports[WEBHOOK_PORT]}",
        f"--cert-dir={lab.folder / 'pki' / 'webhook'}",
        "--kube-api-qps=5000",
        "--kube-api-burst=10000",
    )
    return Program(KSERVE, command, f"http://{address}/readyz")


def webhooks(lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its webhook configurations, as upstream has them except for their address."""
    for name in _WEBHOOKS:
        for configuration in read_documents(binaries.manifests(KSERVE) / name):
            if not configuration["metadata"]["name"].startswith(_LEFT_OUT):
                yield {**configuration, "webhooks": webhooks_at(lab, WEBHOOK_PORT, configuration["webhooks"])}
