"""Milestones of a workload's life: which exist, and which object reaches them.

A milestone of a workload's pods is reached when as many pods as it consists of have reached it: the time of the n-th
pod, each pod counted once, at its first time. So a replacement of an evicted pod does not move milestones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from perfanalysis.files.tables import Column, TableSpec

Origin = Literal[
    "client",
    "workload",
    "queue",
    "intermediate",
    "pod group",
    "first pod",
    "all pods",
    "scheduler",
    "claims",
    "device claims",
]
SEEN_RESOLUTION_S = 1e-6
"""The recorder's timestamps of arrivals have microseconds."""

BESIDE = {
    "PodGroup": "pod group",
    "PersistentVolumeClaim": "claims",
    "ResourceClaim": "device claims",
    "Workload": "queue",
}
"""Kinds related to a workload and its pods, and the origin of their milestones."""
UNRELATED = ("Node", "BackendJob")
"""Kinds that reach no milestone of a workload."""
BETWEEN = ("RunaiJob", "JobSet", "Job", "RayCluster")
"""Kinds that are never the workload itself if another kind has its name."""


@dataclass(frozen=True)
class Milestone:
    """A point of a workload's life; `transition` is the recorded word, or the submission's field for `client`."""

    name: str
    label: str
    origin: Origin
    transition: str
    absent: str | None = None
    """Why a recording may have none of it; None for what every workload should reach."""


NO_QUEUE = "no workload was queued by Kueue in this recording"
NO_GROUP = "no pod groups in this recording"
NO_CLAIM = "no volume claims in this recording"
NO_DEVICES = "no claims of devices in this recording"
NOT_DISPATCHED = "Kueue dispatched no workload to another cluster in this recording"
ELSEWHERE = "the pods ran at worker clusters of MultiKueue, which the recording does not include"
NOT_HELD = "no workload was held back in a queue"

MILESTONES = (
    Milestone("sent", "sent", "client", "sent_s"),
    Milestone("answered", "answered", "client", "answered_s"),
    Milestone("created", "workload created", "workload", "created"),
    Milestone("suspended", "workload suspended", "workload", "suspended", NOT_HELD),
    Milestone("queued", "queued", "queue", "created", NO_QUEUE),
    Milestone("quota_reserved", "quota reserved", "queue", "quota_reserved", NO_QUEUE),
    Milestone("dispatched", "dispatched to a cluster", "queue", "dispatched", NOT_DISPATCHED),
    Milestone("admitted", "admitted", "queue", "admitted", NO_QUEUE),
    Milestone("started", "workload started", "workload", "started", "no workload reported its start"),
    Milestone("released", "released by the queue", "workload", "", NOT_HELD),
    Milestone(
        "intermediate_created",
        "intermediate object created",
        "intermediate",
        "created",
        "no object between workloads and pods in this recording",
    ),
    Milestone("podgroup_created", "pod group created", "pod group", "created", NO_GROUP),
    Milestone("first_pod_created", "first pod created", "first pod", "created"),
    Milestone("last_pod_created", "all pods created", "all pods", "created"),
    Milestone("claims_created", "all device claims created", "device claims", "created", NO_DEVICES),
    Milestone("claims_allocated", "all device claims allocated", "device claims", "allocated", NO_DEVICES),
    Milestone("claims_reserved", "all device claims reserved", "device claims", "reserved", NO_DEVICES),
    Milestone(
        "podgroup_scheduled", "pod group scheduled", "pod group", "scheduled", "no pod group reported scheduling"
    ),
    Milestone("decided", "scheduler's event for all pods", "scheduler", "Scheduled", "no scheduler reported a binding"),
    Milestone("first_pod_scheduled", "first pod scheduled", "first pod", "scheduled"),
    Milestone("scheduled", "all pods scheduled", "all pods", "scheduled"),
    Milestone("pvc_created", "first volume claim created", "claims", "created", NO_CLAIM),
    Milestone("pvc_bound", "all volume claims bound", "claims", "bound", NO_CLAIM),
    Milestone("initialized", "all pods initialized", "all pods", "initialized"),
    Milestone(
        "ready_to_start",
        "all sandboxes ready",
        "all pods",
        "ready_to_start",
        "no pod reported that its sandbox was ready",
    ),
    Milestone("first_pod_running", "first pod running", "first pod", "running"),
    Milestone("running", "all pods running", "all pods", "running"),
    Milestone(
        "containers_ready",
        "all containers ready",
        "all pods",
        "containers_ready",
        "no pod reported that its containers were ready",
    ),
    Milestone("ready", "all pods ready", "all pods", "ready"),
    Milestone("completed", "workload completed", "workload", "completed"),
    Milestone("failed", "workload failed", "workload", "failed"),
    Milestone("deleted", "workload deleted", "workload", "deleted"),
)
BY_NAME = {milestone.name: milestone for milestone in MILESTONES}


# milestones of a pod without a controller, in the words of a workload
POD_AS_WORKLOAD = {
    "created": "created",
    "running": "started",
    "succeeded": "completed",
    "failed": "failed",
    "deleted": "deleted",
}


def _milestone_columns(milestone: Milestone) -> tuple[Column, ...]:
    name, label = milestone.name, milestone.label
    unit = "s since the epoch, UTC"
    return (
        Column(f"{name}_s", "time", f"{label}, on the client's clock", unit),
        Column(f"{name}_server_s", "time", f"{label}, by the server's timestamp", unit),
        Column(f"{name}_resolution_s", "number", f"resolution of the server's timestamp of: {label}", "s"),
    )


WORKLOADS = TableSpec(
    "workloads",
    "One row per workload, in the order of submission, with the time of each milestone",
    (
        Column("workload", "text", "name, with its namespace when there are several"),
        Column("kind", "text", "kind of the workload object"),
        Column("namespace", "text", "namespace"),
        Column("queue", "text", "queue it was submitted to, if any"),
        Column("tenant", "text", "whose work it is: its queue, else its namespace"),
        Column("priority", "integer", "value of its priority class, if any"),
        Column("round", "integer", "round of churn it was sent in, 0 for the first submission"),
        Column("submitter", "integer", "process that sent it"),
        Column("gpus", "number", "GPUs requested by all its pods", "GPUs"),
        Column("pods", "number", "number of its pods", "pods"),
        Column("outcome", "text", "created, existed, failed; null when only watched"),
        Column("cluster", "text", "cluster to which Kueue dispatched it last, if any"),
        *(column for milestone in MILESTONES for column in _milestone_columns(milestone)),
    ),
)


Start = Literal["client", "pod", "object"]
STAMPED_CAUSES: dict[Start, str] = {
    "client": "clocks of client and server differ, or an earlier workload had the same name",
    "pod": "the pod was replaced by a later one",
    "object": "server timestamps out of order",
}
"""Why a difference of two server timestamps is negative, in runs without a watch (imported ones), by its begin: the
client's clock, a timestamp of a pod, or one of another object. The old plotter and the report share it.
"""
