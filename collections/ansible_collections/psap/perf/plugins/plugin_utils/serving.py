"""The served model of a verb's arguments."""

from __future__ import annotations

from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import answering_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready


@dataclass(frozen=True, slots=True)
class ModelArguments:
    """Arguments that identify a served model."""

    kind: str
    name: str
    namespace: str
    protocol: str


def ready_pod(cluster: Cluster, model: ModelArguments) -> str:
    """Return the name of a pod that serves the model.

    Raises:
        ClusterError: If none is Ready.
    """
    selector = answering_pods(model.kind, model.name)
    pods, _version = cluster.list(Query("v1", "Pod", model.namespace, label_selector=selector))
    staying = (pod for pod in pods if not pod["metadata"].get("deletionTimestamp"))
    ready = [str(pod["metadata"]["name"]) for pod in staying if pod_ready(pod).reached]
    if not ready:
        raise ClusterError(f"no pod of {model.kind} {model.namespace}/{model.name} is Ready; it has {len(pods)}")
    return min(ready)


def find_model_service(cluster: Cluster, model: ModelArguments) -> Manifest | None:
    """Return the InferenceService or LLMInferenceService; None if it, or its kind, does not exist."""
    query = Query(api_version_of(model.kind), model.kind, model.namespace, model.name)
    return cluster.get(query) if cluster.serves(query.api_version, query.kind) else None


def model_service(cluster: Cluster, model: ModelArguments) -> Manifest:
    """Return the InferenceService or LLMInferenceService.

    Raises:
        ClusterError: If it does not exist.
    """
    found = find_model_service(cluster, model)
    if found is None:
        raise ClusterError(f"{model.kind} {model.namespace}/{model.name} does not exist")
    return found
