"""KEDA itself in a lab: its operator and its adapter of metrics, the kinds that it serves, the rights of users."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.control_plane.aggregation import api_service
from perflab.control_plane.webhooks import open_version
from perflab.files.documents import read_documents
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import KEDA, KEDA_ADAPTER, KEDA_GRPC

_NAMESPACE = KEDA
_SERVICE = "keda-metrics-apiserver"
# the name by which the API server calls the adapter
SERVER_NAME = f"{_SERVICE}.{_NAMESPACE}.svc"


def certificates(lab: Lab) -> Path:
    """Return the folder of the certificate by which operator and adapter verify each other."""
    return lab.folder / "pki" / KEDA


def definitions(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its CustomResourceDefinitions; the schema of a ScaledJob repeats that of pods, and is left open."""
    for path in sorted((binaries.manifests(KEDA) / "crd" / "bases").glob("*.yaml")):
        for document in read_documents(path):
            yield _opened(document) if document["spec"]["names"]["kind"] == "ScaledJob" else document


def _opened(document: Document) -> Document:
    versions = [open_version(each) for each in document["spec"]["versions"]]
    return {**document, "spec": {**document["spec"], "versions": versions}}


def objects(_lab: Lab, binaries: Binaries) -> Iterator[Document]:
    """Yield its namespace, and the rights of users to its kinds in their namespaces."""
    yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": _NAMESPACE}}
    yield from read_documents(binaries.manifests(KEDA) / "rbac" / "aggregate_cluster_roles.yaml")


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return upstream's operator, which turns ScaledObjects into HorizontalPodAutoscalers and reads their metrics."""
    health = f"{LOOPBACK}:{lab.ports[KEDA]}"
    command = (
        binaries.program("keda-operator"),
        f"--kubeconfig={kubeconfig}",
        f"--health-probe-bind-address={health}",
        f"--metrics-service-bind-address={LOOPBACK}:{lab.ports[KEDA_GRPC]}",
        "--enable-prometheus-metrics=false",
        f"--cert-dir={certificates(lab)}",
        "--kube-api-qps=5000",
        "--kube-api-burst=10000",
        "--zap-log-level=info",
    )
    # outside a pod, KEDA cannot read its namespace from its service account
    environment = {"WATCH_NAMESPACE": "", "POD_NAMESPACE": _NAMESPACE, "KEDA_CLUSTER_OBJECT_NAMESPACE": _NAMESPACE}
    return Program(KEDA, command, f"http://{health}/readyz", environment)


def adapter(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the server of `external.metrics.k8s.io`, which asks the operator."""
    pki, port = lab.folder / "pki", lab.ports[KEDA_ADAPTER]
    command: tuple[str | Path, ...] = (
        binaries.program(KEDA_ADAPTER),
        *(f"--{use}-kubeconfig={kubeconfig}" for use in ("lister", "authentication", "authorization")),
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={pki / 'server.crt'}",
        f"--tls-private-key-file={pki / 'server.key'}",
        f"--metrics-service-address={LOOPBACK}:{lab.ports[KEDA_GRPC]}",
        f"--metrics-service-cert-dir={certificates(lab)}",
    )
    return Program(KEDA_ADAPTER, command, f"https://{LOOPBACK}:{port}/readyz")


def served(lab: Lab, _binaries: Binaries) -> Iterator[Document]:
    """Yield the API of external metrics."""
    yield from api_service(lab, "v1beta1.external.metrics.k8s.io", (_SERVICE, _NAMESPACE), lab.ports[KEDA_ADAPTER])
