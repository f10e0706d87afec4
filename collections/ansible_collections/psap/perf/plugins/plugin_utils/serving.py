"""What verbs that serve models have in common."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query

_KIND = "InferenceService"


def find_inference_service(cluster: Cluster, namespace: str, name: str) -> Manifest | None:
    """The InferenceService; None when there is none of that name, or the cluster does not serve them."""
    query = Query(api_version_of(_KIND), _KIND, namespace, name)
    return cluster.get(query) if cluster.serves(query.api_version, query.kind) else None


def inference_service(cluster: Cluster, namespace: str, name: str) -> Manifest:
    """The InferenceService.

    :raises ClusterError: when there is none of that name.
    """
    found = find_inference_service(cluster, namespace, name)
    if found is None:
        raise ClusterError(f"there is no {_KIND} {namespace}/{name}")
    return found
