"""Kubernetes' metrics server in a lab with a real node, whose kubelet it reads; simulated nodes have no metrics."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from perflab.building.sets import Binaries
from perflab.cluster.api import Document
from perflab.cluster.real_node import REAL
from perflab.control_plane.aggregation import api_service
from perflab.processes.ports import LOOPBACK
from perflab.processes.program import Program
from perflab.processes.state import Lab
from perflab.profiles import METRICS_SERVER

_NAMESPACE = "kube-system"
# the name by which the API server calls it
SERVER_NAME = f"{METRICS_SERVER}.{_NAMESPACE}.svc"
_GROUP = "metrics.k8s.io"
# the shortest that it accepts: it serves the CPU of a pod after two of them
_RESOLUTION = "10s"


def program(lab: Lab, binaries: Binaries, kubeconfig: Path) -> Program:
    """Return the server."""
    pki, port = lab.folder / "pki", lab.ports[METRICS_SERVER]
    command: tuple[str | Path, ...] = (
        binaries.program(METRICS_SERVER),
        *(f"--{use}kubeconfig={kubeconfig}" for use in ("", "authentication-", "authorization-")),
        f"--bind-address={LOOPBACK}",
        f"--secure-port={port}",
        f"--tls-cert-file={pki / 'server.crt'}",
        f"--tls-private-key-file={pki / 'server.key'}",
        f"--node-selector={REAL}",
        "--kubelet-preferred-address-types=InternalIP",
        f"--metric-resolution={_RESOLUTION}",
        "--kubelet-request-timeout=5s",
    )
    # /readyz also waits for the first metrics
    return Program(METRICS_SERVER, command, f"https://{LOOPBACK}:{port}/livez")


def served(lab: Lab, _binaries: Binaries) -> Iterator[Document]:
    """Yield the API of metrics, and the right of users to read them in their namespaces."""
    yield from api_service(lab, f"v1beta1.{_GROUP}", (METRICS_SERVER, _NAMESPACE), lab.ports[METRICS_SERVER])
    yield {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {
            "name": "system:aggregated-metrics-reader",
            "labels": {f"rbac.authorization.k8s.io/aggregate-to-{role}": "true" for role in ("view", "edit", "admin")},
        },
        "rules": [{"apiGroups": [_GROUP], "resources": ["nodes", "pods"], "verbs": ["get", "list", "watch"]}],
    }
