"""Queues of Kueue that tenants name: those with a quota are created for a submission, others must exist."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.gpu_supply import GPU
from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import group_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.base.labels import Submission
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import (
    ResourceKind,
    find,
    group_path,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.temporary_objects import (
    NOT_FOUND,
    TemporaryObject,
    labels_of,
    temporary_objects,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import Tenant

_GROUP = "kueue.x-k8s.io"
# Kueue admits only resources that its queue lists; those without a wanted quota must not delay workloads
_ENOUGH = {"cpu": "1000000", "memory": "1Pi"}

WEBHOOKS = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations"

# a flavor with a topology must select its nodes
_EVERY_NODE = {"kubernetes.io/os": "linux"}


def check_queues(tenants: Sequence[Tenant]) -> None:
    """Check the quotas and cohorts of *tenants*.

    Raises:
        UsageError: If queues with these quotas cannot be created.
    """
    quotas: dict[tuple[str, str], tuple[int, str]] = {}
    for tenant in tenants:
        if tenant.quota is None:
            if tenant.cohort:
                raise UsageError(f"the cohort {tenant.cohort} of a tenant needs a quota: only created queues join one")
            continue
        if not tenant.queue or tenant.quota < 0:
            raise UsageError(f"the quota {tenant.quota} of a tenant needs a queue, and cannot be negative")
        own = tenant.quota, tenant.cohort
        if quotas.setdefault((tenant.namespace, tenant.queue), own) != own:
            queue = f"{tenant.queue} in {tenant.namespace}"
            raise UsageError(f"the queue {queue} has several quotas or cohorts; set one of each")


def check_quotas(tenants: Sequence[Tenant]) -> None:
    """Check the quotas of *tenants* for a cluster that offers GPUs only as devices.

    Raises:
        UsageError: If there is one, which Kueue would not apply to claims.
    """
    for tenant in tenants:
        if tenant.quota is not None:
            raise UsageError(
                f"the quota of the queue {tenant.queue} limits {GPU}, which no node of the cluster offers: GPUs are "
                "claimed as devices; use a queue that exists, or set no quota"
            )


@asynccontextmanager
async def queues(
    client: ApiClient,
    submission: Submission,
    tenants: Sequence[Tenant],
    resources: Sequence[ResourceKind],
    levels: Sequence[str] = (),
    admission_check: str = "",
) -> AsyncIterator[None]:
    """Create the queues of *tenants* with a quota, and delete them after the block, also after an error.

    Kueue deletes a ClusterQueue a moment later, when no workload uses its quota any more.

    Args:
        resources: The kinds of the workloads.
        levels: Labels of the levels of a topology in which Kueue places pods; none for no placement.
        admission_check: Name of an AdmissionCheck of the created queues, empty for none.

    Raises:
        ClusterError: If Kueue does not queue workloads of a kind, a queue without a quota does not exist, or one cannot
            be created, or not deleted after a block without an error.
    """
    named = list(dict.fromkeys(tenant for tenant in tenants if tenant.queue))
    if not named:
        yield
        return
    await _require_managed(client, resources)
    base = group_path(await kueue_version(client))
    own = _Queues(base, submission, tenants[0].namespace, levels, admission_check)
    for tenant in named:
        if tenant.quota is None:
            await _require(client, own, tenant)
    wanted = own.of([tenant for tenant in named if tenant.quota is not None])
    async with temporary_objects(client, wanted):
        yield


@dataclass(frozen=True, slots=True)
class _Queues:
    """The objects of queues with a quota; the cleanup finds them by *namespace*, the submission's first."""

    base: str
    submission: Submission
    namespace: str
    levels: Sequence[str]
    admission_check: str

    def local_queues(self, namespace: str) -> str:
        return f"{self.base}/namespaces/{namespace}/localqueues"

    def of(self, tenants: Sequence[Tenant]) -> Iterator[TemporaryObject]:
        """Yield a flavor for all, with its topology, and for each tenant's queue a ClusterQueue and a LocalQueue."""
        if not tenants:
            return
        own, labels = self.submission.identity, labels_of(self.submission, self.namespace)
        create = TemporaryObject.with_spec
        placed = {}
        if self.levels:
            levels = [{"nodeLabel": label} for label in self.levels]
            yield create(f"{self.base}/topologies", "Topology", own, labels, {"levels": levels})
            placed = {"nodeLabels": _EVERY_NODE, "topologyName": own}
        yield create(f"{self.base}/resourceflavors", "ResourceFlavor", own, labels, placed)
        done: set[tuple[str, str]] = set()
        for number, tenant in enumerate(tenants):
            if (tenant.namespace, tenant.queue) in done:
                continue
            done.add((tenant.namespace, tenant.queue))
            resources = {**_ENOUGH, GPU: tenant.quota}
            quotas = [{"name": name, "nominalQuota": quota} for name, quota in resources.items()]
            group = {"coveredResources": list(resources), "flavors": [{"name": own, "resources": quotas}]}
            spec = {"namespaceSelector": {}, "resourceGroups": [group], **self._cohort(tenant)}
            if self.admission_check:
                spec["admissionChecksStrategy"] = {"admissionChecks": [{"name": self.admission_check}]}
            yield create(f"{self.base}/clusterqueues", "ClusterQueue", f"{own}-{number}", labels, spec)
            local = {"clusterQueue": f"{own}-{number}"}
            yield create(self.local_queues(tenant.namespace), "LocalQueue", tenant.queue, labels, local)

    def _cohort(self, tenant: Tenant) -> dict[str, Any]:
        """Return the fields of a cohort, in which a queue can reclaim lent quota immediately."""
        if not tenant.cohort:
            return {}
        name = "cohort" if self.base.endswith("/v1beta1") else "cohortName"
        # the submission's name keeps queues of other submissions from lending quota
        joined = f"{self.submission.identity}-{tenant.cohort}"
        return {name: joined, "preemption": {"reclaimWithinCohort": "Any"}}


async def kueue_version(client: ApiClient) -> str:
    """Return the preferred API version of Kueue's queues.

    Raises:
        ClusterError: If the cluster has no Kueue.
    """
    found = await find(client, _GROUP, "LocalQueue")
    if found is None:
        raise ClusterError(
            f"the workloads need a queue, but the cluster at {client.endpoint.server} has no Kueue, so they would wait "
            "indefinitely; install Kueue (on a lab: perflab up --with kueue), or set no queue"
        )
    return found.api_version


async def kueue_webhooks(client: ApiClient) -> list[dict[str, Any]]:
    """Return Kueue's mutating webhooks; none if they cannot be read."""
    answer = await client.request("GET", WEBHOOKS)
    return [
        webhook
        for configuration in answer.document().get("items") or ()
        if "kueue" in configuration["metadata"]["name"]
        for webhook in configuration.get("webhooks") or ()
    ]


async def _require_managed(client: ApiClient, resources: Sequence[ResourceKind]) -> None:
    """Check that Kueue has a webhook for each kind; nothing is checked if its webhooks cannot be read.

    Kueue suspends or gates workloads of the kinds that it manages by these webhooks. Workloads of others start without
    a queue.
    """
    rules = [rule for webhook in await kueue_webhooks(client) for rule in webhook.get("rules") or ()]
    for resource in resources if rules else ():
        if not any(_covers(rule, resource) for rule in rules):
            raise ClusterError(
                f"Kueue at {client.endpoint.server} does not queue workloads of kind {resource.kind} "
                f"({resource.api_version}), so they would start without quota; enable its integration in Kueue's "
                "configuration, choose another kind, or set no queue"
            )


def _covers(rule: Mapping[str, Any], resource: ResourceKind) -> bool:
    groups, plurals = rule.get("apiGroups") or (), rule.get("resources") or ()
    return group_of(resource.api_version) in groups and resource.plural in plurals


async def _require(client: ApiClient, own: _Queues, tenant: Tenant) -> None:
    answer = await client.request("GET", f"{own.local_queues(tenant.namespace)}/{tenant.queue}")
    if answer.status == NOT_FOUND:
        raise ClusterError(
            f"LocalQueue {tenant.queue} in namespace {tenant.namespace} does not exist, so workloads would wait "
            "indefinitely; create it, or set a quota for the tenant so that the test creates it"
        )
