"""What is watched beside workloads, pods and events: a table of kinds, and when each is of interest."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind, group_path

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
    versions = _versions((await client.request("GET", "/apis")).document())
    wanted = [(beside.kind, group) for beside in TABLE if beside.concerns(workloads) for group in beside.groups]
    found = await asyncio.gather(*(_find(client, kind, versions.get(group, [])) for kind, group in wanted))
    return (*(resource for resource in found if resource is not None), *EVERYWHERE)


def _versions(groups: Mapping[str, Any]) -> dict[str, list[str]]:
    """The API versions of each group, the preferred one first."""
    found: dict[str, list[str]] = {}
    for group in groups.get("groups") or ():
        preferred = (group.get("preferredVersion") or {}).get("groupVersion")
        served = [str(version["groupVersion"]) for version in group.get("versions") or ()]
        found[str(group["name"])] = sorted(served, key=lambda version: version != preferred)
    return found


async def _find(client: ApiClient, kind: str, versions: list[str]) -> ResourceKind | None:
    """The first version that has the kind and lets it be watched."""
    for version in versions:
        answer = await client.request("GET", group_path(version))
        for resource in answer.document().get("resources") or ():
            if resource.get("kind") == kind and "/" not in str(resource.get("name", "/")):
                return ResourceKind(version, kind, str(resource["name"]))
    return None
