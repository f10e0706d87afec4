"""APIs of the cluster that other programs of the lab serve: how the API server reaches and is recognized by them."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

from perflab.cluster.api import Document
from perflab.control_plane.certificates import Authority, Pair
from perflab.processes.ports import LOOPBACK
from perflab.processes.state import Lab

_USER = "perflab:front-proxy"
_FOLDER = "front-proxy"


def api_service(lab: Lab, name: str, service: tuple[str, str], port: int) -> Iterator[Document]:
    """Yield the APIService `VERSION.GROUP` that a program on *port* serves, and its Service (name and namespace)."""
    version, _, group = name.partition(".")
    bundle = base64.b64encode((lab.folder / "pki" / "ca.crt").read_bytes()).decode()
    reference = {"name": service[0], "namespace": service[1]}
    yield {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": reference,
        # no pod serves it
        "spec": {"type": "ExternalName", "externalName": LOOPBACK},
    }
    yield {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": name},
        "spec": {
            "group": group,
            "version": version,
            "groupPriorityMinimum": 2000,
            "versionPriority": 15,
            "caBundle": bundle,
            "service": {**reference, "port": port},
        },
    }


def issue_front_proxy(pki: Path) -> tuple[Pair, Pair]:
    """Create an authority and the certificate with which the API server names the user of a passed request.

    It is not the lab's authority: no user can have such a certificate, and the API server verifies none for users.
    """
    authority = Authority(pki / _FOLDER)
    return authority.pair, authority.issue_client("client", _USER)


def flags(authority: Pair, client: Pair) -> Iterator[str]:
    """Yield the flags of the API server that pass users on."""
    yield f"--proxy-client-cert-file={client.certificate}"
    yield f"--proxy-client-key-file={client.key}"
    yield f"--requestheader-client-ca-file={authority.certificate}"
    yield f"--requestheader-allowed-names={_USER}"
    yield "--requestheader-username-headers=X-Remote-User"
    yield "--requestheader-group-headers=X-Remote-Group"
    yield "--requestheader-extra-headers-prefix=X-Remote-Extra-"
