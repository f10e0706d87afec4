"""Manifests of workloads: where their pod templates are, how large they are, what all of ours carry."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import runai

GPU = "nvidia.com/gpu"
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
LAB_TRAINER = "lab.psap.perf/trainer"

# kinds whose pods run until they are deleted
_LASTING = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", runai.INTERACTIVE})

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """What one workload asks for, all its pods together."""

    pods: int
    gpus: int


def pod_templates(manifest: Manifest) -> list[Manifest]:
    """Every pod template in the manifest, at any depth; the manifest itself when it is a Pod."""
    if manifest.get("kind") == "Pod":
        return [manifest]
    return list(_templates_below(manifest))


def _templates_below(value: Any) -> Iterator[Manifest]:
    if isinstance(value, dict):
        if isinstance(value.get("spec"), dict) and "containers" in value["spec"]:
            yield value
            return
        for item in value.values():
            yield from _templates_below(item)
    elif isinstance(value, list):
        for item in value:
            yield from _templates_below(item)


def priority_class_of(manifest: Manifest) -> str | None:
    """The PriorityClass of the workload's pods."""
    return next(
        (name for template in pod_templates(manifest) if (name := template["spec"].get("priorityClassName"))), None
    )


def size_of(manifest: Manifest, pods: int) -> Size:
    """The pods and GPUs of a workload; *pods* counts those of a kind whose replicas we cannot read."""
    if runai.is_runai(manifest):
        made = runai.pods_of(manifest)
        return Size(made, made * runai.gpus_of(manifest))
    templates = pod_templates(manifest)
    gpus = [_gpus(template) for template in templates]
    counts = _replicas(manifest)
    if counts is None or len(counts) != len(templates):
        return Size(pods, pods * (gpus[0] if gpus else 0))
    return Size(sum(counts), sum(count * each for count, each in zip(counts, gpus, strict=True)))


def _replicas(manifest: Manifest) -> list[int] | None:
    """How many pods each template makes, or None for a kind we do not know."""
    spec = manifest.get("spec") or {}
    if manifest.get("kind") == "Job":
        return [int(spec.get("completions") or spec.get("parallelism") or 1)]
    if manifest.get("kind") == "PyTorchJob":
        return [int(replica.get("replicas", 1)) for replica in (spec.get("pytorchReplicaSpecs") or {}).values()]
    if manifest.get("kind") == "Deployment":
        return [int(spec.get("replicas", 1))]
    return [1] if manifest.get("kind") == "Pod" else None


def _gpus(template: Mapping[str, Any]) -> int:
    limits = ((container.get("resources") or {}).get("limits") or {} for container in template["spec"]["containers"])
    return sum(int(limit.get(GPU, 0)) for limit in limits)


def prepare(
    manifest: Manifest,
    *,
    name: str,
    namespace: str,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> None:
    """Give the workload its name and our *labels*, and its pod templates the labels and *annotations*.

    Pods that run until they are deleted get no *annotations*, which say how a pod ends.

    :raises UsageError: when the manifest is none.
    """
    for key in ("apiVersion", "kind"):
        if not isinstance(manifest.get(key), str):
            raise UsageError(f"the workload's template renders no {key}; it must render one Kubernetes object")
    metadata = manifest.setdefault("metadata", {})
    metadata["name"] = name
    metadata["namespace"] = namespace
    _merge(metadata, "labels", labels)
    endings = {} if manifest["kind"] in _LASTING else annotations
    if runai.is_runai(manifest):
        # the workload's own are for those who stand in for Run:ai's controllers on a lab
        _merge(metadata, "annotations", endings)
        runai.carry(manifest, labels, endings)
    for template in pod_templates(manifest):
        pod = template.setdefault("metadata", {})
        # how long a trainer runs on a lab follows from what it trains
        lasts = {} if LAB_TRAINER in (pod.get("labels") or {}) else endings
        _merge(pod, "labels", labels)
        _merge(pod, "annotations", lasts)


def _merge(metadata: Manifest, key: str, values: Mapping[str, str]) -> None:
    if values:
        metadata[key] = {**(metadata.get(key) or {}), **values}
