"""The served model of a verb's arguments, and the result of its load."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import api_version_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.port_forward import forwarded
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import server_in_pod
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.lab import lab_of
from ansible_collections.psap.perf.plugins.module_utils.serving.endpoints import (
    Endpoint,
    endpoint_of,
    endpoint_within,
    through_gateway,
)
from ansible_collections.psap.perf.plugins.module_utils.serving.forwarding import forwarding
from ansible_collections.psap.perf.plugins.module_utils.serving.request_counts import Counts, conclusive
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import answering_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_ready
from ansible_collections.psap.perf.plugins.plugin_utils.verb import VerbResult

# the label of a lab's nodes whose pods run programs; such pods select it
_REAL = "lab.psap.perf/real"


@dataclass(frozen=True, slots=True)
class ModelArguments:
    """Arguments that identify a served model."""

    kind: str
    name: str
    namespace: str
    protocol: str


@dataclass(frozen=True, slots=True)
class ServiceArguments:
    """The description of a served model, for the documents of its starts."""

    model: str
    runtime: str
    image: str


def ready_pod(cluster: Cluster, model: ModelArguments) -> str:
    """Return the name of a pod that serves the model.

    Raises:
        ClusterError: If none is Ready.
    """
    return str(ready_pods(cluster, model)[0]["metadata"]["name"])


def ready_pods(cluster: Cluster, model: ModelArguments) -> list[Manifest]:
    """Return the pods that serve the model, sorted by name.

    Raises:
        ClusterError: If none is Ready.
    """
    selector = answering_pods(model.kind, model.name)
    pods, _version = cluster.list(Query("v1", "Pod", model.namespace, label_selector=selector))
    staying = (pod for pod in pods if not pod["metadata"].get("deletionTimestamp"))
    ready = [pod for pod in staying if pod_ready(pod).reached]
    if not ready:
        raise ClusterError(f"no pod of {model.kind} {model.namespace}/{model.name} is Ready; it has {len(pods)}")
    return sorted(ready, key=lambda pod: str(pod["metadata"]["name"]))


@contextmanager
def pod_endpoint(cluster: Cluster, namespace: str, pod: str, port: int, server_name: str = "") -> Iterator[Endpoint]:
    """Yield an endpoint of this machine that a port-forward connects with a port of a pod; TLS needs *server_name*."""
    connect = functools.partial(forwarded, cluster.access, namespace, pod, port)
    with forwarding(connect) as here:
        yield here.endpoint(server_name, f"port {port} of pod {namespace}/{pod}")


def load_result(counts: Counts, further_warnings: Sequence[str] = ()) -> VerbResult:
    """Return the numbers of requests, with a warning if some failed.

    Raises:
        DataQualityError: If no request ended, or all failed.
    """
    requests, failed = conclusive(counts).requests, counts.failed
    warnings = (f"{failed} of {requests} requests failed",) if failed else ()
    values = {"requests": requests, "requests_failed": failed}
    return VerbResult(changed=True, values=values, warnings=(*warnings, *further_warnings))


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


def is_simulated(cluster: Cluster, model: ModelArguments) -> bool:
    """Return whether the model's pods are on simulated nodes of a lab."""
    if cluster.lab() is None:
        return False
    selector = answering_pods(model.kind, model.name)
    pods, _version = cluster.list(Query("v1", "Pod", model.namespace, label_selector=selector))
    return not any(map(selects_real_node, pods))


def lab_parts(cluster: Cluster, model: ModelArguments) -> dict[str, Any] | None:
    """Return the parts of a lab that measured a model, for its documents; None for any other cluster."""
    lab = lab_of(cluster.lab())
    return lab.serving(is_real=not is_simulated(cluster, model)).document() if lab else None


def selects_real_node(pod: Manifest) -> bool:
    """Return whether a pod of a lab selects the nodes that run programs."""
    return _REAL in (pod["spec"].get("nodeSelector") or {})


def model_endpoint(cluster: Cluster, model: ModelArguments) -> Endpoint:
    """Return the model's endpoint for this machine, which can be a pod of the cluster.

    Raises:
        ClusterError: If the model does not exist, or has no such address.
    """
    service, lab = model_service(cluster, model), cluster.lab()
    in_pod = cluster.server == server_in_pod()
    if lab is None or is_simulated(cluster, model):
        return endpoint_of(service, lab, model.protocol, in_pod=in_pod)
    if in_pod:
        return endpoint_within(service)
    return through_gateway(service.get("status", {}).get("url", ""), lab) or _service_endpoint(cluster, service)


def _service_endpoint(cluster: Cluster, service: Manifest) -> Endpoint:
    """Return the endpoint of the Service of a model on a lab's real node, by its number: this machine has no DNS."""
    within = endpoint_within(service)
    name, namespace = within.host.split(".")[:2]
    found = cluster.get(Query("v1", "Service", namespace, name))
    address = (found or {}).get("spec", {}).get("clusterIP", "None")
    if address == "None":
        raise ClusterError(f"the Service {namespace}/{name} has no cluster IP, so this machine cannot reach it")
    return Endpoint(within.scheme, address, within.port, within.path)
