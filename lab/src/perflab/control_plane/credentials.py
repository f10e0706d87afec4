"""The certificates and kubeconfigs of one lab."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import yaml

from perflab.cluster import real_node
from perflab.control_plane.aggregation import issue_front_proxy
from perflab.control_plane.certificates import API_SERVER_USER, Authority, Pair
from perflab.control_plane.products import keda, metrics_server, olm
from perflab.control_plane.programs import Credentials
from perflab.files import documents
from perflab.processes.state import Lab
from perflab.profiles import KEDA, METRICS_SERVER, running
from perflab.worker import network, node

# file name → user and group, as the API server sees them
_USERS = {
    "kube-controller-manager": ("system:kube-controller-manager", None),
    "kube-scheduler": ("system:kube-scheduler", None),
    "kwok": ("perflab:kwok", "system:masters"),
    "kubelet": ("perflab:kubelet", "system:masters"),
}
# all servers have one certificate
_SERVER_NAMES = [
    *("kubernetes", "kubernetes.default", "kubernetes.default.svc"),
    *(olm.SERVER_NAME, metrics_server.SERVER_NAME, keda.SERVER_NAME),
]


def make_credentials(authority: Authority, lab: Lab) -> Credentials:
    """Create the lab's keys, the kubeconfig of each program and the administrator's."""
    admin = authority.issue_client("admin", "perflab:admin", "system:masters")
    _write_kubeconfig(lab.kubeconfig, lab, authority, admin)
    kubeconfigs = {}
    products = {
        name: (f"perflab:{name}", "system:masters") for name in running(lab.options.profile, lab.options.products)
    }
    for name, (user, group) in {**_USERS, **products}.items():
        path = lab.folder / "pki" / f"{name}.kubeconfig"
        _write_kubeconfig(path, lab, authority, authority.issue_client(name, user, group))
        kubeconfigs[name] = path
    _make_node_credentials(authority, lab)
    return Credentials(
        authority=authority.pair,
        server=authority.issue_server("server", [*_SERVER_NAMES, *_api_server_addresses(lab)]),
        kubelet_client=authority.issue_client("apiserver-kubelet-client", API_SERVER_USER),
        tokens=authority.make_signing_key("service-accounts"),
        kubeconfigs=kubeconfigs,
        front_proxy=issue_front_proxy(lab.folder / "pki") if {METRICS_SERVER, KEDA} & products.keys() else None,
    )


def _api_server_addresses(lab: Lab) -> list[str]:
    addresses = network.of(lab)
    return [addresses.api_service, addresses.host] if addresses else [network.API_SERVICE]


def _make_node_credentials(authority: Authority, lab: Lab) -> None:
    addresses = network.of(lab)
    if addresses is None:
        return
    authority.issue_server(node.KUBELET_SERVER, [real_node.NAME, addresses.node])
    server = f"https://{addresses.host}:{lab.ports['kube-apiserver']}"
    for name, (user, group) in node.USERS.items():
        pair = authority.issue_client(name, user, group)
        _write_kubeconfig(node.kubeconfig(lab, name), lab, authority, pair, server)


def _write_kubeconfig(path: Path, lab: Lab, authority: Authority, pair: Pair, server: str | None = None) -> None:
    document = _kubeconfig(f"perflab-{lab.name}", server or lab.server, authority.pair.certificate, pair)
    documents.write_private(path, yaml.safe_dump(document, sort_keys=False))


def _kubeconfig(name: str, server: str, authority: Path, pair: Pair) -> dict[str, Any]:
    # contents, not paths: the file can be copied elsewhere
    cluster = {"server": server, "certificate-authority-data": _embedded(authority)}
    user = {
        "client-certificate-data": _embedded(pair.certificate),
        "client-key-data": _embedded(pair.key),
    }
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": cluster}],
        "users": [{"name": name, "user": user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name, "namespace": "default"}}],
        "current-context": name,
    }


def _embedded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
