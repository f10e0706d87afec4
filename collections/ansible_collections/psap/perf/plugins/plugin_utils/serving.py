"""What verbs that serve models have in common."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query


def find_model_service(cluster: Cluster, kind: str, namespace: str, name: str) -> Manifest | None:
    """The InferenceService or LLMInferenceService; None when there is none of that name, or the cluster serves none."""
    query = Query(api_version_of(kind), kind, namespace, name)
    return cluster.get(query) if cluster.serves(query.api_version, query.kind) else None


def model_service(cluster: Cluster, kind: str, namespace: str, name: str) -> Manifest:
    """The InferenceService or LLMInferenceService.

    :raises ClusterError: when there is none of that name.
    """
    found = find_model_service(cluster, kind, namespace, name)
    if found is None:
        raise ClusterError(f"there is no {kind} {namespace}/{name}")
    return found
