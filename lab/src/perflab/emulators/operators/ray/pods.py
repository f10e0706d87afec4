"""The pods that clusters and jobs of Ray are made of, as pure functions of their objects."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import owner_reference
from perflab.emulators.framework.resources import JOBS, RAY_CLUSTERS, RAY_JOBS
from perflab.emulators.framework.units import format_quantity, parse_quantity

CLUSTER = "ray.io/cluster"
GROUP = "ray.io/group"
NODE_TYPE = "ray.io/node-type"
ORIGIN = "ray.io/originated-from-cr-name"
HEAD, WORKER = "head", "worker"

HEAD_GROUP = "headgroup"
_LONGEST_CLUSTER = 50
_SUFFIX = 5
_ORIGIN_KIND = "ray.io/originated-from-crd"
_DASHBOARD = 8265
# what a cluster's head serves
_PORTS = {"gcs-server": 6379, "dashboard": _DASHBOARD, "client": 10001, "metrics": 8080}
_CREATED_BY = {"app.kubernetes.io/name": "kuberay", "app.kubernetes.io/created-by": "kuberay-operator"}


@dataclass(frozen=True, slots=True)
class Member:
    """One pod that a cluster shall have."""

    name: str
    kind: str
    group: str
    template: Document


def suffix(*parts: object) -> str:
    """A few letters and digits that are the same for the same parts: made twice, a name is one."""
    return hashlib.sha256(" ".join(map(str, parts)).encode()).hexdigest()[:_SUFFIX]


def cluster_name(job: Document) -> str:
    """The cluster of a job."""
    own = suffix(job["metadata"]["uid"])
    return f"{job['metadata']['name'][: _LONGEST_CLUSTER - len('-raycluster-') - _SUFFIX]}-raycluster-{own}"


def members(cluster: Document) -> list[Member]:
    """All pods of a cluster, its head first."""
    name, uid = cluster["metadata"]["name"], cluster["metadata"]["uid"]
    spec = cluster["spec"]
    head = Member(f"{name}-head-{suffix(uid, HEAD)}", HEAD, HEAD_GROUP, spec["headGroupSpec"]["template"])
    return [head, *_workers(name, uid, spec)]


def _workers(name: str, uid: str, spec: Document) -> Iterator[Member]:
    for group in spec.get("workerGroupSpecs") or ():
        for index in range(replicas_of(group)):
            label = group["groupName"]
            pod = f"{name}-{label}-worker-{suffix(uid, label, index)}"
            yield Member(pod, WORKER, label, group["template"])


def replicas_of(group: Document) -> int:
    """How many pods a group of workers has: what is asked, within its limits, times the hosts of each."""
    asked: int = min(max(group.get("replicas", 0), group["minReplicas"]), group["maxReplicas"])
    return asked * int(group.get("numOfHosts", 1))


def pod_of(cluster: Document, member: Member, mark: dict[str, str]) -> Document:
    """The manifest of a cluster's pod."""
    metadata = cluster["metadata"]
    given = member.template.get("metadata") or {}
    labels = {
        **(given.get("labels") or {}),
        **_CREATED_BY,
        CLUSTER: metadata["name"],
        GROUP: member.group,
        NODE_TYPE: member.kind,
        "ray.io/identifier": f"{metadata['name']}-{member.kind}",
        "ray.io/is-ray-node": "yes",
    }
    spec = dict(member.template["spec"])
    if member.kind == WORKER:
        waits = {
            "name": "wait-gcs-ready",
            "image": spec["containers"][0]["image"],
            "command": ["ray", "health-check", "--address", f"{head_service(metadata['name'])}:6379"],
            "securityContext": spec["containers"][0].get("securityContext") or {},
        }
        spec["initContainers"] = [*(spec.get("initContainers") or []), waits]
    return {
        "metadata": {
            "name": member.name,
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": {**(given.get("annotations") or {}), **mark},
            "ownerReferences": [owner_reference(RAY_CLUSTERS, cluster)],
        },
        "spec": spec,
    }


def head_service(cluster: str) -> str:
    """The name of the service of a cluster's head."""
    return f"{cluster}-head-svc"


def service_of(cluster: Document, mark: dict[str, str]) -> Document:
    """The service of a cluster's head."""
    metadata = cluster["metadata"]
    return {
        "metadata": {
            "name": head_service(metadata["name"]),
            "namespace": metadata["namespace"],
            "labels": {**_CREATED_BY, CLUSTER: metadata["name"], NODE_TYPE: HEAD},
            "annotations": mark,
            "ownerReferences": [owner_reference(RAY_CLUSTERS, cluster)],
        },
        "spec": {
            "clusterIP": "None",
            "selector": {CLUSTER: metadata["name"], NODE_TYPE: HEAD},
            "ports": [{"name": name, "port": port} for name, port in _PORTS.items()],
        },
    }


def cluster_of(job: Document, name: str, mark: dict[str, str]) -> Document:
    """The manifest of a job's cluster."""
    metadata = job["metadata"]
    return {
        "metadata": {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": {**(metadata.get("labels") or {}), ORIGIN: metadata["name"], _ORIGIN_KIND: RAY_JOBS.kind},
            "annotations": mark,
            "ownerReferences": [owner_reference(RAY_JOBS, job)],
        },
        "spec": job["spec"]["rayClusterSpec"],
    }


def dashboard(job: Document, cluster: str) -> str:
    """Where a job is submitted to."""
    return f"{head_service(cluster)}.{job['metadata']['namespace']}.svc.cluster.local:{_DASHBOARD}"


def submitter_of(job: Document, mark: dict[str, str]) -> Document:
    """The Job whose pod hands a Ray job to its cluster and prints what it prints."""
    metadata, spec, status = job["metadata"], job["spec"], job["status"]
    template = spec.get("submitterPodTemplate") or {"spec": _usual_submitter(spec["rayClusterSpec"])}
    given = template.get("metadata") or {}
    pod = dict(template["spec"])
    container = dict(pod["containers"][0])
    if not container.get("command"):
        words = ["ray", "job", "submit", f"--address=http://{status['dashboardURL']}"]
        container["command"] = [*words, f"--submission-id={status['jobId']}", "--", *spec["entrypoint"].split()]
    pod["containers"] = [container, *pod["containers"][1:]]
    labels = {ORIGIN: metadata["name"], _ORIGIN_KIND: RAY_JOBS.kind}
    return {
        "apiVersion": JOBS.api_version,
        "metadata": {
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": mark,
            "ownerReferences": [owner_reference(RAY_JOBS, job)],
        },
        "spec": {
            "backoffLimit": (spec.get("submitterConfig") or {}).get("backoffLimit", 2),
            "template": {
                "metadata": {
                    "labels": {**(given.get("labels") or {}), **labels},
                    "annotations": {**(given.get("annotations") or {}), **mark},
                },
                "spec": pod,
            },
        },
    }


def _usual_submitter(cluster: Document) -> Document:
    image = cluster["headGroupSpec"]["template"]["spec"]["containers"][0]["image"]
    limits = {"cpu": "1", "memory": "1Gi"}
    requests = {"cpu": "500m", "memory": "200Mi"}
    resources = {"limits": limits, "requests": requests}
    container = {"name": "ray-job-submitter", "image": image, "resources": resources}
    return {"restartPolicy": "Never", "containers": [container]}


def amount(cluster: Document, resource: str) -> str:
    """How much of a resource all pods of a cluster have."""
    total = Decimal()
    for member in members(cluster):
        for container in member.template["spec"]["containers"]:
            resources = container.get("resources") or {}
            asked = {**(resources.get("requests") or {}), **(resources.get("limits") or {})}
            total += parse_quantity(asked.get(resource, 0))
    return format_quantity(total)
