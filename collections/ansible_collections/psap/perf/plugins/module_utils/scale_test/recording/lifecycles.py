"""The milestones of each kind, read from the present state of an object.

A reached milestone is visible in every later state, with the server's time: a watch that misses states in between
(after a reconnect) still gets every milestone once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import Stamp, stamp
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.signs import Sign

DELETED = "deleted"
COMPLETED = "completed"
FAILED = "failed"

Object = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Milestone:
    """One reached milestone: its word, the server's time (None if the server has none), its reason.

    Attributes:
        node: The node of an allocated claim's devices.
        devices: The number of these devices.
        gpus: How many of them are GPUs.
        cluster: The cluster to which a workload was dispatched.
    """

    word: str
    stamp: Stamp | None = None
    reason: str | None = None
    node: str | None = None
    devices: int | None = None
    gpus: int | None = None
    cluster: str | None = None


@dataclass(frozen=True)
class Lifecycle:
    """The milestones of one kind, in the order in which several new ones are reported."""

    words: tuple[str, ...]
    read: Callable[[Object], Iterable[Milestone]]
    # words that end a workload, each with the end: completed or failed
    ends: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    # words that an object may leave and reach again
    recurring: frozenset[str] = frozenset()
    # words that are not reported for the first observed state of an object
    implied: frozenset[str] = frozenset()

    @cached_property
    def bits(self) -> dict[str, int]:
        """One bit of a mask for each word, as a compact memory of the milestones of an object."""
        return {word: 1 << position for position, word in enumerate(self.words)}

    @cached_property
    def lasting(self) -> int:
        """The mask of the words that an object never leaves."""
        return sum(bit for word, bit in self.bits.items() if word not in self.recurring)


def _conditions(obj: Object) -> Iterable[Object]:
    return (obj.get("status") or {}).get("conditions") or ()


def created(obj: Object) -> Milestone:
    """Return the milestone of the creation, with the API server's time in whole seconds."""
    return Milestone("created", stamp(obj["metadata"].get("creationTimestamp")))


_POD_CONDITIONS = {
    ("PodScheduled", "True"): "scheduled",
    ("Initialized", "True"): "initialized",
    ("PodReadyToStartContainers", "True"): "ready_to_start",
    ("ContainersReady", "True"): "containers_ready",
    ("Ready", "True"): "ready",
    ("DisruptionTarget", "True"): "evicted",
}


def _pod_milestones(pod: Object) -> Iterable[Milestone]:
    yield created(pod)
    for condition in _conditions(pod):
        word = _POD_CONDITIONS.get((condition["type"], condition["status"]))
        if condition["type"] == "PodScheduled" and condition.get("reason") == "Unschedulable":
            word = "unschedulable"
        if word:
            yield Milestone(word, stamp(condition.get("lastTransitionTime")), condition.get("reason"))
    yield from _pod_phase(pod.get("status") or {})


def _pod_phase(status: Object) -> Iterable[Milestone]:
    phase = status.get("phase")
    started = next(iter(_container_times(status, "startedAt")), None)
    if phase == "Running" or started:
        yield Milestone("running", started)
    ended = next(reversed(_container_times(status, "finishedAt")), None)
    if phase == "Succeeded":
        yield Milestone("succeeded", ended)
    if phase == "Failed":
        if status.get("reason") == "Evicted":
            yield Milestone("evicted", ended, "Evicted")
        yield Milestone(FAILED, ended, _pod_failure(status))


def _container_states(status: Object) -> Iterable[Object]:
    for container in status.get("containerStatuses") or ():
        yield from (container.get("state") or {}).values()


def _container_times(status: Object, key: str) -> list[Stamp]:
    """Return the times under *key* in the containers' states, earliest first."""
    times = [found for state in _container_states(status) if (found := stamp(state.get(key)))]
    return sorted(times, key=lambda found: found.server_s)


# reasons of pod failures that the pod did not cause; its controller may create another pod
DISRUPTIONS = frozenset(
    {
        "PreemptionByScheduler",
        "DeletionByTaintManager",
        "EvictionByEvictionAPI",
        "DeletionByPodGC",
        "TerminationByKubelet",
        "Evicted",
    }
)


def _pod_failure(status: Object) -> str:
    """Return why a pod failed, with the same text for the same cause, as causes are counted."""
    if status.get("reason"):
        return str(status["reason"])
    for condition in status.get("conditions") or ():
        if condition["type"] == "DisruptionTarget" and condition["status"] == "True" and condition.get("reason"):
            return str(condition["reason"])
    for state in _container_states(status):
        if state.get("exitCode"):
            reason = state.get("reason") or "Error"
            return f"{reason} (exit code {state['exitCode']})"
    return "unknown"


def _job_milestones(job: Object) -> Iterable[Milestone]:
    status = job.get("status") or {}
    yield created(job)
    if status.get("startTime"):
        yield Milestone("started", stamp(status["startTime"]))
    for condition in _conditions(job):
        if condition.get("status") != "True":
            continue
        word = _JOB_CONDITIONS.get(condition["type"])
        if word == COMPLETED:
            yield Milestone(word, stamp(status.get("completionTime") or condition.get("lastTransitionTime")))
        elif word:
            yield Milestone(word, stamp(condition.get("lastTransitionTime")), condition.get("reason"))


# Complete is for Jobs; Succeeded for the training operator and, like Completed, for many other kinds
_JOB_CONDITIONS = {
    "Complete": COMPLETED,
    "Completed": COMPLETED,
    "Succeeded": COMPLETED,
    "Failed": FAILED,
    "Suspended": "suspended",
}


def _deployment_milestones(deployment: Object) -> Iterable[Milestone]:
    """Yield the milestones of a Deployment, which is complete if all its replicas are available."""
    yield created(deployment)
    status = deployment.get("status") or {}
    progress: Object = next((one for one in _conditions(deployment) if one["type"] == "Progressing"), {})
    if not progress:
        return
    yield Milestone("started", stamp(progress.get("lastTransitionTime")) if progress["status"] == "True" else None)
    if progress["status"] == "False" and progress.get("reason") == "ProgressDeadlineExceeded":
        yield Milestone(FAILED, stamp(progress.get("lastTransitionTime")), "ProgressDeadlineExceeded")
    replicas = (deployment.get("spec") or {}).get("replicas", 1)
    current = (status.get("observedGeneration") or 0) >= (deployment["metadata"].get("generation") or 0)
    if current and min(status.get("availableReplicas") or 0, status.get("updatedReplicas") or 0) >= replicas:
        yield Milestone(COMPLETED, stamp(progress.get("lastUpdateTime")))


def _any_milestones(obj: Object) -> Iterable[Milestone]:
    """Yield the milestones of any other kind, from conditions named like those of Jobs, else from a final phase."""
    found = list(_job_milestones(obj))
    yield from found
    phase = str((obj.get("status") or {}).get("phase", ""))
    words = {milestone.word for milestone in found}
    if phase in ("Succeeded", "Completed", "Complete") and COMPLETED not in words:
        yield Milestone(COMPLETED)
    if phase == "Failed" and FAILED not in words:
        yield Milestone(FAILED, reason=str((obj.get("status") or {}).get("reason") or "unknown"))


def _runai_milestones(workload: Object) -> Iterable[Milestone]:
    """Yield the milestones of a workload of Run:ai that ends by itself."""
    yield from _any_milestones(workload)
    running = _runai_running(workload)
    if running is not None:
        yield Milestone("started", running.stamp)


def _interactive_milestones(workload: Object) -> Iterable[Milestone]:
    """Yield the milestones of an interactive workload, which is complete when it runs, like a Deployment."""
    yield from _any_milestones(workload)
    running = _runai_running(workload)
    if running is not None:
        yield running


def _runai_running(workload: Object) -> Milestone | None:
    """Return the milestone of a running workload, with the time of the condition if there is one."""
    for condition in _conditions(workload):
        if condition["type"] in ("Running", "Ready") and condition["status"] == "True":
            return Milestone(COMPLETED, stamp(condition.get("lastTransitionTime")))
    return Milestone(COMPLETED) if (workload.get("status") or {}).get("phase") == "Running" else None


_WORKLOAD_WORDS = ("created", "suspended", "started", COMPLETED, FAILED, DELETED)
_WORKLOAD_ENDS = MappingProxyType({COMPLETED: COMPLETED, FAILED: FAILED})
_WORKLOAD_RECURRING = frozenset({"suspended", "started"})


def declared(signs: Mapping[str, Sign]) -> Lifecycle:
    """Return the lifecycle of a kind of workload from the signs of its milestones."""

    def read(obj: Object) -> Iterable[Milestone]:
        yield created(obj)
        for word, sign in signs.items():
            found = sign.find(obj)
            if found is not None:
                yield Milestone(word, *found)

    return Lifecycle(_WORKLOAD_WORDS, read, _WORKLOAD_ENDS, _WORKLOAD_RECURRING)


POD = Lifecycle(
    words=(
        "created",
        "unschedulable",
        "scheduled",
        "initialized",
        "ready_to_start",
        "running",
        "containers_ready",
        "ready",
        "evicted",
        "succeeded",
        FAILED,
        DELETED,
    ),
    read=_pod_milestones,
    ends=MappingProxyType({"succeeded": COMPLETED, FAILED: FAILED}),
    recurring=frozenset({"unschedulable", "containers_ready", "ready"}),
)
JOB = Lifecycle(_WORKLOAD_WORDS, _job_milestones, _WORKLOAD_ENDS, _WORKLOAD_RECURRING)
ANY = Lifecycle(_WORKLOAD_WORDS, _any_milestones, _WORKLOAD_ENDS, _WORKLOAD_RECURRING)

DEPLOYMENT = Lifecycle(("created", "started", COMPLETED, FAILED, DELETED), _deployment_milestones, _WORKLOAD_ENDS)

RUNAI = Lifecycle(_WORKLOAD_WORDS, _runai_milestones, _WORKLOAD_ENDS, _WORKLOAD_RECURRING)
INTERACTIVE = Lifecycle(_WORKLOAD_WORDS, _interactive_milestones, _WORKLOAD_ENDS, _WORKLOAD_RECURRING)

# Like a Job, it has started when its controller has seen it unsuspended. The counts of its Jobs are all 0 in between.
JOBSET = declared(
    {
        "suspended": Sign("Suspended"),
        "started": Sign(when="!(spec.suspend) && status.replicatedJobsStatus"),
        COMPLETED: Sign("Completed"),
        FAILED: Sign("Failed"),
    }
)
# Kubeflow Trainer reports the start of a TrainJob only if it was suspended; its JobSet always has a start
TRAIN_JOB = declared(
    {
        "suspended": Sign("Suspended"),
        "started": Sign(
            when="!(spec.suspend) && status.conditions[?type == 'Suspended' && status == 'False']",
            time="status.conditions[?type == 'Suspended'] | [0].lastTransitionTime",
        ),
        COMPLETED: Sign("Complete"),
        FAILED: Sign("Failed"),
    }
)
# like a Deployment, it is complete when its groups are ready
LEADER_WORKER_SET = declared({"started": Sign("Progressing"), COMPLETED: Sign("Available")})
# Like a Deployment, a RayCluster is complete when all its pods are ready; this condition does not change after that.
RAY_CLUSTER = declared(
    {
        "suspended": Sign("RayClusterSuspended"),
        "started": Sign(when="!(spec.suspend) && status.observedGeneration"),
        COMPLETED: Sign("RayClusterProvisioned"),
    }
)
RAY_JOB = declared(
    {
        "suspended": Sign(when="status.jobDeploymentStatus == 'Suspended'"),
        "started": Sign(when="!(spec.suspend) && status.startTime", time="status.startTime"),
        COMPLETED: Sign(
            when="status.jobStatus == 'SUCCEEDED' && status.jobDeploymentStatus == 'Complete'", time="status.endTime"
        ),
        FAILED: Sign(
            when="status.jobDeploymentStatus == 'Failed' || contains(['FAILED', 'STOPPED'], status.jobStatus)",
            time="status.endTime",
            reason="status.reason",
        ),
    }
)

_BY_KIND = {
    "Pod": POD,
    "Job": JOB,
    "PyTorchJob": JOB,
    "JobSet": JOBSET,
    "LeaderWorkerSet": LEADER_WORKER_SET,
    "RayCluster": RAY_CLUSTER,
    "TrainJob": TRAIN_JOB,
    "RayJob": RAY_JOB,
    "Deployment": DEPLOYMENT,
    "TrainingWorkload": RUNAI,
    "DistributedWorkload": RUNAI,
    "InteractiveWorkload": INTERACTIVE,
}


def lifecycle_of(kind: str, own: Mapping[str, Lifecycle] = MappingProxyType({})) -> Lifecycle:
    """Return the milestones of *kind*: from *own*, else those listed here, else the general ones."""
    return own.get(kind) or _BY_KIND.get(kind, ANY)
