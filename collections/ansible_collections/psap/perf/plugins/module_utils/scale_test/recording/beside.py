"""What is watched beside workloads, pods and events: a table of kinds, and when each is of interest."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind, find

NODES = ResourceKind("v1", "Node", "nodes")
CLAIMS = ResourceKind("v1", "PersistentVolumeClaim", "persistentvolumeclaims")


@dataclass(frozen=True, slots=True)
class BesideKind:
    """A kind of one of the API *groups*; *below* are the kinds of workloads that have it, empty for any.

    Workloads of the kinds *not_below* may have one, too, that says nothing of them.
    """

    kind: str
    groups: tuple[str, ...]
    below: frozenset[str] = frozenset()
    not_below: frozenset[str] = frozenset()

    def concerns(self, workloads: Iterable[str]) -> bool:
        """Whether a test of workloads of these kinds may touch it; a workload's own kind is watched as such."""
        kinds = set(workloads)
        wanted = not self.below or not self.below.isdisjoint(kinds)
        return wanted and self.kind not in kinds and not kinds <= self.not_below


_RUNAI = frozenset({"TrainingWorkload", "InteractiveWorkload", "DistributedWorkload"})
# Run:ai groups the pods of its workloads itself; another group of theirs is its scheduler's own matter.
# Kueue makes a Workload for whatever names a queue, and for everything where it is told to: a cluster that serves
# the kind has few others. Claims and nodes are in every cluster.
TABLE = (
    BesideKind("PodGroup", ("scheduling.run.ai",)),
    BesideKind("PodGroup", ("scheduling.k8s.io", "scheduling.x-k8s.io", "scheduling.volcano.sh"), not_below=_RUNAI),
    BesideKind("RunaiJob", ("run.ai",), _RUNAI),
    BesideKind("PyTorchJob", ("kubeflow.org",), frozenset({"DistributedWorkload"})),
    BesideKind("Workload", ("kueue.x-k8s.io",)),
)
EVERYWHERE = (CLAIMS, NODES)


async def discover_beside(client: ApiClient, workloads: Sequence[str]) -> tuple[ResourceKind, ...]:
    """What the cluster serves of the table, for a test of workloads of these kinds; one version of each group."""
    wanted = [(group, beside.kind) for beside in TABLE if beside.concerns(workloads) for group in beside.groups]
    found = await asyncio.gather(*(find(client, group, kind) for group, kind in wanted))
    return (*(resource for resource in found if resource is not None), *EVERYWHERE)
