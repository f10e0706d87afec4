"""Checks of the cluster of a site: whether it answers, the user's rights, its GPUs, its operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.cluster_lease import lease
from ansible_collections.psap.perf.plugins.module_utils.kube_api.gpu_supply import (
    allocatable_gpus,
    count_gpus,
    gpus_of_nodes,
)

from perfdrv.ansible.single_task import TaskError, run_task
from perfdrv.examining.findings import OPTIONAL, Finding, optional, required
from perfdrv.project import Project

UNFIT = 3
# operators by a definition that they install
OPERATORS = {
    "Prometheus operator": "prometheuses.monitoring.coreos.com",
    "GPU operator": "clusterpolicies.nvidia.com",
    "Kueue": "clusterqueues.kueue.x-k8s.io",
    "JobSet": "jobsets.jobset.x-k8s.io",
    "LeaderWorkerSet": "leaderworkersets.leaderworkerset.x-k8s.io",
    "Kubeflow Trainer": "trainjobs.trainer.kubeflow.org",
    "training operator": "pytorchjobs.kubeflow.org",
    "KubeRay": "rayclusters.ray.io",
    "KServe": "inferenceservices.serving.kserve.io",
}


def examine_cluster(project: Project, inventory: Path | None) -> Iterator[Finding]:
    """Yield the findings for the cluster of a site; one finding if it does not answer."""
    try:
        nodes = run_task(project, inventory, "get", {"kind": "Node"})["objects"]
    except TaskError as error:
        yield required(
            "cluster",
            False,
            str(error),
            "set KUBECONFIG or pass --site; without a cluster: perflab up, --site lab",
            UNFIT,
        )
        return
    yield Finding("cluster", "ok", f"{len(nodes)} nodes")
    yield examine_rights(project, inventory)
    yield examine_gpus(project, inventory, nodes)
    try:
        definitions = run_task(project, inventory, "get", {"kind": "CustomResourceDefinition"})["objects"]
    except TaskError as error:
        yield Finding("operators", OPTIONAL, str(error), "ask an administrator for the right to list definitions")
        return
    names = {str(one["metadata"]["name"]) for one in definitions}
    for operator, definition in OPERATORS.items():
        there = definition in names
        yield optional(
            operator, there, "installed" if there else "not installed", "for the flows that use it: install it"
        )


def examine_rights(project: Project, inventory: Path | None) -> Finding:
    """Return whether the user has the rights that every run needs; a flow's own rights depend on its settings."""
    try:
        run_task(project, inventory, "preflight", {"rights": [lease.RIGHTS]})
    except TaskError as error:
        return required("rights", False, str(error), "ask an administrator for these rights", UNFIT)
    return Finding("rights", "ok", "those of every run; for those of a flow: perfdrv run FLOW --check")


def examine_gpus(project: Project, inventory: Path | None, nodes: Sequence[Mapping[str, Any]]) -> Finding:
    """Return the number of GPUs of *nodes*, of those without an extended resource by their ResourceSlices."""
    allocatable = sum(map(allocatable_gpus, nodes))
    try:
        slices = run_task(project, inventory, "get", {"kind": "ResourceSlice"})["objects"]
    except TaskError as error:
        text = f"{allocatable}, without devices of ResourceSlices: {error}"
        return Finding("GPUs", OPTIONAL, text, "ask an administrator for the right to list ResourceSlices")
    gpus = sum(gpus_of_nodes(nodes, count_gpus(slices)).values())
    text = f"{gpus}, {gpus - allocatable} of them as devices of ResourceSlices" if gpus > allocatable else str(gpus)
    return optional("GPUs", gpus > 0, text, "for tests with GPUs: deploy the GPU operator, or use a lab")
