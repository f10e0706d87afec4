"""What kind of cluster this is: simulated or real, OpenShift or not, how many GPUs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.kinds import NODES_PATH
from ansible_collections.psap.perf.plugins.module_utils.scale_test.manifests import GPU
from ansible_collections.psap.perf.plugins.module_utils.scale_test.retries import RetryPolicy

_LAB = "/api/v1/namespaces/kube-system/configmaps/perflab"
_OPENSHIFT = "/apis/security.openshift.io/v1"
_FORBIDDEN = 403
# a cluster that is not there is said so at once, not after the patience that a running test deserves
_FIRST_CONTACT = RetryPolicy(give_up_after_s=10.0)
_PAGE = "500"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The cluster as far as a submission depends on it."""

    lab: bool
    openshift: bool
    simulated: tuple[str, ...]
    emulated: tuple[str, ...]


async def look_around(client: ApiClient, namespace: str) -> Surroundings:
    """Ask the cluster what it is, and whether *namespace* is there.

    :raises ClusterError: when it cannot be reached or lacks the namespace.
    """
    answer = await client.request("GET", f"/api/v1/namespaces/{namespace}", policy=_FIRST_CONTACT)
    if answer.status == 404:
        raise ClusterError(f"there is no namespace {namespace} at {client.endpoint.server}; create it first")
    if not answer.succeeded and answer.status != _FORBIDDEN:
        raise ClusterError(f"cannot read namespace {namespace} at {client.endpoint.server}: {answer.message()}")
    marker = await client.request("GET", _LAB)
    data = (marker.document().get("data") or {}) if marker.succeeded else {}
    return Surroundings(
        lab=marker.succeeded,
        openshift=await client.exists(_OPENSHIFT),
        simulated=_words(data.get("simulated")),
        emulated=_words(data.get("emulated")),
    )


def _words(text: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in (text or "").split(",") if word.strip())


async def node_gpus(client: ApiClient) -> list[dict[str, Any]] | None:
    """Name and allocatable GPUs of every node; None when we may not list nodes."""
    nodes: list[dict[str, Any]] = []
    parameters = {"limit": _PAGE}
    while True:
        answer = await client.request("GET", NODES_PATH, params=parameters)
        if answer.status == _FORBIDDEN:
            return None
        if not answer.succeeded:
            raise ClusterError(f"cannot list the nodes of {client.endpoint.server}: {answer.message()}")
        page = answer.document()
        for node in page.get("items") or ():
            allocatable = (node.get("status") or {}).get("allocatable") or {}
            nodes.append({"name": node["metadata"]["name"], "gpus": int(allocatable.get(GPU, 0))})
        if not page["metadata"].get("continue"):
            return nodes
        parameters["continue"] = page["metadata"]["continue"]
