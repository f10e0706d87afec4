"""The queues of a submission at its cluster, and at worker clusters to which MultiKueue dispatches the workloads."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import Interrupted, PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint, load_endpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind, group_path
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.load import Load
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.surroundings import make_namespace
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.multikueue import (
    dispatching,
    quotas_of_manager,
    remove_dispatched,
    wait_active,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.priorities import priority_classes
from ansible_collections.psap.perf.plugins.module_utils.scale_test.submitting.queues import kueue_version, queues
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.assortment import (
    AssortedWorkloads,
    Assortment,
)


@dataclass(frozen=True, slots=True)
class WorkerClusters:
    """Worker clusters by name; none if all workloads run at the submission's cluster."""

    endpoints: Mapping[str, ApiEndpoint]

    @classmethod
    def of(cls, load: Load, manager: ApiEndpoint) -> WorkerClusters:
        """Return the clusters that a load names.

        Raises:
            PerfError: If a kubeconfig cannot be read, or two names stand for one cluster.
        """
        endpoints: dict[str, ApiEndpoint] = {}
        servers = {manager.server: "the cluster of the test itself"}
        for name, kubeconfig in load.worker_clusters.items():
            endpoint = load_endpoint(kubeconfig)
            if endpoint.server in servers:
                raise UsageError(f"multikueue_clusters: the cluster {name} is {servers[endpoint.server]}")
            servers[endpoint.server] = f"also the cluster {name}"
            endpoints[name] = endpoint
        return cls(endpoints)

    def check(self, workloads: AssortedWorkloads) -> None:
        """Check that these workloads can run at other clusters.

        Raises:
            UsageError: If they need objects that only the submission's cluster has.
        """
        if self.endpoints and any(each.runtime for each in workloads.every):
            raise UsageError("multikueue_clusters: the runtimes of TrainJobs are not created at worker clusters")

    @asynccontextmanager
    async def queues(
        self,
        client: ApiClient,
        workloads: AssortedWorkloads,
        assortment: Assortment,
        resources: Sequence[ResourceKind],
        levels: Sequence[str],
        interrupted: Callable[[], bool],
    ) -> AsyncIterator[None]:
        """Create the queues at all clusters, and delete them after the block, also after an error.

        After the block, no workload of the submission is left at a worker cluster.

        Args:
            client: The submission's cluster, which is the manager of the worker clusters.
            resources: The kinds of the workloads.
            levels: Labels of the levels of a topology in which Kueue places pods.

        Raises:
            PerfError: If objects cannot be created or deleted, or a cluster does not accept workloads.
        """
        submission, tenants = workloads.submission, assortment.tenants
        if not self.endpoints:
            async with queues(client, submission, tenants, resources, levels):
                yield
            return

        def check() -> None:
            if interrupted():
                raise Interrupted("interrupted: the run was asked to stop")

        first = assortment.namespaces[0]
        async with AsyncExitStack() as stack:
            workers: dict[str, ApiClient] = {}
            for name, endpoint in self.endpoints.items():
                worker = workers[name] = await stack.enter_async_context(ApiClient(endpoint))
                for namespace in assortment.namespaces:
                    await make_namespace(worker, namespace)
                classes = priority_classes(worker, submission, first, assortment.priorities)
                await stack.enter_async_context(classes)
                await stack.enter_async_context(queues(worker, submission, tenants, resources))
            dispatch = dispatching(client, submission, first, self.endpoints, check)
            name = await stack.enter_async_context(dispatch)
            sums = quotas_of_manager(tenants, len(workers))
            await stack.enter_async_context(queues(client, submission, sums, resources, admission_check=name))
            await _wait_accepting(client, ((each.namespace, each.queue) for each in tenants), check)
            try:
                yield
            except BaseException:
                # report the first error; the cleanup deletes what is left
                with suppress(PerfError):
                    await remove_dispatched(client, workers, submission, assortment.namespaces, resources)
                raise
            await remove_dispatched(client, workers, submission, assortment.namespaces, resources)


async def _wait_accepting(
    client: ApiClient, local_queues: Iterable[tuple[str, str]], check: Callable[[], None]
) -> None:
    """Wait until Kueue knows the queues: only then does its webhook leave Jobs to MultiKueue (`managedBy`)."""
    base = group_path(await kueue_version(client))
    for namespace, queue in dict.fromkeys(local_queues):
        path = f"{base}/namespaces/{namespace}/localqueues/{queue}"
        await wait_active(client, path, f"the LocalQueue {queue} in namespace {namespace}", check)
