"""The jobs of queues: each has a Workload, waits suspended for its admission, and is suspended when it is evicted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import (
    conditions_of,
    find_condition,
    is_leaving,
    is_true,
    own_labels,
    with_condition,
)
from perflab.emulators.framework.resources import (
    JOBS,
    KUEUE_WORKLOADS,
    PRIORITY_CLASSES,
    PYTORCH_JOBS,
    RESOURCE_FLAVORS,
    WORKLOAD_PRIORITY_CLASSES,
    Resource,
)
from perflab.emulators.framework.store import Key, key_of, owner_of
from perflab.emulators.queues.kueue import specs
from perflab.emulators.queues.kueue.specs import (
    ADMITTED,
    FINISHED,
    JOB_UID_LABEL,
    PRIORITY_LABEL,
    QUEUE_LABEL,
    QUOTA_RESERVED,
    REQUEUED,
)

_PASSED_DOWN = "psap.perf/"


@dataclass(frozen=True, slots=True)
class JobKind:
    """How a kind of jobs is read and suspended."""

    resource: Resource
    pod_sets: Callable[[Document], list[Document]]
    # the conditions that end it: type → the reason that its Workload finishes with
    ends: Mapping[str, str]
    is_suspended: Callable[[Document], bool]
    # the change of the job that suspends it, or lets it run on nodes with these labels
    suspend: Callable[[Document, bool, dict[str, str]], Document]


class QueuedJobs:
    """One kind of jobs."""

    def __init__(self, cluster: Cluster, kind: JobKind) -> None:
        """Over the cluster's jobs of that kind that have a queue, and the Workloads."""
        self._cluster = cluster
        self._kind = kind
        self._jobs = cluster.store(kind.resource, QUEUE_LABEL)
        self._workloads = cluster.store(KUEUE_WORKLOADS)
        self._flavors = cluster.store(RESOURCE_FLAVORS)
        self._priorities = {
            "kueue.x-k8s.io/workloadpriorityclass": cluster.store(WORKLOAD_PRIORITY_CLASSES),
            "scheduling.k8s.io/priorityclass": cluster.store(PRIORITY_CLASSES),
        }
        self.controller = Controller(kind.resource.kind, self._reconcile)
        self.controller.follow(self._jobs)
        self._workloads.listen(self._workload_changed)

    def _workload_changed(self, old: Document | None, new: Document | None) -> None:
        workload = new or old or {}
        owner = owner_of(workload)
        if owner and owner["kind"] == self._kind.resource.kind:
            self.controller.enqueue((workload["metadata"]["namespace"], owner["name"]))

    async def _reconcile(self, key: Key) -> float | None:
        job = self._jobs.get(key)
        if job is None or is_leaving(job):
            return None
        name = specs.workload_name(self._kind.resource.kind, job)
        workload = self._workloads.get((key[0], name))
        ended = next((each for each in self._kind.ends if is_true(job, each)), None)
        if ended:
            await self._finish(job, workload, ended)
        elif workload is None:
            await self._workloads.create(self._workload(name, job))
        elif specs.may_run(workload) and self._kind.is_suspended(job):
            await self._jobs.patch(key, self._kind.suspend(job, False, self._node_labels(workload)))
        elif not specs.may_run(workload) and not self._kind.is_suspended(job):
            await self._jobs.patch(key, self._kind.suspend(job, True, {}))
        elif not specs.may_run(workload) and specs.holds_quota(workload) and is_true(job, "Suspended"):
            await self._release(workload)
        return None

    def _workload(self, name: str, job: Document) -> Document:
        own = own_labels(job)
        labels = {each: text for each, text in own.items() if each.startswith(_PASSED_DOWN)}
        pod_sets = self._kind.pod_sets(job)
        return {
            "metadata": {
                "name": name,
                "namespace": job["metadata"]["namespace"],
                "labels": {**labels, JOB_UID_LABEL: job["metadata"]["uid"]},
                "annotations": self._cluster.mark(),
                "ownerReferences": [owner_reference(self._kind.resource, job)],
            },
            "spec": {
                "active": True,
                "queueName": own[QUEUE_LABEL],
                "podSets": pod_sets,
                **self._priority(own, pod_sets),
            },
        }

    def _priority(self, labels: dict[str, str], pod_sets: list[Document]) -> Document:
        of_pods = next((each["template"]["spec"].get("priorityClassName") for each in pod_sets), None)
        for source, name in zip(self._priorities, (labels.get(PRIORITY_LABEL), of_pods), strict=True):
            found = self._priorities[source].get(("", name or ""))
            if found is not None:
                return {"priority": found["value"], "priorityClassName": name, "priorityClassSource": source}
        return {"priority": 0}

    def _node_labels(self, workload: Document) -> dict[str, str]:
        labels: dict[str, str] = {}
        for assignment in workload["status"]["admission"]["podSetAssignments"]:
            for flavor in assignment["flavors"].values():
                labels |= ((self._flavors.get(("", flavor)) or {}).get("spec") or {}).get("nodeLabels") or {}
        return labels

    async def _finish(self, job: Document, workload: Document | None, ended: str) -> None:
        if workload is None or is_true(workload, FINISHED):
            return
        message = (find_condition(job, ended) or {}).get("message", "")
        conditions = with_condition(conditions_of(workload), FINISHED, True, self._kind.ends[ended], message)
        await self._workloads.patch_status(key_of(workload), {"conditions": conditions})

    async def _release(self, workload: Document) -> None:
        """Its job stands still: the quota is free, and it waits again."""
        conditions = conditions_of(workload)
        for kind, true, reason, message in (
            (QUOTA_RESERVED, False, "Pending", "it was evicted"),
            (ADMITTED, False, "NoReservation", "it has no quota"),
            (REQUEUED, True, "Preempted", "it waits again"),
        ):
            conditions = with_condition(conditions, kind, true, reason, message)
        await self._workloads.patch_status(key_of(workload), {"admission": None, "conditions": conditions})


def simple_jobs(cluster: Cluster) -> QueuedJobs:
    """Kubernetes' Jobs."""
    return QueuedJobs(
        cluster,
        JobKind(
            JOBS,
            specs.pod_sets_of_job,
            {"Complete": "Succeeded", "Failed": "Failed"},
            lambda job: bool(job["spec"].get("suspend")),
            _suspend_job,
        ),
    )


def pytorch_jobs(cluster: Cluster) -> QueuedJobs:
    """The training operator's PyTorchJobs."""
    return QueuedJobs(
        cluster,
        JobKind(
            PYTORCH_JOBS,
            specs.pod_sets_of_pytorch_job,
            {"Succeeded": "Succeeded", "Failed": "Failed"},
            lambda job: bool((job["spec"].get("runPolicy") or {}).get("suspend")),
            _suspend_pytorch_job,
        ),
    )


def _suspend_job(_job: Document, suspended: bool, node_labels: dict[str, str]) -> Document:
    change: Document = {"spec": {"suspend": suspended}}
    if node_labels:
        change["spec"]["template"] = {"spec": {"nodeSelector": node_labels}}
    return change


def _suspend_pytorch_job(job: Document, suspended: bool, node_labels: dict[str, str]) -> Document:
    change: Document = {"spec": {"runPolicy": {"suspend": suspended}}}
    if node_labels:
        template = {"template": {"spec": {"nodeSelector": node_labels}}}
        change["spec"]["pytorchReplicaSpecs"] = dict.fromkeys(job["spec"]["pytorchReplicaSpecs"], template)
    return change
