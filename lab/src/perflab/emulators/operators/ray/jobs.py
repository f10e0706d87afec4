"""The controller of RayJobs: a cluster, a submitter, and the end of both."""

from __future__ import annotations

import datetime

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import find_condition, is_leaving, is_true, now_s, own_annotations, phase_of
from perflab.emulators.framework.resources import JOBS, PODS, RAY_CLUSTERS, RAY_JOBS
from perflab.emulators.framework.store import Key, key_of, owner_of
from perflab.emulators.operators.ray import pods
from perflab.emulators.operators.ray.clusters import READY
from perflab.emulators.operators.ray.pods import CLUSTER, ORIGIN

# of a RayJob's status: how far its objects are, and how far the job itself is
INITIALIZING, RUNNING, COMPLETE, FAILED = "Initializing", "Running", "Complete", "Failed"
SUSPENDED = "Suspended"
PENDING, SUCCEEDED = "PENDING", "SUCCEEDED"

_ENDED = (COMPLETE, FAILED)
# what the lab's pods end by: the program in this one has lost a process that it needs
_DIES = {"lab.psap.perf/duration": "1ms", "lab.psap.perf/exit-code": "1"}


class RayJobs:
    """RayJobs from their creation to their end."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the RayJobs, their clusters, and the Jobs and pods that submit them."""
        self._cluster = cluster
        self._jobs = cluster.store(RAY_JOBS)
        self._clusters = cluster.store(RAY_CLUSTERS)
        self._submitters = cluster.store(JOBS, ORIGIN)
        self._submitting = cluster.store(PODS, ORIGIN)
        self._members = cluster.store(PODS, CLUSTER)
        self.controller = Controller("RayJob", self._reconcile)
        self.controller.follow(self._jobs)
        for store in (self._clusters, self._submitters, self._submitting):
            store.listen(self._part_changed)
        self._members.listen(self._member_changed)
        cluster.steps.listen(self.controller.enqueue_all)

    def _part_changed(self, old: Document | None, new: Document | None) -> None:
        metadata = (new or old or {})["metadata"]
        origin = (metadata.get("labels") or {}).get(ORIGIN)
        if origin:
            self.controller.enqueue((metadata["namespace"], origin))

    def _member_changed(self, old: Document | None, new: Document | None) -> None:
        owner = owner_of(new or old or {})
        cluster = self._clusters.get(((new or old or {})["metadata"]["namespace"], owner["name"])) if owner else None
        if cluster is not None:
            self._part_changed(None, cluster)

    async def _reconcile(self, key: Key) -> float | None:
        job = self._jobs.get(key)
        if job is None or is_leaving(job):
            return None
        state = (job.get("status") or {}).get("jobDeploymentStatus", "")
        if state in _ENDED:
            return await self._clean_up(job)
        if job["spec"].get("suspend") or state in ("", SUSPENDED):
            await (self._suspend(key, job) if job["spec"].get("suspend") else self._begin(key, job))
            return None
        late_s = _until_deadline_s(job)
        if late_s is not None and late_s <= 0:
            message = "The RayJob has passed the activeDeadlineSeconds. Transition the status to terminal."
            await self._end(key, FAILED, reason="DeadlineExceeded", message=message)
            return None
        again_s = None
        if state == INITIALIZING:
            again_s = await self._initialize(key, job)
        else:
            await self._run(key, job)
        waits = [each for each in (again_s, late_s) if each is not None]
        return min(waits) if waits else None

    async def _begin(self, key: Key, job: Document) -> None:
        name = pods.cluster_name(job)
        status = {
            "jobDeploymentStatus": INITIALIZING,
            "jobId": job["spec"].get("jobId") or f"{key[1]}-{pods.suffix(job['metadata']['uid'], 'job')}",
            "rayClusterName": name,
            "startTime": now_s(),
            "jobStatus": "",
        }
        await self._jobs.patch_status(key, status)

    async def _initialize(self, key: Key, job: Document) -> float | None:
        """Wait for the cluster, then submit."""
        name = job["status"]["rayClusterName"]
        cluster = self._clusters.get((key[0], name))
        if cluster is None:
            await self._clusters.create(pods.cluster_of(job, name, self._cluster.mark()))
            return None
        if (cluster.get("status") or {}).get("state") != READY:
            return None
        failure = self._cluster.steps.failure("job", job)
        wait_s = self._cluster.steps.wait_s("job", job)
        if wait_s > 0:
            return wait_s
        if failure:
            await self._end(key, FAILED, jobStatus=FAILED.upper(), reason="AppFailed", message=failure)
            return None
        await self._jobs.patch_status(key, {"dashboardURL": pods.dashboard(job, name)})
        submitted = self._jobs.get(key) or job
        await self._submitters.create(pods.submitter_of(submitted, self._cluster.mark()))
        status = {"jobDeploymentStatus": RUNNING, "jobStatus": PENDING, "rayClusterStatus": cluster["status"]}
        await self._jobs.patch_status(key, status)
        return None

    async def _run(self, key: Key, job: Document) -> None:
        """Follow the submitter: it ends as the job does."""
        submitter = self._submitters.get(key)
        if submitter is None:
            return
        cluster = self._clusters.get((key[0], job["status"]["rayClusterName"]))
        if cluster is None or not self._is_whole(cluster):
            await self._lose(key)
        failed = find_condition(submitter, "Failed")
        if is_true(submitter, "Complete"):
            await self._end(key, COMPLETE, jobStatus=SUCCEEDED, message="Job finished successfully.", succeeded=1)
        elif failed and failed["status"] == "True":
            message = f"Job entrypoint command failed: {failed.get('message', '')}"
            await self._end(key, FAILED, jobStatus=FAILED.upper(), reason="AppFailed", message=message, failed=1)
        elif any(phase_of(pod) == "Running" for pod in self._pods_of(key)):
            await self._jobs.patch_status(key, {"jobStatus": RUNNING.upper()})

    def _is_whole(self, cluster: Document) -> bool:
        """Whether every pod of a cluster that was ready still is: none was lost, or made again since."""
        there = self._members.owned_by(cluster["metadata"]["uid"])
        running = [pod for pod in there if is_true(pod, "Ready") and not is_leaving(pod)]
        return len(running) >= len(pods.members(cluster))

    async def _lose(self, key: Key) -> None:
        """The job's program dies with the process that it lost."""
        for pod in self._pods_of(key):
            annotations = own_annotations(pod)
            if annotations.items() >= _DIES.items() or is_leaving(pod):
                continue
            await self._submitting.patch(key_of(pod), {"metadata": {"annotations": _DIES}})

    def _pods_of(self, key: Key) -> list[Document]:
        labelled = ((pod, pod["metadata"]) for pod in self._submitting.values())
        return [pod for pod, own in labelled if (own["namespace"], own["labels"][ORIGIN]) == key]

    async def _end(self, key: Key, state: str, **status: str | int) -> None:
        await self._jobs.patch_status(key, {"jobDeploymentStatus": state, "endTime": now_s(), **status})

    async def _clean_up(self, job: Document) -> float | None:
        """Delete the cluster of a job that has ended, when that is asked for."""
        spec, status = job["spec"], job["status"]
        key = (job["metadata"]["namespace"], status.get("rayClusterName", ""))
        if not spec.get("shutdownAfterJobFinishes") or self._clusters.get(key) is None:
            return None
        left_s = spec.get("ttlSecondsAfterFinished", 0) - _since_s(status["endTime"])
        if left_s > 0:
            return float(left_s)
        await self._clusters.delete(key)
        return None

    async def _suspend(self, key: Key, job: Document) -> None:
        """Without cluster and submitter, until it may run."""
        name = (job.get("status") or {}).get("rayClusterName", "")
        if self._submitters.get(key) is not None:
            await self._submitters.delete(key)
        if name and self._clusters.get((key[0], name)) is not None:
            await self._clusters.delete((key[0], name))
        cleared = dict.fromkeys(("rayClusterName", "dashboardURL", "jobId", "message", "reason", "jobStatus"), "")
        await self._jobs.patch_status(key, {"jobDeploymentStatus": SUSPENDED, **cleared})


def _until_deadline_s(job: Document) -> float | None:
    limit = job["spec"].get("activeDeadlineSeconds")
    return None if limit is None else limit - _since_s(job["status"]["startTime"])


def _since_s(stamp: str) -> float:
    return (datetime.datetime.now(datetime.UTC) - datetime.datetime.fromisoformat(stamp)).total_seconds()
