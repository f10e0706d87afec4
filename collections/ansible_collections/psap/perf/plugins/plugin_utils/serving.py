"""What verbs that serve models have in common."""

from __future__ import annotations

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.cluster.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.cluster.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.cluster.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import answering_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready


def ready_pod(cluster: Cluster, kind: str, namespace: str, name: str) -> str:
    """The name of a pod that answers requests to the model.

    :raises ClusterError: when none is Ready.
    """
    pods, _version = cluster.list(Query("v1", "Pod", namespace, label_selector=answering_pods(kind, name)))
    staying = (pod for pod in pods if not pod["metadata"].get("deletionTimestamp"))
    ready = [str(pod["metadata"]["name"]) for pod in staying if pod_ready(pod).reached]
    if not ready:
        raise ClusterError(f"no pod of {kind} {namespace}/{name} is Ready; it has {len(pods)}")
    return min(ready)


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
