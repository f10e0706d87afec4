"""The controller of RunaiJobs: keeps their pods, and tells how far they are."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, is_true, now_s, phase_of, with_condition
from perflab.emulators.framework.resources import PODS, RUNAI_JOBS
from perflab.emulators.framework.store import Key, key_of, owner_of
from perflab.emulators.queues.runai.specs import WORKLOAD_NAME
from perflab.errors import ClusterError

# which of a job's pods it is, of 0 … completions - 1
_INDEX = "batch.kubernetes.io/job-completion-index"
# a pod of that name is still on its way out
_NAME_TAKEN_S = 0.2


class Jobs:
    """Pods of RunaiJobs: `NAME-INDEX-ATTEMPT`."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's RunaiJobs and their pods."""
        self._cluster = cluster
        self._jobs = cluster.store(RUNAI_JOBS)
        self._pods = cluster.store(PODS, WORKLOAD_NAME)
        self.controller = Controller("RunaiJob", self._reconcile)
        self.controller.follow(self._jobs)
        self._pods.listen(self._pod_changed)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        pod = new or old or {}
        owner = owner_of(pod)
        if owner and owner["kind"] == RUNAI_JOBS.kind:
            self.controller.enqueue((pod["metadata"]["namespace"], owner["name"]))

    async def _reconcile(self, key: Key) -> float | None:
        job = self._jobs.get(key)
        if job is None or is_leaving(job) or is_finished(job):
            return None
        pods = list(self._pods.owned_by(job["metadata"]["uid"]))
        failed = [pod for pod in pods if _has_failed(pod)]
        done = {_index(pod) for pod in pods if phase_of(pod) == "Succeeded"}
        again_s = None
        if job["spec"]["suspend"] or len(failed) > job["spec"]["backoffLimit"]:
            await self._delete(pods)
            pods = [pod for pod in pods if not _is_active(pod)]
        else:
            again_s = await self._create_missing(job, pods, done)
            pods = list(self._pods.owned_by(job["metadata"]["uid"]))
        await self._jobs.patch_status(key, _status(job, pods, done, len(failed)))
        return again_s

    async def _delete(self, pods: list[Document]) -> None:
        for pod in pods:
            if _is_active(pod):
                await self._pods.delete(key_of(pod))

    async def _create_missing(self, job: Document, pods: list[Document], done: set[int]) -> float | None:
        """Create the pods that are not there; a wait when a name is not free yet."""
        there = {_index(pod) for pod in pods if _is_active(pod) or is_leaving(pod)}
        wanted = [index for index in range(job["spec"]["completions"]) if index not in there | done]
        again_s = None
        for index in wanted[: max(0, job["spec"]["parallelism"] - len(there))]:
            attempt = sum(_index(pod) == index and _has_failed(pod) for pod in pods)
            if await self._create(job, index, attempt) is None:
                again_s = _NAME_TAKEN_S
        return again_s

    async def _create(self, job: Document, index: int, attempt: int) -> Document | None:
        template = job["spec"]["template"]
        name = job["metadata"]["name"]
        metadata = {
            "name": f"{name}-{index}-{attempt}",
            "namespace": job["metadata"]["namespace"],
            "labels": {**template["metadata"].get("labels", {}), "job-name": name},
            "annotations": {
                **template["metadata"].get("annotations", {}),
                **self._cluster.mark(),
                _INDEX: str(index),
            },
            "ownerReferences": [owner_reference(RUNAI_JOBS, job)],
        }
        try:
            return await self._pods.create({"metadata": metadata, "spec": template["spec"]})
        except ClusterError as error:
            # a quota, say, or a priority class that is not there: whoever looks at the job sees it
            await self._cluster.event(RUNAI_JOBS, job, "FailedCreate", str(error)[:1000], "Warning")
            raise


def is_finished(job: Document) -> bool:
    """Whether a RunaiJob is complete or failed."""
    return is_true(job, "Complete") or is_true(job, "Failed")


def _is_active(pod: Document) -> bool:
    return phase_of(pod) not in ("Succeeded", "Failed") and not is_leaving(pod)


def _has_failed(pod: Document) -> bool:
    # one that is deleted, by a preemption say, is made again: it did not fail by itself
    return phase_of(pod) == "Failed" and not is_leaving(pod)


def _index(pod: Document) -> int:
    return int(pod["metadata"]["annotations"][_INDEX])


def _status(job: Document, pods: list[Document], done: set[int], failed: int) -> Document:
    old = job.get("status") or {}
    conditions = list(old.get("conditions") or [])
    status: Document = {
        "active": sum(_is_active(pod) for pod in pods),
        "ready": sum(phase_of(pod) == "Running" for pod in pods),
        "succeeded": len(done),
        "failed": failed,
    }
    if pods and not old.get("startTime"):
        status["startTime"] = now_s()
    if len(done) >= job["spec"]["completions"]:
        conditions = with_condition(conditions, "Complete", True, "CompletionsReached", "all of its pods succeeded")
        status["completionTime"] = now_s()
    elif failed > job["spec"]["backoffLimit"]:
        message = f"{failed} of its pods failed; backoffLimit is {job['spec']['backoffLimit']}"
        conditions = with_condition(conditions, "Failed", True, "BackoffLimitExceeded", message)
    elif job["spec"]["suspend"] or any(item["type"] == "Suspended" for item in conditions):
        suspended = bool(job["spec"]["suspend"])
        reason, message = ("JobSuspended", "suspended") if suspended else ("JobResumed", "resumed")
        conditions = with_condition(conditions, "Suspended", suspended, reason, message)
    return {**status, "conditions": conditions}
