"""Read the properties of a cluster, and create namespaces in it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.gpu_supply import allocatable_gpus, gpus_of_nodes
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import Lab, lab_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import (
    MADE_FOR,
    MANAGED_BY,
    MANAGER,
    SCALE_TEST,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.waiting import wait_without_problem
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import NODES_PATH
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.retries import RetryPolicy
from ansible_collections.psap.perf.plugins.module_utils.scale_test.control_plane.plan import lab_endpoints
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.device_supply import gpu_devices
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import runai
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.device_claims import ADMIN_ACCESS

_LAB = "/api/v1/namespaces/kube-system/configmaps/perflab"
_OPENSHIFT = "/apis/security.openshift.io/v1"
_NAMESPACES = "/api/v1/namespaces"
_UNKNOWN_USER = 401
_FORBIDDEN = 403
_NOT_FOUND = 404
_CONFLICT = 409
# after a restart of the API server, a controller manager needs half a minute
_SERVICE_ACCOUNT_WITHIN_S = 60.0
# report an unreachable cluster soon; only a running test repeats requests for longer
_FIRST_CONTACT = RetryPolicy(give_up_after_s=10.0)
_PAGE = "500"


@dataclass(frozen=True, slots=True)
class Surroundings:
    """The properties of a cluster that a submission depends on."""

    lab: Lab | None
    openshift: bool
    # URLs of the metrics of a lab's components
    metrics_endpoints: Mapping[str, str] = field(default_factory=dict)
    # whether no node offers GPUs as an extended resource, but some as devices
    gpus_as_devices: bool = False
    # labels of the levels of a lab's topology, the largest domains first
    topology: tuple[str, ...] = ()


async def read_surroundings(client: ApiClient) -> Surroundings:
    """Read the properties of the cluster.

    Raises:
        ClusterError: If it cannot be reached, or does not accept the credentials.
    """
    marker = await client.request("GET", _LAB, policy=_FIRST_CONTACT)
    if marker.status == _UNKNOWN_USER:
        raise ClusterError(f"{client.endpoint.server} does not accept the credentials of the kubeconfig; renew them")
    data = (marker.document().get("data") or {}) if marker.succeeded else None
    return Surroundings(
        lab=lab_of(data),
        openshift=await client.exists(_OPENSHIFT),
        metrics_endpoints=lab_endpoints((data or {}).get("metrics-endpoints")),
        gpus_as_devices=await _gpus_as_devices(client),
        topology=tuple(label for label in (data or {}).get("topology", "").split(",") if label),
    )


async def _gpus_as_devices(client: ApiClient) -> bool:
    if not await gpu_devices(client):
        return False
    return not any(allocatable_gpus(node) for node in await _nodes(client) or ())


async def require_namespace(client: ApiClient, namespace: str, how: str = "create it first") -> None:
    """Check that the namespace exists.

    Args:
        how: Advice to create one.

    Raises:
        ClusterError: If it does not exist.
    """
    answer = await client.request("GET", f"{_NAMESPACES}/{namespace}")
    if answer.status == _NOT_FOUND:
        raise ClusterError(f"no namespace {namespace} at {client.endpoint.server}; {how}")


async def make_namespace(client: ApiClient, namespace: str, *, admin_access: bool = False) -> bool:
    """Create a missing namespace, with a label for the cleanup; return whether it was missing.

    Args:
        admin_access: Allow claims with admin access in it.

    Raises:
        ClusterError: If it cannot be created, or does not get its service account.
    """
    if await client.exists(f"{_NAMESPACES}/{namespace}"):
        return False
    labels = {MANAGED_BY: MANAGER, MADE_FOR: SCALE_TEST}
    if admin_access:
        labels[ADMIN_ACCESS] = "true"
    project = runai.project_of(namespace)
    if project:
        labels[runai.PROJECT_LABEL] = project
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace, "labels": labels}}
    answer = await client.request("POST", _NAMESPACES, body=json.dumps(body).encode())
    if not answer.succeeded and answer.status != _CONFLICT:
        raise ClusterError(f"cannot create namespace {namespace} at {client.endpoint.server}: {answer.message()}")
    await _await_service_account(client, namespace)
    return True


async def make_namespaces(
    client: ApiClient, namespaces: Sequence[str], kinds: Iterable[tuple[str, str]], *, lab: bool, admin_access: bool
) -> None:
    """Create missing namespaces, except those of a real Run:ai's projects, which it creates.

    Args:
        kinds: API version and kind of all workloads.

    Raises:
        ClusterError: If one cannot be created, or the project of one does not exist.
    """
    if any(runai.is_runai_version(version) for version, _kind in kinds) and not lab:
        for namespace in namespaces:
            await require_namespace(client, namespace, "create its project in Run:ai first")
    for namespace in namespaces:
        await make_namespace(client, namespace, admin_access=admin_access)


async def _await_service_account(client: ApiClient, namespace: str) -> None:
    """Wait for it: without it the first pods are refused, and the delay would count as the cluster's latency."""

    async def find_problem() -> str:
        if await client.exists(f"{_NAMESPACES}/{namespace}/serviceaccounts/default"):
            return ""
        return f"namespace {namespace} has no service account yet: does the controller manager run?"

    problem = await wait_without_problem(find_problem, _SERVICE_ACCOUNT_WITHIN_S)
    if problem:
        raise ClusterError(problem)


async def read_nodes(client: ApiClient, levels: Sequence[str]) -> list[dict[str, Any]] | None:
    """Return name, GPUs and domains of every node; None if the user may not list nodes.

    The GPUs are its allocatable ones, or its devices if it has none.

    Args:
        levels: Labels of the topology's levels; a node without a label has an empty domain at its level.
    """
    nodes = await _nodes(client)
    if nodes is None:
        return None
    gpus = gpus_of_nodes(nodes, await gpu_devices(client))
    return [_row(node["metadata"], gpus, levels) for node in nodes]


def _row(metadata: Mapping[str, Any], gpus: Mapping[str, int], levels: Sequence[str]) -> dict[str, Any]:
    name, labels = metadata["name"], metadata.get("labels") or {}
    return {"name": name, "gpus": gpus[name], "domains": [labels.get(level, "") for level in levels]}


async def _nodes(client: ApiClient) -> list[dict[str, Any]] | None:
    """Return every node; None if the user may not list nodes."""
    nodes: list[dict[str, Any]] = []
    parameters = {"limit": _PAGE}
    while True:
        answer = await client.request("GET", NODES_PATH, params=parameters)
        if answer.status == _FORBIDDEN:
            return None
        if not answer.succeeded:
            raise ClusterError(f"cannot list the nodes of {client.endpoint.server}: {answer.message()}")
        page = answer.document()
        nodes += page.get("items") or ()
        if not page["metadata"].get("continue"):
            return nodes
        parameters["continue"] = page["metadata"]["continue"]
