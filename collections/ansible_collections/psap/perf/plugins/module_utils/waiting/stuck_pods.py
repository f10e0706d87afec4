"""Find the reason why a workload does not become ready in the status of its pods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.waiting.lost_nodes import lost_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_pods import all_pods, selects_pods
from ansible_collections.psap.perf.plugins.module_utils.waiting.observing import Source
from ansible_collections.psap.perf.plugins.module_utils.waiting.predicates import pod_scheduled, stuck_containers
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import condition

# A program may crash a few times until its dependencies are available.
_PATIENCE_RESTARTS = 3
# the training operator's, on the pods of its jobs
JOB_NAME_LABEL = "training.kubeflow.org/job-name"
_RAY_CLUSTER_LABEL = "ray.io/cluster"
# for these, a lost pod ends the whole training, even if the controller creates another pod
_TRAINING = ("PyTorchJob", "RayJob")


def stuck_pod(source: Source, workload: Manifest) -> str:
    """Return why a pod of *workload* can never run; empty if all can, or it has no pods.

    Pods of an earlier template, which have other images, do not count. A training is also stuck if the node of one of
    its pods is lost.

    Raises:
        ClusterError: If the cluster does not answer.
    """
    if workload.get("kind") == "ClusterServiceVersion":
        return next(filter(None, (stuck_pod(source, each) for each in _operator_deployments(workload))), "")
    selector = _selector_of_pods(workload)
    if not selector:
        return ""
    pods = _pods(source, workload, selector)
    if workload.get("kind") in _TRAINING:
        lost = lost_pods(source, pods, datetime.now(UTC))
        if lost:
            return "; ".join(f"pod {name}: {text}" for name, text in lost.items())
    template = _pod_template(workload)
    current = (
        pod
        for pod in pods
        if not pod["metadata"].get("deletionTimestamp") and (template is None or _images(pod) == _images(template))
    )
    return next((f"pod {pod['metadata']['name']}: {text}" for pod in current for text in _stuck(pod)), "")


def pod_without_node(source: Source, service: Manifest) -> str:
    """Return a pod of a served model without a node, and the scheduler's reason; empty if all have one.

    Raises:
        ClusterError: If the cluster does not answer.
    """
    pods = _pods(source, service, _selector_of_pods(service))
    refused = (pod for pod in pods if (condition(pod, "PodScheduled") or {}).get("status") == "False")
    return next((f"pod {pod['metadata']['name']}: {pod_scheduled(pod).note}" for pod in refused), "")


def _pods(source: Source, workload: Manifest, selector: str) -> list[Manifest]:
    namespace = workload["metadata"].get("namespace")
    return source.list(Query("v1", "Pod", namespace=namespace, label_selector=selector))[0]


def _operator_deployments(version: Manifest) -> Iterator[Manifest]:
    """Yield the Deployments that OLM creates for a ClusterServiceVersion, with the fields that it declares."""
    install = version.get("spec", {}).get("install") or {}
    for each in (install.get("spec") or {}).get("deployments") or ():
        metadata = {"name": each["name"], "namespace": version["metadata"].get("namespace")}
        yield {"kind": "Deployment", "metadata": metadata, "spec": each["spec"]}


def _selector_of_pods(workload: Manifest) -> str:
    kind, spec = workload.get("kind", ""), workload.get("spec", {})
    if kind == "PyTorchJob":
        # it has no selector, and never changes the templates of its pods
        return f"{JOB_NAME_LABEL}={workload['metadata']['name']}"
    if selects_pods(kind):
        return all_pods(kind, workload["metadata"]["name"])
    if kind == "RayJob":
        cluster = workload.get("status", {}).get("rayClusterName")
        return f"{_RAY_CLUSTER_LABEL}={cluster}" if cluster else ""
    labels = (spec.get("selector") or {}).get("matchLabels") or {} if _pod_template(workload) else {}
    return ",".join(f"{key}={value}" for key, value in labels.items())


def _pod_template(workload: Manifest) -> Manifest | None:
    """Return the template of its pods; None for an LLMInferenceService, whose template is an incomplete spec."""
    template = workload.get("spec", {}).get("template") or {}
    return template if template.get("spec") else None


def _stuck(pod: Manifest) -> Iterator[str]:
    for text, status in stuck_containers(pod):
        if "CrashLoopBackOff" not in text or status.get("restartCount", 0) >= _PATIENCE_RESTARTS:
            yield text


def _images(pod: Mapping[str, Any]) -> set[str]:
    spec = pod["spec"]
    return {entry.get("image", "") for entry in [*spec.get("containers", []), *(spec.get("initContainers") or [])]}
