"""The objects that a cluster needs for a real node: the way to the API server, and rights of the node's programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from perflab.cluster.api import Document
from perflab.worker import node
from perflab.worker.network import Network

_RBAC = "rbac.authorization.k8s.io"
_READS = ["list", "watch"]


def objects(network: Network, api_port: int, kubelet_client: str) -> Iterator[Document]:
    """Yield the objects; *kubelet_client* is the user as which the API server calls kubelets."""
    # the API server publishes no address itself, because it listens on loopback only
    yield {
        "apiVersion": "discovery.k8s.io/v1",
        "kind": "EndpointSlice",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "labels": {"kubernetes.io/service-name": "kubernetes"},
        },
        "addressType": "IPv4",
        "endpoints": [{"addresses": [network.host], "conditions": {"ready": True}}],
        "ports": [{"name": "https", "port": api_port, "protocol": "TCP"}],
    }
    rules = [
        {"apiGroups": [""], "resources": ["services", "pods", "namespaces"], "verbs": _READS},
        {"apiGroups": ["discovery.k8s.io"], "resources": ["endpointslices"], "verbs": _READS},
    ]
    yield {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "perflab:dns"},
        "rules": rules,
    }
    yield _binding("perflab:dns", "perflab:dns", node.DNS_USER)
    yield _binding("perflab:kubelet-api", "system:kubelet-api-admin", kubelet_client)


def _binding(name: str, role: str, user: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"apiGroup": _RBAC, "kind": "User", "name": user}],
    }
