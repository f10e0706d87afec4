"""Approve certificate requests that known nodes send for themselves."""

from __future__ import annotations

import base64
import time
from collections.abc import Callable, Collection
from typing import Protocol

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import condition_true
from cryptography import x509
from cryptography.x509.oid import NameOID

CLIENT, SERVING = "kubernetes.io/kube-apiserver-client-kubelet", "kubernetes.io/kubelet-serving"
REQUESTS = Query("certificates.k8s.io/v1", "CertificateSigningRequest")
NODES = Query("v1", "Node")
_USER, _GROUP = "system:node:", "system:nodes"
# sends the request of a node whose certificate has expired
_BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"
_POLL_S = 1.0
_is_ready = condition_true("Ready")


class Source(Protocol):
    """The methods of a cluster that are used."""

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        """Return objects and their resourceVersion."""

    def approve(self, request: Manifest, condition: Manifest) -> None:
        """Approve a CertificateSigningRequest with this condition."""


def objection(request: Manifest, nodes: Collection[str]) -> str | None:
    """Return why a request must not be approved; None if one of *nodes* sent it for itself."""
    spec = request["spec"]
    if spec.get("signerName") not in (CLIENT, SERVING):
        return f"its signer is {spec.get('signerName')}"
    try:
        subject = x509.load_pem_x509_csr(base64.b64decode(spec["request"])).subject
    except ValueError:
        return "it contains no certificate request"
    names = [str(attribute.value) for attribute in subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
    groups = [str(attribute.value) for attribute in subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)]
    user = spec.get("username", "")
    if len(names) != 1 or groups != [_GROUP] or names[0].removeprefix(_USER) not in nodes:
        return f"its subject {subject.rfc4514_string()} is no node of this cluster"
    if user != names[0] and not (user == _BOOTSTRAPPER and spec["signerName"] == CLIENT):
        return f"{user} requests a certificate of {names[0]}"
    return None


def is_pending(request: Manifest) -> bool:
    """Return whether the request is neither approved nor denied."""
    kinds = {entry["type"] for entry in request.get("status", {}).get("conditions") or []}
    return not kinds & {"Approved", "Denied", "Failed"}


def approve_until_ready(source: Source, timeout_s: float, check: Callable[[], None]) -> tuple[list[str], list[str]]:
    """Approve requests of known nodes until every node is ready and no request is pending.

    Args:
        check: Raises Interrupted if the user stops the run.

    Returns:
        The names of the approved requests, and the names of other requests with the reason.

    Raises:
        WaitTimeoutError: If a node is not ready in time.
    """
    deadline = time.monotonic() + timeout_s
    approved: list[str] = []
    while True:
        check()
        nodes = source.list(NODES)[0]
        names = {node["metadata"]["name"] for node in nodes}
        pending = [request for request in source.list(REQUESTS)[0] if is_pending(request)]
        verdicts = {request["metadata"]["name"]: objection(request, names) for request in pending}
        for request in pending:
            if verdicts[request["metadata"]["name"]] is None:
                source.approve(request, _approval())
                approved.append(request["metadata"]["name"])
        unready = sorted(node["metadata"]["name"] for node in nodes if not _is_ready(node).reached)
        refused = [f"{name}: {why}" for name, why in verdicts.items() if why]
        if not unready and len(refused) == len(pending):
            return approved, refused
        if time.monotonic() >= deadline:
            raise WaitTimeoutError(
                f"nodes did not become ready within {timeout_s:g} s: {', '.join(unready) or 'requests are pending'}; "
                f"{len(approved)} of their certificates were approved"
            )
        time.sleep(_POLL_S)


def _approval() -> Manifest:
    now = utc_now()
    return {
        "type": "Approved",
        "status": "True",
        "reason": "PsapPerfApproved",
        "message": "requested by a node of this cluster for itself",
        "lastUpdateTime": now,
        "lastTransitionTime": now,
    }
