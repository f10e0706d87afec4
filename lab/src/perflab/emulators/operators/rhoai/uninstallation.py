"""The end of the product, when a ConfigMap beside the operator asks for it by its label."""

from __future__ import annotations

import math

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving
from perflab.emulators.framework.resources import (
    CLUSTER_SERVICE_VERSIONS,
    CONFIG_MAPS,
    DATA_SCIENCE_CLUSTERS,
    DSC_INITIALIZATIONS,
    NAMESPACES,
    SUBSCRIPTIONS,
)
from perflab.emulators.framework.store import Key, Store, key_of
from perflab.emulators.operators.rhoai.platform import DELETE, GENERATED, Platform, Product

_STEP = "uninstall"


class Uninstallation:
    """Deletes one after the other what the operator made, and at last the operator."""

    def __init__(self, cluster: Cluster, platform: Platform) -> None:
        """Over the ConfigMaps that ask, and what is to go."""
        self._cluster = cluster
        self._platform = platform
        self._requests = cluster.store(CONFIG_MAPS, DELETE)
        generated = cluster.store(NAMESPACES, f"{GENERATED}=true")
        # each is begun when the ones before it are gone
        self._order = [cluster.store(DATA_SCIENCE_CLUSTERS), cluster.store(DSC_INITIALIZATIONS), generated]
        self.controller = Controller("uninstallation", self._reconcile)
        self.controller.follow(self._requests)
        for store in self._order:
            store.listen(self.controller.enqueue_all)
        platform.listen(self.controller.enqueue_all)
        cluster.steps.listen(self.controller.enqueue_all)

    async def _reconcile(self, key: Key) -> float | None:
        request, product = self._requests.get(key), self._platform.product
        if request is None or product is None or not self._platform.asked_to_end():
            return None
        wait_s = self._cluster.steps.wait_s(_STEP, request)
        if wait_s > 0 or self._cluster.steps.failure(_STEP, request):
            return wait_s if 0 < wait_s < math.inf else None
        for store in self._order:
            if store.values():
                await _delete_all(store)
                return None
        await self._delete_operator(product)
        return None

    async def _delete_operator(self, product: Product) -> None:
        namespace = self._platform.namespace
        for resource in (SUBSCRIPTIONS, CLUSTER_SERVICE_VERSIONS):
            for document in await self._cluster.api.list(resource.path(namespace)):
                if _is_of(document, product):
                    await self._cluster.api.delete(resource.path(namespace, document["metadata"]["name"]))


async def _delete_all(store: Store) -> None:
    for document in store.values():
        if not is_leaving(document):
            await store.delete(key_of(document))


def _is_of(document: Document, product: Product) -> bool:
    name = str(document["metadata"]["name"])
    return document["spec"].get("name") == product.package or name.startswith(f"{product.package}.")
