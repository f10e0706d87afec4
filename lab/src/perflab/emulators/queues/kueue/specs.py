"""What jobs ask of a queue, and what queues give: objects of Kueue read and written, as pure functions."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from decimal import Decimal

from perflab.cluster.api import Document
from perflab.emulators.framework.documents import find_condition, is_leaving, is_true
from perflab.emulators.framework.store import key_of
from perflab.emulators.framework.units import format_quantity, parse_quantity
from perflab.emulators.queues.kueue.admission import NEVER, Amounts, Demand, Group, Rules

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
PRIORITY_LABEL = "kueue.x-k8s.io/priority-class"
JOB_UID_LABEL = "kueue.x-k8s.io/job-uid"
QUOTA_RESERVED, ADMITTED, EVICTED = "QuotaReserved", "Admitted", "Evicted"
PREEMPTED, REQUEUED, FINISHED = "Preempted", "Requeued", "Finished"


_HASH_LENGTH = 5
_NAME_LENGTH = 200


def workload_name(kind: str, job: Document) -> str:
    """The Workload of a job; another job of the same name has another."""
    digest = hashlib.sha256(job["metadata"]["uid"].encode()).hexdigest()[:_HASH_LENGTH]
    return f"{kind.lower()}-{job['metadata']['name'][:_NAME_LENGTH]}-{digest}"


def pod_sets_of_job(job: Document) -> list[Document]:
    """The pods of a Job that run at once."""
    spec = job["spec"]
    count = min(spec.get("parallelism", 1), spec.get("completions") or spec.get("parallelism", 1))
    return [{"name": "main", "count": count, "template": _template(spec["template"])}]


def pod_sets_of_pytorch_job(job: Document) -> list[Document]:
    """The pods of a PyTorchJob, by their part."""
    return [
        {"name": name.lower(), "count": replica.get("replicas", 1), "template": _template(replica["template"])}
        for name, replica in job["spec"]["pytorchReplicaSpecs"].items()
    ]


def _template(template: Document) -> Document:
    metadata = template.get("metadata") or {}
    kept = {name: metadata[name] for name in ("labels", "annotations") if metadata.get(name)}
    return {"metadata": kept, "spec": template["spec"]}


def requests(pod_sets: Iterable[Document]) -> dict[str, Decimal]:
    """Resource → what all pods ask for together."""
    total: dict[str, Decimal] = {}
    for pod_set in pod_sets:
        for name, amount in requests_of_pod(pod_set["template"]["spec"]).items():
            total[name] = total.get(name, Decimal()) + amount * pod_set["count"]
    return total


def requests_of_pod(spec: Document) -> dict[str, Decimal]:
    """Resource → what one pod asks for: its containers together, or its largest init container."""
    total: dict[str, Decimal] = {}
    for container in spec["containers"]:
        for name, amount in _requests_of_container(container).items():
            total[name] = total.get(name, Decimal()) + amount
    for container in spec.get("initContainers") or ():
        for name, amount in _requests_of_container(container).items():
            total[name] = max(total.get(name, Decimal()), amount)
    return total


def _requests_of_container(container: Document) -> dict[str, Decimal]:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {name: parse_quantity(text) for name, text in asked.items()}


def demand(workload: Document) -> Demand:
    """What a Workload that is not finished asks for or holds."""
    status = workload.get("status") or {}
    admission = status.get("admission") or {}
    flavors: dict[str, str] = {}
    for assignment in admission.get("podSetAssignments") or ():
        flavors |= assignment.get("flavors") or {}
    reserved = find_condition(workload, QUOTA_RESERVED) or {}
    return Demand(
        key=key_of(workload),
        requests=requests(workload["spec"]["podSets"]),
        priority=int(workload["spec"].get("priority") or 0),
        since=workload["metadata"]["creationTimestamp"],
        flavors=flavors,
        reserved=reserved.get("lastTransitionTime", "") if flavors else "",
        is_leaving=bool(flavors) and is_true(workload, EVICTED),
        is_told=find_condition(workload, QUOTA_RESERVED) is not None,
    )


def is_live(workload: Document) -> bool:
    """Whether a Workload waits for quota or holds some."""
    active = workload["spec"].get("active", True)
    return active and not is_true(workload, FINISHED) and not is_leaving(workload)


def holds_quota(workload: Document) -> bool:
    """Whether quota is reserved for a Workload."""
    return is_true(workload, QUOTA_RESERVED)


def may_run(workload: Document) -> bool:
    """Whether the job of a Workload shall run now."""
    return is_true(workload, ADMITTED) and not is_true(workload, EVICTED)


def rules(queue: Document) -> Rules:
    """What a ClusterQueue's spec says."""
    spec = queue["spec"]
    preemption = (spec.get("preemption") or {}).get("withinClusterQueue", NEVER)
    groups = [_group(each) for each in spec.get("resourceGroups") or ()]
    return Rules(groups, spec.get("queueingStrategy") == "StrictFIFO", preemption)


def _group(group: Document) -> Group:
    quotas: dict[str, Amounts] = {
        flavor["name"]: {each["name"]: parse_quantity(each["nominalQuota"]) for each in flavor["resources"]}
        for flavor in group["flavors"]
    }
    return Group(quotas)


def flavors_of(queue: Document) -> set[str]:
    """The names of the flavors that a ClusterQueue gives."""
    groups = queue["spec"].get("resourceGroups") or ()
    return {flavor["name"] for group in groups for flavor in group["flavors"]}


def assignments(workload: Document, flavors: Mapping[str, str]) -> list[Document]:
    """`status.admission.podSetAssignments` when the Workload's resources come from these flavors."""
    found = []
    for pod_set in workload["spec"]["podSets"]:
        each = requests_of_pod(pod_set["template"]["spec"])
        found.append(
            {
                "name": pod_set["name"],
                "count": pod_set["count"],
                "flavors": {name: flavors[name] for name in each},
                "resourceUsage": {name: format_quantity(amount * pod_set["count"]) for name, amount in each.items()},
            }
        )
    return found
