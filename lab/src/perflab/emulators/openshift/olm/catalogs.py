"""CatalogSources: the pod that serves each, whether it answers, and the packages that it has."""

from __future__ import annotations

import math

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, is_true, now_s
from perflab.emulators.framework.resources import CATALOG_SOURCES, PACKAGE_MANIFESTS, PODS, SERVICES
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.openshift.olm.manifests import package_manifest
from perflab.emulators.openshift.olm.packages import packages

CATALOG_LABEL = "olm.catalogSource"
READY = "READY"
_PORT = 50051


class Catalogs:
    """Brings CatalogSources to READY."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's CatalogSources, their pods and their packages."""
        self._cluster = cluster
        self._catalogs = cluster.store(CATALOG_SOURCES)
        self._pods = cluster.store(PODS, CATALOG_LABEL)
        self._services = cluster.store(SERVICES, CATALOG_LABEL)
        self._manifests = cluster.store(PACKAGE_MANIFESTS)
        self.controller = Controller("CatalogSource", self._reconcile)
        self.controller.follow(self._catalogs)
        self._pods.listen(self._pod_changed)
        cluster.steps.listen(self.controller.enqueue_all)

    def _pod_changed(self, old: Document | None, new: Document | None) -> None:
        metadata = (new or old or {})["metadata"]
        self.controller.enqueue((metadata["namespace"], metadata["labels"][CATALOG_LABEL]))

    async def _reconcile(self, key: Key) -> float | None:
        catalog = self._catalogs.get(key)
        if catalog is None or is_leaving(catalog):
            return None
        if _state(catalog) is None:
            await self._serve(catalog)
        wait_s = self._wait_s(catalog)
        if wait_s > 0:
            await self._patch_status(catalog, "CONNECTING")
            return wait_s
        if self._cluster.steps.failure("catalog", catalog):
            await self._patch_status(catalog, "TRANSIENT_FAILURE")
            return None
        await self._offer(catalog)
        await self._patch_status(catalog, READY)
        return None

    def _wait_s(self, catalog: Document) -> float:
        """Seconds until OLM is connected: none when it is already."""
        if not self._answers(catalog):
            return math.inf
        return 0.0 if is_ready(catalog) else self._cluster.steps.wait_s("catalog", catalog)

    def _answers(self, catalog: Document) -> bool:
        pods = list(self._pods.owned_by(catalog["metadata"]["uid"]))
        return any(is_true(pod, "Ready") and not is_leaving(pod) for pod in pods)

    async def _serve(self, catalog: Document) -> None:
        await self._services.create(
            {
                "metadata": self._part(catalog, catalog["metadata"]["name"]),
                "spec": {
                    "selector": {CATALOG_LABEL: catalog["metadata"]["name"]},
                    "ports": [{"name": "grpc", "port": _PORT}],
                },
            }
        )
        # the name says for which catalog it is: made twice, it is one
        name = f"{catalog['metadata']['name']}-{catalog['metadata']['uid'][:5]}"
        image = (catalog.get("spec") or {}).get("image") or "none"
        container = {"name": "registry-server", "image": image, "ports": [{"name": "grpc", "containerPort": _PORT}]}
        await self._pods.create(
            {
                "metadata": self._part(catalog, name),
                "spec": {"containers": [container], "nodeSelector": {"kubernetes.io/os": "linux"}},
            }
        )

    def _part(self, catalog: Document, name: str) -> Document:
        metadata = catalog["metadata"]
        return {
            "name": name,
            "namespace": metadata["namespace"],
            "labels": {CATALOG_LABEL: metadata["name"], "olm.managed": "true"},
            "annotations": self._cluster.mark(),
            "ownerReferences": [owner_reference(CATALOG_SOURCES, catalog)],
        }

    async def _offer(self, catalog: Document) -> None:
        for package in packages():
            manifest = package_manifest(package, catalog)
            if package.is_offered_by(catalog) and self._manifests.get(key_of(manifest)) is None:
                manifest["metadata"]["annotations"] = self._cluster.mark()
                manifest["metadata"]["ownerReferences"] = [owner_reference(CATALOG_SOURCES, catalog)]
                status = manifest.pop("status")
                await self._manifests.create(manifest)
                await self._manifests.patch_status(key_of(manifest), status)

    async def _patch_status(self, catalog: Document, state: str) -> None:
        if _state(catalog) == state:
            return
        metadata = catalog["metadata"]
        service = f"{metadata['name']}.{metadata['namespace']}.svc"
        await self._catalogs.patch_status(
            key_of(catalog),
            {
                "connectionState": {
                    "address": f"{service}:{_PORT}",
                    "lastConnect": now_s(),
                    "lastObservedState": state,
                },
                "registryService": {
                    "createdAt": metadata["creationTimestamp"],
                    "port": str(_PORT),
                    "protocol": "grpc",
                    "serviceName": metadata["name"],
                    "serviceNamespace": metadata["namespace"],
                },
            },
        )


def _state(catalog: Document) -> str | None:
    state: str | None = ((catalog.get("status") or {}).get("connectionState") or {}).get("lastObservedState")
    return state


def is_ready(catalog: Document) -> bool:
    """Whether OLM reads the catalog."""
    return _state(catalog) == READY
