"""Only certificate requests of known nodes for themselves are approved."""

from __future__ import annotations

import base64
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.openshift import node_certificates
from ansible_collections.psap.perf.plugins.module_utils.openshift.node_certificates import (
    CLIENT,
    SERVING,
    approve_until_ready,
    is_pending,
    objection,
)
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

NODE = "system:node:node-0"
BOOTSTRAPPER = "system:serviceaccount:openshift-machine-config-operator:node-bootstrapper"


def encoded_request(name: str, group: str = "system:nodes") -> str:
    subject = x509.Name(
        [x509.NameAttribute(NameOID.ORGANIZATION_NAME, group), x509.NameAttribute(NameOID.COMMON_NAME, name)]
    )
    made = x509.CertificateSigningRequestBuilder().subject_name(subject)
    signed = made.sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(signed.public_bytes(serialization.Encoding.PEM)).decode()


def request(user: str = NODE, subject: str = NODE, signer: str = SERVING, name: str = "csr-1") -> Manifest:
    spec = {"signerName": signer, "username": user, "request": encoded_request(subject)}
    return {"metadata": {"name": name}, "spec": spec, "status": {}}


@pytest.mark.parametrize("given", [request(), request(signer=CLIENT), request(user=BOOTSTRAPPER, signer=CLIENT)])
def test_request_of_a_node_for_itself_is_approved(given: Manifest) -> None:
    assert objection(given, {"node-0"}) is None


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (request(signer="example.com/any"), "its signer is example.com/any"),
        (request(subject="system:node:node-9"), "is no node of this cluster"),
        (request(user="system:node:node-1"), "system:node:node-1 requests a certificate of system:node:node-0"),
        (request(user=BOOTSTRAPPER), f"{BOOTSTRAPPER} requests a certificate"),
        (request(subject="system:admin"), "is no node of this cluster"),
    ],
)
def test_other_requests_are_left_pending(given: Manifest, why: str) -> None:
    assert why in (objection(given, {"node-0", "node-1"}) or "")


def test_invalid_request_is_left_pending() -> None:
    given = request()
    given["spec"]["request"] = base64.b64encode(b"nonsense").decode()
    assert objection(given, {"node-0"}) == "it contains no certificate request"


def test_administrators_group_is_not_granted() -> None:
    given = request()
    given["spec"]["request"] = encoded_request(NODE, "system:masters")
    assert "is no node of this cluster" in (objection(given, {"node-0"}) or "")


def test_decided_request_is_not_pending() -> None:
    assert is_pending(request())
    assert not is_pending({**request(), "status": {"conditions": [{"type": "Denied"}]}})


class FakeCluster:
    """A node that is ready once `wanted` of its requests were approved; each approval creates the next request."""

    def __init__(self, requests: list[Manifest], wanted: int) -> None:
        self.waiting = requests
        self.wanted = wanted
        self.shown = requests[:1]
        self.approved: list[str] = []

    def list(self, query: Query) -> tuple[list[Manifest], str]:
        if query.kind == "Node":
            status = str(len(self.approved) >= self.wanted)
            conditions = [{"type": "Ready", "status": status}]
            return [{"metadata": {"name": "node-0"}, "status": {"conditions": conditions}}], "1"
        return list(self.shown), "1"

    def approve(self, request: Manifest, condition: dict[str, Any]) -> None:
        self.approved.append(request["metadata"]["name"])
        request["status"] = {"conditions": [condition]}
        self.shown = self.waiting[: len(self.approved) + 1]


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_certificates, "_POLL_S", 0)


def test_approvals_continue_until_the_nodes_are_ready() -> None:
    cluster = FakeCluster([request(name="client", signer=CLIENT), request(name="serving")], 2)
    assert approve_until_ready(cluster, 10, lambda: None) == (["client", "serving"], [])


def test_foreign_request_blocks_nothing_and_is_reported() -> None:
    cluster = FakeCluster([request(user="mallory")], 0)
    approved, refused = approve_until_ready(cluster, 10, lambda: None)
    assert approved == []
    assert refused == [f"csr-1: mallory requests a certificate of {NODE}"]


def test_node_that_is_never_ready_is_named() -> None:
    with pytest.raises(WaitTimeoutError, match=r"nodes did not become ready within 0 s: node-0; 0 of their"):
        approve_until_ready(FakeCluster([], 1), 0, lambda: None)
