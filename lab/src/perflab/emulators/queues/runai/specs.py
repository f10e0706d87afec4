"""The objects below a workload of run.ai/v2alpha1, and the progress of its pods: pure functions.

Each field of such a workload is an object: `gpu: {value: "1"}`, or `environment: {items: {NAME: {value: …}}}`.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from typing import Any

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import is_leaving, own_annotations, own_labels, phase_of
from perflab.emulators.framework.store import owner_of

# holds a pod back until it is in a group
_GATE = "run.ai/pod-group"
# the lab's label that puts a pod into a gang of the real scheduler
_GANG_LABEL = "lab.psap.perf/pod-group"
# index of a RunaiJob's pod, of 0 … completions - 1
_INDEX = "batch.kubernetes.io/job-completion-index"
# parts of a workload's metadata that all objects below it inherit
_PASSED_DOWN = ("psap.perf/", "lab.psap.perf/")
_PRIORITY_LABEL = "priorityClassName"
_NAMESPACE_PREFIX = "runai-"
# a label's value has 63 characters at most
_GANG_NAME_LENGTH = 54


def value(workload: Document, field: str, default: Any = None) -> Any:
    """Return the value of one field."""
    found = ((workload.get("spec") or {}).get(field) or {}).get("value")
    return default if found is None else found


def items(workload: Document, field: str) -> dict[str, Any]:
    """Return name → value of a field with several values."""
    found = ((workload.get("spec") or {}).get(field) or {}).get("items") or {}
    return {name: item.get("value") for name, item in found.items()}


def child_name(workload: Document) -> str:
    """Return the name of the RunaiJob or PyTorchJob."""
    return str(value(workload, "name", workload["metadata"]["name"]))


def project(workload: Document) -> str:
    """Return the project, after which the namespace is named."""
    return str(workload["metadata"]["namespace"]).removeprefix(_NAMESPACE_PREFIX)


def labels_of(workload: Document) -> dict[str, str]:
    """Return the labels of everything below the workload."""
    own = own_labels(workload)
    return {
        **_passed_down(own),
        **({_PRIORITY_LABEL: own[_PRIORITY_LABEL]} if own.get(_PRIORITY_LABEL) else {}),
        **{name: str(text) for name, text in items(workload, "labels").items()},
        "runai/queue": project(workload),
        "workloadName": workload["metadata"]["name"],
        "release": child_name(workload),
    }


def annotations_of(workload: Document) -> dict[str, str]:
    """Return the annotations of everything below the workload."""
    own = _passed_down(own_annotations(workload))
    return {**own, **{name: str(text) for name, text in items(workload, "annotations").items()}}


def _passed_down(metadata: dict[str, str]) -> dict[str, str]:
    return {name: text for name, text in metadata.items() if name.startswith(_PASSED_DOWN)}


def job_spec(workload: Document, restart_policy: str) -> Document:
    """Return the spec of the RunaiJob."""
    parallelism = int(value(workload, "parallelism", 1))
    return {
        "parallelism": parallelism,
        "completions": int(value(workload, "completions", parallelism)),
        "backoffLimit": int(value(workload, "backoffLimit", 6)),
        "suspend": value(workload, "active", True) is False,
        "template": pod_template(workload, child_name(workload), restart_policy),
    }


def pytorch_spec(workload: Document) -> Document:
    """Return the spec of the PyTorchJob: a master and the workers, which start together."""
    template = pod_template(workload, "pytorch", "Never")
    if members(workload) > 1:
        template["metadata"]["labels"][_GANG_LABEL] = gang_name(workload)
    replicas = {"Master": _replica(1, template)}
    if members(workload) > 1:
        replicas["Worker"] = _replica(members(workload) - 1, template)
    policy = {name: item.get("value") for name, item in _run_policy(workload).items()}
    return {"pytorchReplicaSpecs": replicas, "runPolicy": {"cleanPodPolicy": "None", **policy}}


def _replica(count: int, template: Document) -> Document:
    return {"replicas": count, "restartPolicy": "Never", "template": template}


def _run_policy(workload: Document) -> Document:
    policy: Document = ((workload.get("spec") or {}).get("runPolicy") or {}).get("values") or {}
    return policy


def members(workload: Document) -> int:
    """Return the pods of a DistributedWorkload."""
    return 1 + int(value(workload, "workers", 0))


def gang_name(workload: Document) -> str:
    """Return the name of the gang of the real scheduler, which another workload of the same name does not share."""
    metadata = workload["metadata"]
    return f"{metadata['name'][:_GANG_NAME_LENGTH]}-{metadata['uid'][:8]}"


def pod_template(workload: Document, container: str, restart_policy: str) -> Document:
    """Return the template of the workload's pods, which wait for their group."""
    spec = {
        "restartPolicy": restart_policy,
        "schedulingGates": [{"name": _GATE}],
        "containers": [_container(workload, container)],
        "tolerations": [each for each in items(workload, "tolerations").values() if each],
        "volumes": [_volume(name, claim) for name, claim in items(workload, "pvcs").items() if claim],
        "priorityClassName": priority_class(workload),
    }
    return {
        "metadata": {"labels": labels_of(workload), "annotations": annotations_of(workload)},
        "spec": {name: each for name, each in spec.items() if each},
    }


def priority_class(workload: Document) -> str | None:
    """Return the PriorityClass that the workload's label names."""
    found: str | None = own_labels(workload).get(_PRIORITY_LABEL)
    return found


def _container(workload: Document, name: str) -> Document:
    container = {
        "name": name,
        "image": value(workload, "image", "none"),
        "imagePullPolicy": value(workload, "imagePullPolicy"),
        "command": shlex.split(value(workload, "command", "")),
        "args": shlex.split(value(workload, "arguments", "")),
        "env": [{"name": each, "value": str(text)} for each, text in items(workload, "environment").items()],
        "volumeMounts": [
            {"name": each, "mountPath": claim["path"]} for each, claim in items(workload, "pvcs").items() if claim
        ],
        "resources": _resources(workload),
    }
    return {field: each for field, each in container.items() if each}


def _resources(workload: Document) -> Document:
    gpus = math.ceil(float(value(workload, "gpu", 0)))
    requests = {"cpu": value(workload, "cpu"), "memory": value(workload, "memory")}
    limits = {"cpu": value(workload, "cpuLimit"), "memory": value(workload, "memoryLimit")}
    if gpus:
        limits["nvidia.com/gpu"] = str(gpus)
    both = {"requests": requests, "limits": limits}
    return {kind: {name: str(text) for name, text in each.items() if text} for kind, each in both.items()}


def _volume(name: str, claim: Document) -> Document:
    if claim.get("existingPvc"):
        return {"name": name, "persistentVolumeClaim": {"claimName": claim["claimName"]}}
    spec: Document = {
        "accessModes": ["ReadWriteMany" if claim.get("readWriteMany") else "ReadWriteOnce"],
        "resources": {"requests": {"storage": claim["size"]}},
    }
    if claim.get("storageClass"):
        spec["storageClassName"] = claim["storageClass"]
    return {"name": name, "ephemeral": {"volumeClaimTemplate": {"spec": spec}}}


def group_of(pod: Document) -> str:
    """Return the PodGroup as Run:ai's grouper names it: for a RunaiJob, one for each index, shared by its attempts."""
    owner = owner_of(pod) or {}
    name = pod["metadata"]["name"].rpartition("-")[0] if owner["kind"] == "RunaiJob" else owner["name"]
    return f"pg-{name}-{owner['uid']}"


def state_of(job: Document, pods: list[Document]) -> Document:
    """Return the progress of a RunaiJob.

    Returns:
        The counts of its status, the pods that are `superfluous`, and `missing`: the index and the attempt of each pod
        to create.
    """
    spec, index = job["spec"], {pod["metadata"]["name"]: int(own_annotations(pod)[_INDEX]) for pod in pods}
    leaving = [pod for pod in pods if is_leaving(pod)]
    # a deleted one, for example by preemption, is created again: it did not fail by itself
    failed = [pod for pod in pods if phase_of(pod) == "Failed" and pod not in leaving]
    active = [pod for pod in pods if phase_of(pod) not in ("Succeeded", "Failed") and pod not in leaving]
    done = {index[pod["metadata"]["name"]] for pod in pods if phase_of(pod) == "Succeeded"}
    there = {index[pod["metadata"]["name"]] for pod in (*active, *leaving)}
    attempts = [index[pod["metadata"]["name"]] for pod in failed]
    stops = spec["suspend"] or len(failed) > spec["backoffLimit"]
    wanted = [each for each in range(spec["completions"]) if each not in there | done]
    most = 0 if stops else max(0, spec["parallelism"] - len(there))
    return {
        "active": 0 if stops else len(active),
        "ready": 0 if stops else sum(phase_of(pod) == "Running" for pod in pods),
        "succeeded": len(done),
        "failed": len(failed),
        "superfluous": active if stops else [],
        "missing": [{"index": each, "attempt": attempts.count(each)} for each in wanted[:most]],
    }


_ALL = (
    *(annotations_of, child_name, gang_name, group_of, job_spec, labels_of, members, priority_class),
    *(pytorch_spec, state_of),
)
FUNCTIONS: Mapping[str, Callable[..., Any]] = {each.__name__: each for each in _ALL}
