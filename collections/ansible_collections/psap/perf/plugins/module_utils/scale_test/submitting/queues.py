"""Queues of Kueue: those that tenants name must be there; those with a quota are made for a submission and removed."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import find, group_path
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.belongings import (
    NOT_FOUND,
    Belonging,
    belongings,
    labels_of,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import GPU

_GROUP = "kueue.x-k8s.io"
# what the quota is not about must not keep anything waiting, and Kueue admits nothing that its queue has no word on
_ENOUGH = {"cpu": "1000000", "memory": "1Pi"}


def check_queues(tenants: Sequence[Tenant]) -> None:
    """:raises UsageError: when queues with the quotas of *tenants* cannot be made."""
    quotas: dict[tuple[str, str], tuple[int, str]] = {}
    for tenant in tenants:
        if tenant.quota is None:
            if tenant.cohort:
                raise UsageError(f"the cohort {tenant.cohort} of a tenant needs a quota: only queues made here join")
            continue
        if not tenant.queue or tenant.quota < 0:
            raise UsageError(f"the quota {tenant.quota} of a tenant needs a queue, and cannot be negative")
        own = tenant.quota, tenant.cohort
        if quotas.setdefault((tenant.namespace, tenant.queue), own) != own:
            named = f"{tenant.queue} in {tenant.namespace}"
            raise UsageError(f"the queue {named} has several quotas or cohorts; give it one of each")


@asynccontextmanager
async def queues(client: ApiClient, submission: Submission, tenants: Sequence[Tenant]) -> AsyncIterator[None]:
    """The queues of *tenants* are there within; after it, those that have a quota are deleted, whatever happened.

    Kueue lets a ClusterQueue go a moment later, once nothing holds quota of it any more.

    :raises ClusterError: when one that has none is not there, or one cannot be made, or not removed although all went
        well.
    """
    named = list(dict.fromkeys(tenant for tenant in tenants if tenant.queue))
    if not named:
        yield
        return
    own = _Queues(group_path(await _version(client)), submission, tenants[0].namespace)
    for tenant in named:
        if tenant.quota is None:
            await _require(client, own, tenant)
    wanted = own.of([tenant for tenant in named if tenant.quota is not None])
    async with belongings(client, submission, wanted):
        yield


@dataclass(frozen=True, slots=True)
class _Queues:
    """What queues with a quota are made of; *namespace* is the submission's first, by which its cleanup finds them."""

    base: str
    submission: Submission
    namespace: str

    def local_queues(self, namespace: str) -> str:
        return f"{self.base}/namespaces/{namespace}/localqueues"

    def of(self, tenants: Sequence[Tenant]) -> Iterator[Belonging]:
        """A flavor for all, and for each tenant's queue a ClusterQueue with its quota and the LocalQueue."""
        if not tenants:
            return
        own = self.submission.identity
        yield self._thing("ResourceFlavor", f"{self.base}/resourceflavors", own, {})
        done: set[tuple[str, str]] = set()
        for number, tenant in enumerate(tenants):
            if (tenant.namespace, tenant.queue) in done:
                continue
            done.add((tenant.namespace, tenant.queue))
            resources = {**_ENOUGH, GPU: tenant.quota}
            quotas = [{"name": name, "nominalQuota": quota} for name, quota in resources.items()]
            group = {"coveredResources": list(resources), "flavors": [{"name": own, "resources": quotas}]}
            spec = {"namespaceSelector": {}, "resourceGroups": [group], **self._cohort(tenant)}
            yield self._thing("ClusterQueue", f"{self.base}/clusterqueues", f"{own}-{number}", spec)
            local = {"clusterQueue": f"{own}-{number}"}
            yield self._thing("LocalQueue", self.local_queues(tenant.namespace), tenant.queue, local)

    def _cohort(self, tenant: Tenant) -> dict[str, Any]:
        """What a queue lent is its own again as soon as it needs it."""
        if not tenant.cohort:
            return {}
        name = "cohort" if self.base.endswith("/v1beta1") else "cohortName"
        # named after the submission: queues of others must not lend us anything
        joined = f"{self.submission.identity}-{tenant.cohort}"
        return {name: joined, "preemption": {"reclaimWithinCohort": "Any"}}

    def _thing(self, kind: str, collection: str, name: str, spec: dict[str, Any]) -> Belonging:
        version = self.base.removeprefix("/apis/")
        metadata = {"name": name, "labels": labels_of(self.submission, self.namespace)}
        return Belonging(collection, {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec})


async def _version(client: ApiClient) -> str:
    found = await find(client, _GROUP, "LocalQueue")
    if found is None:
        raise ClusterError(
            f"a queue was named, but the cluster at {client.endpoint.server} has no Kueue: what waits in it would wait "
            "for ever; install Kueue (on a lab: perflab up --with kueue), or name no queue"
        )
    return found.api_version


async def _require(client: ApiClient, own: _Queues, tenant: Tenant) -> None:
    answer = await client.request("GET", f"{own.local_queues(tenant.namespace)}/{tenant.queue}")
    if answer.status == NOT_FOUND:
        raise ClusterError(
            f"there is no LocalQueue {tenant.queue} in namespace {tenant.namespace}: what waits in it would wait for "
            "ever; make it, or give it a quota as a tenant, for the test to make it"
        )
