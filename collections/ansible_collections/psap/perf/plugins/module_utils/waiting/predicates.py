"""Predicates for states of objects: pure functions, and a table of them by kind.

The rules are similar to those of ``kubectl rollout status`` and ``kubectl wait``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import jmespath
import jmespath.exceptions
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.waiting.data_science import data_science_ready
from ansible_collections.psap.perf.plugins.module_utils.waiting.machine_configs import (
    kubelet_config_ready,
    pool_updated,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.model_states import llm_service_ready, model_loaded
from ansible_collections.psap.perf.plugins.module_utils.waiting.olm_states import (
    catalog_ready,
    csv_succeeded,
    install_plan_completed,
    subscription_resolved,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.openshift_states import (
    build_completed,
    cluster_operator_ready,
    update_accepted,
    update_completed,
)
from ansible_collections.psap.perf.plugins.module_utils.waiting.verdicts import (
    Object,
    Predicate,
    Verdict,
    condition,
    condition_true,
)

_FEATURES = "feature.node.kubernetes.io"
# Node Feature Discovery names a PCI device by vendor, or by class and vendor: 0302 is a 3D controller, 0300 a VGA one.
_NVIDIA_LABELS = tuple(f"{_FEATURES}/pci-{device}.present" for device in ("10de", "0302_10de", "0300_10de"))
_SYSTEM_LABEL = f"{_FEATURES}/system-os_release.ID"

# Reasons of waiting containers that do not go away by waiting.
HOPELESS_REASONS = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName", "CreateContainerConfigError",
     "CreateContainerError", "CrashLoopBackOff", "RunContainerError")
)  # fmt: skip


def deployment_ready(obj: Object) -> Verdict:
    """Return whether the newest generation is observed and all its replicas are updated and available."""
    wanted = obj.get("spec", {}).get("replicas", 1)
    status = obj.get("status", {})
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return Verdict(False, "the controller has not seen the newest generation yet")
    updated, available = status.get("updatedReplicas", 0), status.get("availableReplicas", 0)
    if status.get("replicas", 0) == wanted == updated == available:
        return Verdict(True)
    progressing = condition(obj, "Progressing")
    hopeless = progressing is not None and progressing.get("reason") == "ProgressDeadlineExceeded"
    return Verdict(False, f"{available} of {wanted} replicas available, {updated} updated", hopeless)


def stateful_set_ready(obj: Object) -> Verdict:
    """Return whether all replicas are updated and ready."""
    wanted = obj.get("spec", {}).get("replicas", 1)
    status = obj.get("status", {})
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return Verdict(False, "the controller has not seen the newest generation yet")
    ready = status.get("readyReplicas", 0)
    reached = ready == wanted and status.get("updatedReplicas", ready) == wanted
    return Verdict(reached, f"{ready} of {wanted} replicas ready")


def daemon_set_ready(obj: Object) -> Verdict:
    """Return whether a pod is ready on every node that should have one, at least one node."""
    status = obj.get("status", {})
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return Verdict(False, "the controller has not seen the newest generation yet")
    wanted, ready = status.get("desiredNumberScheduled", 0), status.get("numberReady", 0)
    updated = status.get("updatedNumberScheduled", 0)
    note = f"{ready} of {wanted} nodes ready, {updated} updated"
    if updated < wanted and obj.get("spec", {}).get("updateStrategy", {}).get("type") == "OnDelete":
        note += ": its pods are updated only when they are deleted"
    return Verdict(wanted > 0 and ready == wanted == updated, note)


def machine_set_ready(obj: Object) -> Verdict:
    """Return whether the wanted number of machines exists, and each is a node that is Ready."""
    wanted = obj.get("spec", {}).get("replicas", 1)
    status = obj.get("status", {})
    if status.get("observedGeneration", 0) < obj["metadata"].get("generation", 0):
        return Verdict(False, "the controller has not seen the newest generation yet")
    present, available = status.get("replicas", 0), status.get("availableReplicas", 0)
    return Verdict(present == available == wanted, f"{available} of {wanted} machines available, {present} there")


def daemon_set_rolled_out(obj: Object) -> Verdict:
    """Return whether a pod is ready on every node that should have one, even if no node should."""
    verdict = daemon_set_ready(obj)
    status = obj.get("status", {})
    nowhere = "desiredNumberScheduled" in status and not status["desiredNumberScheduled"]
    observed = status.get("observedGeneration", 0) >= obj["metadata"].get("generation", 0)
    return Verdict(verdict.reached or (nowhere and observed), verdict.note)


def pod_ready(obj: Object) -> Verdict:
    """Return whether the pod is Ready; hopeless if it has failed or waits for a broken image."""
    hopeless = _pod_hopeless(obj)
    if hopeless:
        return Verdict(False, hopeless, True)
    if obj.get("status", {}).get("phase") == "Succeeded":
        return Verdict(False, "the pod has completed", True)
    ready = condition_true("Ready")(obj)
    return ready if ready.reached else Verdict(False, f"{ready.note}{_unscheduled(obj)}")


def pod_scheduled(obj: Object) -> Verdict:
    """Return whether the pod has a node; hopeless if it has failed."""
    scheduled = condition_true("PodScheduled")(obj)
    hopeless = "" if scheduled.reached else _pod_hopeless(obj)
    return scheduled if scheduled.reached else Verdict(False, hopeless or f"no node{_unscheduled(obj)}", bool(hopeless))


def pod_completed(obj: Object) -> Verdict:
    """Return whether the pod has succeeded."""
    phase = obj.get("status", {}).get("phase", "Pending")
    hopeless = _pod_hopeless(obj)
    if phase == "Succeeded":
        return Verdict(True)
    return Verdict(False, hopeless or f"phase {phase}{_unscheduled(obj)}", bool(hopeless))


def _unscheduled(obj: Object) -> str:
    """Return why the pod has no node, which may be temporary; empty if it has one."""
    scheduled = condition(obj, "PodScheduled") or {}
    return f", not scheduled: {scheduled.get('message', '')}" if scheduled.get("status") == "False" else ""


def _pod_hopeless(obj: Object) -> str:
    status = obj.get("status", {})
    if status.get("phase") == "Failed":
        words = [status.get("reason", ""), status.get("message", ""), *_ends_of_containers(status)]
        return f"the pod failed: {' '.join(filter(None, words))}".rstrip(": ")
    return next((text for text, _entry in stuck_containers(obj)), "")


def _ends_of_containers(status: Object) -> Iterator[str]:
    for entry in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        ended = entry.get("state", {}).get("terminated") or {}
        if ended.get("exitCode"):
            why = (ended.get("message") or "").strip().splitlines()
            message = f": {why[-1].strip()}" if why else ""
            how = f"{ended.get('reason') or 'Error'} (exit code {ended['exitCode']})"
            yield f"container {entry.get('name')}: {how}{message}"


def stuck_containers(obj: Object) -> Iterator[tuple[str, Object]]:
    """Yield reason and status of each container of a pod that waits hopelessly."""
    status = obj.get("status", {})
    for entry in [*(status.get("initContainerStatuses") or []), *(status.get("containerStatuses") or [])]:
        waiting = entry.get("state", {}).get("waiting") or {}
        if waiting.get("reason") in HOPELESS_REASONS:
            yield f"container {entry.get('name')}: {waiting['reason']} {waiting.get('message', '')}".rstrip(), entry


def job_finished(obj: Object) -> Verdict:
    """Return whether the Job is complete or has failed."""
    complete = condition_true("Complete")(obj)
    return complete if complete.reached else condition_true("Failed")(obj)


def training_started(obj: Object) -> Verdict:
    """Return whether the main pod of the training job runs or has run; hopeless if the job failed before."""
    running = condition(obj, "Running")
    if running is not None:  # it turns False when the job ends
        return Verdict(True)
    return condition_true("Succeeded", hopeless=("Failed",))(obj)


# states of a RayJob that ended without success
_RAY_JOB_OVER = frozenset(("FAILED", "STOPPED"))


def ray_job_completed(obj: Object) -> Verdict:
    """Return whether the job and its submitter have succeeded; hopeless if the job or its cluster failed."""
    status = obj.get("status", {})
    deployment, job = status.get("jobDeploymentStatus", ""), status.get("jobStatus", "")
    if deployment == "Complete" and job == "SUCCEEDED":
        return Verdict(True)
    if deployment == "Failed" or job in _RAY_JOB_OVER:
        words = (status.get("reason", ""), status.get("message", ""))
        return Verdict(False, f"{job or deployment}: {' '.join(filter(None, words))}".rstrip(": "), True)
    return Verdict(False, f"{deployment or 'its controller has not seen it'}{job and f', job {job}'}")


def ray_job_started(obj: Object) -> Verdict:
    """Return whether the job was submitted to its cluster, even if it has ended already."""
    deployment = obj.get("status", {}).get("jobDeploymentStatus", "")
    return Verdict(True) if deployment in ("Running", "Complete") else ray_job_completed(obj)


def claim_bound(obj: Object) -> Verdict:
    """Return whether the PersistentVolumeClaim is Bound; hopeless if it is lost."""
    phase = obj.get("status", {}).get("phase", "Pending")
    return Verdict(phase == "Bound", f"phase {phase}", phase == "Lost")


def nvidia_gpu_found(obj: Object) -> Verdict:
    """Return whether Node Feature Discovery has found an NVIDIA GPU in the node."""
    labels = obj["metadata"].get("labels") or {}
    found = any(labels.get(name) == "true" for name in _NVIDIA_LABELS)
    return Verdict(found, f"none of the labels {', '.join(_NVIDIA_LABELS)} is true")


def features_found(obj: Object) -> Verdict:
    """Return whether Node Feature Discovery has labelled the node, with any operating system."""
    found = bool((obj["metadata"].get("labels") or {}).get(_SYSTEM_LABEL))
    return Verdict(found, f"no label {_SYSTEM_LABEL}")


def nvidia_gpus_allocatable(obj: Object) -> Verdict:
    """Return whether as many NVIDIA GPUs are allocatable as the node's labels announce, including shared ones."""
    labels = obj["metadata"].get("labels") or {}
    count = labels.get("nvidia.com/gpu.count")
    if count is None:
        return Verdict(False, "no label nvidia.com/gpu.count")
    announced = int(count) * int(labels.get("nvidia.com/gpu.replicas", 1))
    resources = obj.get("status", {}).get("allocatable") or {}
    found = sum(int(resources.get(name, 0)) for name in ("nvidia.com/gpu", "nvidia.com/gpu.shared"))
    return Verdict(0 < announced == found, f"{found} of {announced} GPUs allocatable")


def cluster_policy_ready(obj: Object) -> Verdict:
    """Return whether the GPU operator's operands are ready on a GPU node; without such a node they are ready, too."""
    state = obj.get("status", {}).get("state")
    if state == "ignored":
        return Verdict(False, "the operator ignores it: another ClusterPolicy is in force", True)
    ready, error = condition(obj, "Ready") or {}, condition(obj, "Error") or {}
    if state == "ready" and ready.get("reason") in ("NFDLabelsMissing", "NoGPUNodes"):
        return Verdict(False, f"{ready['reason']}: {ready.get('message', '')}".rstrip(": "))
    message = error.get("message", "") if error.get("status") == "True" else ""
    return Verdict(state == "ready", f"state {state}{f', {message}' if message else ''}")


def present(_obj: Object) -> Verdict:
    """Return a true verdict: the object exists."""
    return Verdict(True)


_BY_KIND: Mapping[tuple[str, str], Predicate] = {
    ("Deployment", "ready"): deployment_ready,
    ("StatefulSet", "ready"): stateful_set_ready,
    ("DaemonSet", "ready"): daemon_set_ready,
    ("DaemonSet", "rolled_out"): daemon_set_rolled_out,
    ("MachineSet", "ready"): machine_set_ready,
    ("Pod", "ready"): pod_ready,
    ("Pod", "completed"): pod_completed,
    ("Pod", "scheduled"): pod_scheduled,
    ("Job", "completed"): condition_true("Complete", hopeless=("Failed",)),
    ("Job", "finished"): job_finished,
    ("PyTorchJob", "completed"): condition_true("Succeeded", hopeless=("Failed",)),
    ("PyTorchJob", "started"): training_started,
    ("RayJob", "completed"): ray_job_completed,
    ("RayJob", "started"): ray_job_started,
    ("Gateway", "ready"): condition_true("Programmed"),
    ("InferenceService", "ready"): model_loaded,
    ("LLMInferenceService", "ready"): llm_service_ready,
    ("PersistentVolumeClaim", "ready"): claim_bound,
    ("DSCInitialization", "ready"): data_science_ready,
    ("DataScienceCluster", "ready"): data_science_ready,
    ("Node", "nvidia_gpu_found"): nvidia_gpu_found,
    ("Node", "nvidia_gpus_allocatable"): nvidia_gpus_allocatable,
    ("Node", "features_found"): features_found,
    ("Build", "completed"): build_completed,
    ("ClusterOperator", "ready"): cluster_operator_ready,
    ("ClusterVersion", "accepted"): update_accepted,
    ("ClusterVersion", "ready"): update_completed,
    ("KubeletConfig", "ready"): kubelet_config_ready,
    ("MachineConfigPool", "ready"): pool_updated,
    ("APIService", "ready"): condition_true("Available"),
    ("ClusterPolicy", "ready"): cluster_policy_ready,
    ("CatalogSource", "ready"): catalog_ready,
    ("Subscription", "resolved"): subscription_resolved,
    ("InstallPlan", "completed"): install_plan_completed,
    ("ClusterServiceVersion", "ready"): csv_succeeded,
    ("Namespace", "ready"): lambda obj: Verdict(obj.get("status", {}).get("phase") == "Active"),
}
_ANY_KIND: Mapping[str, Predicate] = {"ready": condition_true("Ready"), "present": present}
NAMED = tuple(sorted({name for _kind, name in _BY_KIND} | set(_ANY_KIND) | {"absent"}))


def predicate_for(kind: str, until: str) -> Predicate:
    """Return the predicate that *until* names for *kind*, or a predicate for the JMESPath expression *until*.

    Raises:
        UsageError: If it is neither.
    """
    named = _BY_KIND.get((kind, until)) or _ANY_KIND.get(until)
    if named is not None:
        return named
    try:
        expression = jmespath.compile(until)
    except jmespath.exceptions.JMESPathError as error:
        raise UsageError(f"conditions: {until!r} is neither one of {', '.join(NAMED)} nor JMESPath: {error}") from error
    if until.isidentifier():
        raise UsageError(
            f"conditions: unknown state {until!r} of {kind}; the states are {', '.join(NAMED)}, or JMESPath"
        )

    def by_expression(obj: Object) -> Verdict:
        value = expression.search(dict(obj))
        return Verdict(bool(value), f"{until} is {value!r}")

    return by_expression
