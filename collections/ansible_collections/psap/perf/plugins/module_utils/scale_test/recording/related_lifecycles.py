"""Milestones of the objects related to workloads: pod groups, Kueue's Workloads, claims of volumes and devices, nodes.

None of them ends a workload: they explain its duration.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import stamp
from ansible_collections.psap.perf.plugins.module_utils.kube_api.gpu_supply import is_gpu_class
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import without_submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import (
    COMPLETED,
    DELETED,
    FAILED,
    Lifecycle,
    Milestone,
    Object,
    created,
    lifecycle_of,
)


def _status(obj: Object) -> Object:
    status: Any = obj.get("status")
    return status if isinstance(status, dict) else {}


def _true_conditions(obj: Object, words: dict[str, str]) -> Iterable[Milestone]:
    """Yield a milestone for each condition in *words* that is true."""
    for condition in _status(obj).get("conditions") or ():
        word = words.get(str(condition.get("type")))
        if word and condition.get("status") == "True":
            yield Milestone(word, stamp(condition.get("lastTransitionTime")), condition.get("reason"))


# the first is scheduling.k8s.io's until v1alpha2, the second from v1alpha3 on, the third Volcano's
_POD_GROUP_CONDITIONS = dict.fromkeys(("PodGroupScheduled", "PodGroupInitiallyScheduled", "Scheduled"), "scheduled")
# of scheduling.x-k8s.io, Volcano and Run:ai, without a time
_POD_GROUP_PHASES = {
    "Scheduled": "scheduled",
    "Running": "running",
    "Finished": COMPLETED,
    "Completed": COMPLETED,
    "Succeeded": COMPLETED,
    "Failed": FAILED,
}


def _pod_group_milestones(group: Object) -> Iterable[Milestone]:
    yield created(group)
    milestones = list(_true_conditions(group, _POD_GROUP_CONDITIONS))
    yield from milestones
    word = _POD_GROUP_PHASES.get(str(_status(group).get("phase")))
    if word and all(milestone.word != word for milestone in milestones):
        yield Milestone(word, reason=_status(group).get("reason") if word == FAILED else None)


_QUEUED_CONDITIONS = {
    "QuotaReserved": "quota_reserved",
    "Admitted": "admitted",
    "Evicted": "evicted",
    "Finished": COMPLETED,
}


def _queued_milestones(workload: Object) -> Iterable[Milestone]:
    yield created(workload)
    yield from _true_conditions(workload, _QUEUED_CONDITIONS)
    cluster = _status(workload).get("clusterName")
    if cluster:
        ready = (check for check in _status(workload).get("admissionChecks") or () if check.get("state") == "Ready")
        # Kueue sets both in one update; a queue has at most one check of MultiKueue, which is the last to be ready
        times = [found for check in ready if (found := stamp(check.get("lastTransitionTime")))]
        yield Milestone(
            "dispatched",
            max(times, key=lambda found: found.server_s, default=None),
            cluster=without_submission(str(cluster)),
        )


_CLAIM_PHASES = {"Bound": "bound", "Lost": FAILED}


def _claim_milestones(claim: Object) -> Iterable[Milestone]:
    yield created(claim)
    phase = str(_status(claim).get("phase"))
    if phase in _CLAIM_PHASES:
        yield Milestone(_CLAIM_PHASES[phase], reason="Lost" if phase == "Lost" else None)


def _device_claim_milestones(claim: Object) -> Iterable[Milestone]:
    yield created(claim)
    allocation = _status(claim).get("allocation")
    if allocation is None:
        yield Milestone("released")
        return
    # a claim with admin access holds no device
    held = [each for each in (allocation.get("devices") or {}).get("results") or () if not each.get("adminAccess")]
    requested: Object = (claim.get("spec") or {}).get("devices") or {}
    classes = dict(_classes(requested.get("requests") or ()))
    yield Milestone(
        "allocated",
        stamp(allocation.get("allocationTimestamp")),
        node=_node_of(allocation),
        devices=len(held),
        gpus=sum(is_gpu_class(classes.get(str(each.get("request")), "")) for each in held),
    )
    if _status(claim).get("reservedFor"):
        yield Milestone("reserved")


def _classes(requests: Iterable[Object]) -> Iterable[tuple[str, str]]:
    """Yield the class of the devices of each request, and of each alternative, as results of an allocation name it."""
    for each in requests:
        if "exactly" in each:
            yield each["name"], each["exactly"]["deviceClassName"]
        for part in each.get("firstAvailable") or ():
            yield f"{each['name']}/{part['name']}", part["deviceClassName"]


def _node_of(allocation: Object) -> str | None:
    """Return the node of devices that only one node can use."""
    terms = (allocation.get("nodeSelector") or {}).get("nodeSelectorTerms") or ()
    fields = [each for term in terms for each in term.get("matchFields") or () if each.get("key") == "metadata.name"]
    names = [name for each in fields for name in each.get("values") or ()]
    return str(names[0]) if len(names) == 1 else None


def _node_milestones(node: Object) -> Iterable[Milestone]:
    yield created(node)
    for condition in _status(node).get("conditions") or ():
        if condition.get("type") == "Ready":
            word = "ready" if condition.get("status") == "True" else "not_ready"
            yield Milestone(word, stamp(condition.get("lastTransitionTime")), condition.get("reason"))
    spec: Object = node.get("spec") or {}
    yield Milestone("cordoned" if spec.get("unschedulable") else "uncordoned")


POD_GROUP = Lifecycle(("created", "scheduled", "running", COMPLETED, FAILED, DELETED), _pod_group_milestones)
QUEUED = Lifecycle(
    ("created", "quota_reserved", "dispatched", "admitted", "evicted", COMPLETED, DELETED),
    _queued_milestones,
    recurring=frozenset({"quota_reserved", "dispatched", "admitted", "evicted"}),
)
CLAIM = Lifecycle(("created", "bound", FAILED, DELETED), _claim_milestones)
DEVICE_CLAIM = Lifecycle(
    ("created", "allocated", "reserved", "released", DELETED),
    _device_claim_milestones,
    recurring=frozenset({"allocated", "reserved", "released"}),
    # every new claim holds nothing, which is no milestone
    implied=frozenset({"released"}),
)
NODE = Lifecycle(
    ("created", "ready", "not_ready", "cordoned", "uncordoned", DELETED),
    _node_milestones,
    recurring=frozenset({"ready", "not_ready", "cordoned", "uncordoned"}),
    # every new node is uncordoned, which is no milestone
    implied=frozenset({"uncordoned"}),
)

_BY_KIND = {
    "PodGroup": POD_GROUP,
    "Workload": QUEUED,
    "PersistentVolumeClaim": CLAIM,
    "ResourceClaim": DEVICE_CLAIM,
    "Node": NODE,
}


def related_lifecycle(kind: str) -> Lifecycle:
    """Return the milestones of a related kind; a workload's milestones for a kind that represents one (RunaiJob)."""
    return _BY_KIND.get(kind) or lifecycle_of(kind)
