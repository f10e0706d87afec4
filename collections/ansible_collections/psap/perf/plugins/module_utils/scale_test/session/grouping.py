"""The grouping of a workload's pods on a cluster: as a gang, in one domain of the topology, or not at all."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load import Load
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import (
    Surroundings,
    read_surroundings,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import gangs, topology
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.templates import Workloads


@dataclass(frozen=True, slots=True)
class Grouping:
    """The kind of pod groups, if workloads are gangs, and the placement of their pods, if they have one."""

    groups: ResourceKind | None = None
    placement: topology.Placement | None = None

    @property
    def pod_groups(self) -> str:
        """Return the API version of the pod groups; empty without gangs."""
        return self.groups.api_version if self.groups else ""

    def check(self, kinds: Iterable[tuple[str, str]], *, lab: bool) -> None:
        """Check that pods of *kinds* (each an API version and a name) can be grouped like this.

        Raises:
            UsageError: If pods of a kind cannot.
        """
        if self.groups:
            gangs.check_kinds(kinds, self.pod_groups, lab=lab)
        if self.placement:
            topology.check_kinds(kinds)

    async def check_accepted(self, client: ApiClient, workloads: Iterable[Workloads]) -> None:
        """Check that the cluster keeps the topology of the pod groups of *workloads*.

        Raises:
            ClusterError: If it does not.
        """
        if self.groups is not None and self.placement is not None:
            for each in workloads:
                await gangs.check_topology(client, each.companions(0)[0], self.groups)


UNGROUPED = Grouping()


async def grouping_of(client: ApiClient, load: Load, surroundings: Surroundings) -> Grouping:
    """Return the grouping of a load's workloads on the cluster.

    Raises:
        PerfError: If the cluster serves no pod groups, or the level of the topology is unknown.
    """
    groups = await gangs.discover_pod_groups(client) if load.gang else None
    return Grouping(groups, load.placement(load.levels(surroundings.topology)))


async def read_grouping(endpoint: ApiEndpoint, load: Load) -> Grouping:
    """Return the grouping of a load's workloads, without a request if their pods are not grouped.

    Raises:
        PerfError: If the cluster serves no pod groups, or the level of the topology is unknown.
    """
    if not load.gang and load.topology == topology.NONE:
        return UNGROUPED
    async with ApiClient(endpoint) as client:
        return await grouping_of(client, load, await read_surroundings(client))
