"""The controllers of Run:ai's workloads: each makes its job, and tells the workload's phase from it."""

from __future__ import annotations

from collections.abc import Callable

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import conditions_of, find_condition, is_leaving, is_true, with_condition
from perflab.emulators.framework.resources import (
    DISTRIBUTED_WORKLOADS,
    INTERACTIVE_WORKLOADS,
    POD_GROUPS,
    PYTORCH_JOBS,
    RUNAI_JOBS,
    TRAINING_WORKLOADS,
    Resource,
)
from perflab.emulators.framework.store import Key, owner_of
from perflab.emulators.queues.runai import specs
from perflab.emulators.queues.runai.specs import WORKLOAD_NAME

PENDING, RUNNING, COMPLETED, FAILED, STOPPED = "Pending", "Running", "Completed", "Failed", "Stopped"
# the job of an earlier workload of that name is still on its way out
_NAME_TAKEN_S = 0.2


class Workloads:
    """One kind of workloads and the kind of job below it."""

    def __init__(
        self,
        cluster: Cluster,
        kind: Resource,
        job: Resource,
        job_spec: Callable[[Document], Document],
        phase_of: Callable[[Document], str],
    ) -> None:
        """*job_spec* makes the job's spec from the workload, *phase_of* reads the workload's phase from the job."""
        self._cluster = cluster
        self._kind = kind
        self._workloads = cluster.store(kind)
        self._jobs = cluster.store(job)
        self._gangs = cluster.store(POD_GROUPS, WORKLOAD_NAME)
        self._job_spec = job_spec
        self._phase_of = phase_of
        self.controller = Controller(kind.kind, self._reconcile)
        self.controller.follow(self._workloads)
        self._jobs.listen(self._job_changed)

    def _job_changed(self, old: Document | None, new: Document | None) -> None:
        job = new or old or {}
        owner = owner_of(job)
        if owner and owner["kind"] == self._kind.kind:
            self.controller.enqueue((job["metadata"]["namespace"], owner["name"]))

    async def _reconcile(self, key: Key) -> float | None:
        workload = self._workloads.get(key)
        if workload is None or is_leaving(workload):
            return None
        if is_true(workload, COMPLETED) or is_true(workload, FAILED):
            return None
        job = self._jobs.get((key[0], specs.child_name(workload)))
        if job is None:
            job = await self._make(workload)
        if job is None or (owner_of(job) or {}).get("uid") != workload["metadata"]["uid"]:
            return _NAME_TAKEN_S
        await self._workloads.patch_status(key, _status(workload, job, self._phase_of(job)))
        return None

    async def _make(self, workload: Document) -> Document | None:
        if self._kind is DISTRIBUTED_WORKLOADS and specs.members(workload) > 1:
            await self._gangs.create(self._gang(workload))
        metadata = self._metadata(workload, specs.child_name(workload))
        return await self._jobs.create({"metadata": metadata, "spec": self._job_spec(workload)})

    def _gang(self, workload: Document) -> Document:
        """What makes the real scheduler start all pods of the workload, or none."""
        spec: Document = {"schedulingPolicy": {"gang": {"minCount": specs.members(workload)}}}
        if specs.priority_class(workload):
            spec["priorityClassName"] = specs.priority_class(workload)
        return {"metadata": self._metadata(workload, specs.gang_name(workload)), "spec": spec}

    def _metadata(self, workload: Document, name: str) -> Document:
        return {
            "name": name,
            "namespace": workload["metadata"]["namespace"],
            "labels": specs.labels_of(workload),
            "annotations": {**specs.annotations_of(workload), **self._cluster.mark()},
            "ownerReferences": [owner_reference(self._kind, workload)],
        }


def training(cluster: Cluster) -> Workloads:
    """TrainingWorkloads: their pods end."""
    return Workloads(
        cluster, TRAINING_WORKLOADS, RUNAI_JOBS, lambda each: specs.job_spec(each, "Never"), _phase_of_runai_job
    )


def interactive(cluster: Cluster) -> Workloads:
    """InteractiveWorkloads: their pod runs on."""
    return Workloads(
        cluster, INTERACTIVE_WORKLOADS, RUNAI_JOBS, lambda each: specs.job_spec(each, "Always"), _phase_of_runai_job
    )


def distributed(cluster: Cluster) -> Workloads:
    """DistributedWorkloads: the training operator has their pods."""
    return Workloads(cluster, DISTRIBUTED_WORKLOADS, PYTORCH_JOBS, specs.pytorch_spec, _phase_of_pytorch_job)


def _phase_of_runai_job(job: Document) -> str:
    if is_true(job, "Complete"):
        return COMPLETED
    if is_true(job, "Failed"):
        return FAILED
    if is_true(job, "Suspended"):
        return STOPPED
    return RUNNING if (job.get("status") or {}).get("ready") else PENDING


def _phase_of_pytorch_job(job: Document) -> str:
    for condition, phase in (("Succeeded", COMPLETED), ("Failed", FAILED), ("Running", RUNNING)):
        if is_true(job, condition):
            return phase
    return PENDING


def _status(workload: Document, job: Document, phase: str) -> Document:
    conditions = conditions_of(workload)
    # a workload that ended between two looks did run
    if phase == RUNNING or (phase == COMPLETED and find_condition(workload, RUNNING) is None):
        conditions = with_condition(conditions, RUNNING, True, RUNNING, "its pods run")
    if phase != RUNNING and any(item["type"] == RUNNING for item in conditions):
        conditions = with_condition(conditions, RUNNING, False, phase, f"its phase is {phase}")
    if phase in (COMPLETED, FAILED):
        ended = (
            find_condition(job, "Failed" if phase == FAILED else "Complete") or find_condition(job, "Succeeded") or {}
        )
        conditions = with_condition(conditions, phase, True, ended.get("reason", phase), ended.get("message", ""))
    return {"phase": phase, "conditions": conditions}
