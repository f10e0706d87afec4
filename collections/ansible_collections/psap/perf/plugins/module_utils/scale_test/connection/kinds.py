"""Kinds of the API and their paths."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import is_group, versions_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient


@dataclass(frozen=True, slots=True)
class ResourceKind:
    """A kind and the plural that its paths use."""

    api_version: str
    kind: str
    plural: str

    def collection(self, namespace: str | None) -> str:
        """Return the path of this kind's objects in *namespace*; None for all namespaces, or a kind without them."""
        within = f"/namespaces/{namespace}" if namespace else ""
        return f"{group_path(self.api_version)}{within}/{self.plural}"

    def object(self, namespace: str | None, name: str) -> str:
        """Return the path of one object."""
        return f"{self.collection(namespace)}/{name}"


PODS = ResourceKind("v1", "Pod", "pods")
EVENTS = ResourceKind("v1", "Event", "events")
NAMESPACES = ResourceKind("v1", "Namespace", "namespaces")
NODES_PATH = "/api/v1/nodes"


def group_path(api_version: str) -> str:
    """Return the path of *api_version*, such as ``/api/v1`` or ``/apis/batch/v1``."""
    return f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"


async def discover(client: ApiClient, api_version: str, kind: str) -> ResourceKind:
    """Return the kind with its plural, from the server.

    Raises:
        ClusterError: If the cluster does not serve the kind, or it is not namespaced.
    """
    found = await find(client, api_version, kind)
    if found is not None:
        return found
    raise ClusterError(
        f"the cluster at {client.endpoint.server} has no kind {kind} of {api_version}: "
        f"install {_provider(api_version)}, or choose another kind"
    )


async def find(client: ApiClient, api_version: str, kind: str) -> ResourceKind | None:
    """Return the kind, or None if the cluster does not serve it.

    Args:
        api_version: A version, or a group, of which the first version with the kind in the server's order is used.

    Raises:
        ClusterError: If the kind is not namespaced.
    """
    if not is_group(api_version):
        return await _find_in(client, api_version, kind)
    answer = await client.request("GET", f"/apis/{api_version}")
    for version in versions_of(answer.document()):
        found = await _find_in(client, version, kind)
        if found is not None:
            return found
    return None


async def _find_in(client: ApiClient, api_version: str, kind: str) -> ResourceKind | None:
    answer = await client.request("GET", group_path(api_version))
    for resource in answer.document().get("resources") or ():
        if resource.get("kind") == kind and "/" not in resource.get("name", "/"):
            if not resource.get("namespaced"):
                raise ClusterError(f"{kind} ({api_version}) is not namespaced; a workload must be")
            return ResourceKind(api_version, kind, str(resource["name"]))
    return None


# by group: the product that provides its kinds
_PROVIDERS = MappingProxyType(
    {
        "run.ai": "Run:ai (a lab emulates it: perflab up --emulate runai)",
        "jobset.x-k8s.io": "JobSet (on a lab: perflab up --with jobset)",
        "trainer.kubeflow.org": "Kubeflow Trainer (on a lab: perflab up --with trainer)",
        "kubeflow.org": "the Kubeflow training operator",
        "leaderworkerset.x-k8s.io": "LeaderWorkerSet (on a lab: perflab up --with lws)",
        "ray.io": "KubeRay (on a lab: perflab up --with ray)",
        "kueue.x-k8s.io": "Kueue (on a lab: perflab up --with kueue)",
    }
)


def _provider(api_version: str) -> str:
    return _PROVIDERS.get(api_version.partition("/")[0], "its operator or CRD")


def resource_of(manifest: Mapping[str, Any]) -> tuple[str, str]:
    """Return ``apiVersion`` and ``kind`` of a manifest."""
    return str(manifest.get("apiVersion", "")), str(manifest.get("kind", ""))
