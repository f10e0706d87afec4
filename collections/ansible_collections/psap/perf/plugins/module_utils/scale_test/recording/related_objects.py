"""The kinds that a recording watches in addition to workloads, pods and events, and when it watches each."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind, find

NODES = ResourceKind("v1", "Node", "nodes")
CLAIMS = ResourceKind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")


@dataclass(frozen=True, slots=True)
class RelatedKind:
    """A kind in one of several API groups.

    Attributes:
        kind: The kind, such as `PodGroup`.
        groups: The API groups that may serve it.
        below: The kinds of workloads that own such objects; empty for all kinds.
        not_below: Kinds of workloads whose objects of this kind are not relevant to the test.
    """

    kind: str
    groups: tuple[str, ...]
    below: frozenset[str] = frozenset()
    not_below: frozenset[str] = frozenset()

    def concerns(self, workloads: Iterable[str]) -> bool:
        """Return whether a test of workloads of these kinds watches it; workloads themselves are watched separately."""
        kinds = set(workloads)
        wanted = not self.below or not self.below.isdisjoint(kinds)
        return wanted and self.kind not in kinds and not kinds <= self.not_below


_RUNAI = frozenset({"TrainingWorkload", "InteractiveWorkload", "DistributedWorkload"})
# Run:ai creates the pod groups of its workloads; its scheduler uses other groups internally.
# Kueue creates a Workload for each object that names a queue or, if so configured, for all objects: a cluster that
# serves the kind has few other objects of it. Claims of volumes and nodes are in every cluster.
TABLE = (
    RelatedKind("PodGroup", ("scheduling.run.ai",)),
    RelatedKind("PodGroup", ("scheduling.k8s.io", "scheduling.x-k8s.io", "scheduling.volcano.sh"), not_below=_RUNAI),
    RelatedKind("RunaiJob", ("run.ai",), _RUNAI),
    RelatedKind("PyTorchJob", ("kubeflow.org",), frozenset({"DistributedWorkload"})),
    RelatedKind("Job", ("batch",), frozenset({"JobSet", "TrainJob"})),
    RelatedKind("JobSet", ("jobset.x-k8s.io",), frozenset({"TrainJob"})),
    RelatedKind("RayCluster", ("ray.io",), frozenset({"RayJob"})),
    RelatedKind("Workload", ("kueue.x-k8s.io",)),
    RelatedKind("ResourceClaim", ("resource.k8s.io",)),
)
EVERYWHERE = (CLAIMS, NODES)


async def discover_related(client: ApiClient, workloads: Sequence[str]) -> tuple[ResourceKind, ...]:
    """Return the kinds of `TABLE` that the cluster serves and that concern workloads of these kinds."""
    wanted = [(group, related.kind) for related in TABLE if related.concerns(workloads) for group in related.groups]
    found = await asyncio.gather(*(find(client, group, kind) for group, kind in wanted))
    return (*(resource for resource in found if resource is not None), *EVERYWHERE)
