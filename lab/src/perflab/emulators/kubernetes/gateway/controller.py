"""Follows the objects that route requests, and updates Envoy and the statuses when they change."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import own_labels
from perflab.emulators.framework.resources import PODS, Resource
from perflab.emulators.framework.store import Key, Store, key_of
from perflab.emulators.kubernetes.gateway import envoy, statuses
from perflab.emulators.kubernetes.gateway.endpoints import address_of
from perflab.emulators.kubernetes.gateway.routing import CONTROLLER, GATEWAY_GROUP, POOL_GROUP, Objects, Seen, is_ours
from perflab.files import documents
from perflab.processes.state import read_lab
from perflab.profiles import ENDPOINT_PICKER, MODELS

# there is one configuration, of everything
_ALL: Key = ("", "configuration")


class Gateways:
    """Level-triggered: each change recomputes everything, and only differences are written."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        """*folder* is the lab's."""
        lab = read_lab(folder.parent, folder.name)
        self._folder = folder / envoy.FOLDER
        # the port at which the servers of simulated pods listen
        self._port = lab.ports.get(MODELS, 0) if lab else 0
        self._picks = lab is not None and ENDPOINT_PICKER in lab.options.products

        def store(api_version: str, kind: str) -> Store:
            return cluster.store(Resource.of(api_version, kind))

        self._classes, self._gateways, self._routes = (
            store(f"{GATEWAY_GROUP}/v1", kind) for kind in ("GatewayClass", "Gateway", "HTTPRoute")
        )
        self._pools = store(f"{POOL_GROUP}/v1", "InferencePool")
        self._services, self._namespaces = store("v1", "Service"), store("v1", "Namespace")
        self._pods = cluster.store(PODS)
        self.controller = Controller("configuration", self._reconcile)
        self._read = (self._classes, self._gateways, self._routes, self._pools, self._services, self._namespaces)
        for each in self._read:
            each.listen(self._changed)
        self._pods.listen(self._pod_changed)

    def _changed(self, _old: Document | None, _new: Document | None) -> None:
        self.controller.enqueue(_ALL)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        """Most pods are irrelevant here."""
        if _matters(old) != _matters(new):
            self.controller.enqueue(_ALL)

    async def _reconcile(self, _key: Key) -> None:
        pods = [pod for pod in self._pods.values() if address_of(pod)]
        classes, gateways, routes, pools, services, namespaces = map(_by_key, self._read)
        seen = Seen(classes, gateways, routes, pools, services, namespaces, pods)
        # first Envoy: a status must be true when it is written; and clusters before the routes to them
        self._write(envoy.CLUSTERS_FILE, envoy.clusters(seen, self._port, picks=self._picks))
        self._write(envoy.ROUTES_FILE, envoy.routes(seen, picks=self._picks))
        for key, each in seen.classes.items():
            if each["spec"]["controllerName"] == CONTROLLER:
                await self._classes.patch_status(key, statuses.of_class(each))
        for key, each in seen.gateways.items():
            if is_ours(seen, each):
                await self._gateways.patch_status(key, statuses.of_gateway(seen, each))
        await _write_parents(self._routes, seen.routes, lambda route: statuses.of_route(seen, route))
        await _write_parents(self._pools, seen.pools, lambda pool: statuses.of_pool(seen, pool))

    def _write(self, name: str, document: Document) -> None:
        path = self._folder / name
        if documents.read_json(path) != document:
            documents.write_json(path, document)


def _matters(pod: Document | None) -> tuple[str, dict[str, str]] | None:
    address = address_of(pod)
    return (address, own_labels(pod)) if pod is not None and address else None


def _by_key(store: Store) -> Objects:
    return {key_of(each): each for each in store.values()}


async def _write_parents(store: Store, found: Objects, status: Callable[[Document], Document]) -> None:
    """Write the parents of each, if there are any or were."""
    for key, each in found.items():
        written = status(each)
        if written["parents"] or (each.get("status") or {}).get("parents"):
            await store.patch_status(key, written)
