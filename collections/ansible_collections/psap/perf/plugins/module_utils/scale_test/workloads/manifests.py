"""Manifests of workloads: their pod templates, their size, and the metadata that the test adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.gpu_supply import GPU
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import runai

KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
LAB_TRAINER = "lab.psap.perf/trainer"

# kinds whose pods run until they are deleted
_LASTING = frozenset({"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet", "LeaderWorkerSet", runai.INTERACTIVE})

Manifest = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Size:
    """The pods of one workload, and their GPUs."""

    pods: int
    gpus: int


def pod_templates(manifest: Manifest) -> list[Manifest]:
    """Return every pod template in the manifest, at any depth; the manifest itself if it is a Pod."""
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
    """Return the PriorityClass of the workload's pods."""
    return next(
        (name for template in pod_templates(manifest) if (name := template["spec"].get("priorityClassName"))), None
    )


def size_of(manifest: Manifest, pods: int) -> Size:
    """Return the pods and GPUs of a workload; *pods* is the number of pods of an unknown kind."""
    if runai.is_runai(manifest):
        count = runai.pods_of(manifest)
        return Size(count, count * runai.gpus_of(manifest))
    templates = pod_templates(manifest)
    gpus = [gpus_of(template) for template in templates]
    counts = replicas_of(manifest)
    if counts is None or len(counts) != len(templates):
        return Size(pods, pods * (gpus[0] if gpus else 0))
    return Size(sum(counts), sum(count * each for count, each in zip(counts, gpus, strict=True)))


def replicas_of(manifest: Manifest) -> list[int] | None:
    """Return the number of pods of each template, or None for an unknown kind."""
    replicas = _REPLICAS.get(str(manifest.get("kind")))
    return replicas(manifest.get("spec") or {}) if replicas else None


def _of_job(spec: Manifest) -> int:
    return int(spec.get("completions") or spec.get("parallelism") or 1)


def _of_job_set(spec: Manifest) -> list[int]:
    return [int(job.get("replicas", 1)) * _of_job(job["template"]["spec"]) for job in spec.get("replicatedJobs") or ()]


def _of_groups(spec: Manifest) -> list[int]:
    """Return the pods of a LeaderWorkerSet, whose leaders may have a separate template."""
    groups, template = int(spec.get("replicas", 1)), spec["leaderWorkerTemplate"]
    size = int(template.get("size", 1))
    if "leaderTemplate" not in template:
        return [groups * size]
    counts = {"leaderTemplate": groups, "workerTemplate": groups * (size - 1)}
    return [counts[key] for key in template if key in counts]


def _of_ray_cluster(spec: Manifest) -> list[int]:
    return [1, *(int(group.get("replicas", 1)) for group in spec.get("workerGroupSpecs") or ())]


_REPLICAS: Mapping[str, Callable[[Manifest], list[int]]] = {
    "Pod": lambda _spec: [1],
    "Job": lambda spec: [_of_job(spec)],
    "Deployment": lambda spec: [int(spec.get("replicas", 1))],
    "PyTorchJob": lambda spec: [
        int(replica.get("replicas", 1)) for replica in (spec.get("pytorchReplicaSpecs") or {}).values()
    ],
    "JobSet": _of_job_set,
    "LeaderWorkerSet": _of_groups,
    "TrainJob": lambda spec: [int((spec.get("trainer") or {}).get("numNodes", 1))],
    "RayCluster": _of_ray_cluster,
    # and the pod that submits the job
    "RayJob": lambda spec: [*_of_ray_cluster(spec.get("rayClusterSpec") or {}), 1],
}


def gpus_of(template: Mapping[str, Any]) -> int:
    """Return the GPUs that a pod requests as an extended resource."""
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
    """Set the workload's name and labels, and the labels and annotations of its pod templates.

    Args:
        annotations: The duration of pods; pods that run until they are deleted get none.

    Raises:
        UsageError: If it is not a manifest.
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
        # the workload's annotations are for a lab's emulator of Run:ai
        _merge(metadata, "annotations", endings)
        runai.set_pod_metadata(manifest, labels, endings)
    for template in pod_templates(manifest):
        pod = template.setdefault("metadata", {})
        # on a lab, the duration of a trainer depends on its training; a pod that is restarted has no end
        unlimited = LAB_TRAINER in (pod.get("labels") or {}) or template["spec"].get("restartPolicy") == "Always"
        lasts = {} if unlimited else endings
        _merge(pod, "labels", labels)
        _merge(pod, "annotations", lasts)


def set_scheduler(manifest: Manifest, name: str) -> None:
    """Set the scheduler of the workload's pods.

    Raises:
        UsageError: If it has no pod template.
    """
    templates = pod_templates(manifest)
    if not templates:
        raise UsageError(
            f"a {manifest['kind']} has no pod template whose scheduler could be set; set no scheduler_name"
        )
    for template in templates:
        template["spec"]["schedulerName"] = name


def _merge(metadata: Manifest, key: str, values: Mapping[str, str]) -> None:
    if values:
        metadata[key] = {**(metadata.get(key) or {}), **values}
