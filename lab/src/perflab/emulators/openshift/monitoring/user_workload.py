"""The monitoring of users' workloads: there while the cluster's configuration asks for it."""

from __future__ import annotations

import math

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.resources import CONFIG_MAPS, DEPLOYMENTS, STATEFUL_SETS
from perflab.emulators.framework.store import Key
from perflab.emulators.openshift.monitoring import workloads
from perflab.emulators.openshift.monitoring.settings import (
    CLUSTER,
    CLUSTER_CONFIG,
    USER_WORKLOAD,
    USER_WORKLOAD_CONFIG,
    is_enabled,
    user_workload,
)

_STEP = "user_workload"
_KEY = (CLUSTER, CLUSTER_CONFIG)


class UserWorkloadMonitoring:
    """Makes, changes and removes its Deployment and StatefulSets."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the two ConfigMaps that say how it is to be."""
        self._cluster = cluster
        self._config = cluster.store(CONFIG_MAPS, name=CLUSTER_CONFIG)
        self._own_config = cluster.store(CONFIG_MAPS, name=USER_WORKLOAD_CONFIG)
        self.controller = Controller("user workload monitoring", self._reconcile)
        for store in (self._config, self._own_config):
            store.listen(lambda _old, _new: self.controller.enqueue(_KEY))
        cluster.steps.listen(lambda: self.controller.enqueue(_KEY))

    async def _reconcile(self, key: Key) -> float | None:
        config = self._config.get(key)
        if config is None or not is_enabled(config):
            await self._remove()
            return None
        wait_s = self._cluster.steps.wait_s(_STEP, config)
        if wait_s > 0:
            return None if math.isinf(wait_s) else wait_s
        await self._make(config)
        return None

    async def _make(self, config: Document) -> None:
        settings = user_workload(self._own_config.get((USER_WORKLOAD, USER_WORKLOAD_CONFIG)))
        fails = self._cluster.steps.failure(_STEP, config) is not None
        for resource, document in workloads.documents(settings, fails):
            document["metadata"]["annotations"] = self._cluster.mark()
            path = resource.path(USER_WORKLOAD)
            if await self._cluster.api.create(path, document) is None:
                # as it is already, it is no change for Kubernetes, and no new pods
                await self._cluster.api.patch_present(f"{path}/{document['metadata']['name']}", document)

    async def _remove(self) -> None:
        for resource, names in ((DEPLOYMENTS, workloads.DEPLOYED), (STATEFUL_SETS, workloads.STATEFUL)):
            for name in names:
                await self._cluster.api.delete(resource.path(USER_WORKLOAD, name))
