"""Files, users and control group of a real node."""

from __future__ import annotations

from pathlib import Path

from perflab.cluster.real_node import NAME
from perflab.processes.state import Lab
from perflab.profiles import WORKER

CONTAINERD_SOCKET = "/run/containerd/containerd.sock"
DNS_USER = "system:kube-dns"
KUBELET_CLIENT = "worker-kubelet"
KUBELET_SERVER = "worker-kubelet-server"
# file name → user and group of the node's programs, as the API server sees them
USERS = {
    KUBELET_CLIENT: (f"system:node:{NAME}", "system:nodes"),
    "kube-proxy": ("system:kube-proxy", None),
    "coredns": (DNS_USER, None),
}


def folder(lab: Lab) -> Path:
    """Return the folder of the node's files."""
    return lab.folder / "worker"


def kubeconfig(lab: Lab, user: str) -> Path:
    """Return the kubeconfig of one of the :data:`USERS`."""
    return lab.folder / "pki" / f"{user}.kubeconfig"


def cgroup(lab: Lab) -> str:
    """Return the name of the control group of all pods, new with each start of a lab."""
    return f"perflab-{lab.name}-{lab.ports[WORKER]}"
