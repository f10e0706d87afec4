"""Copies of ClusterServiceVersions in all namespaces, where an operator watches all of them."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, own_labels, phase_of
from perflab.emulators.framework.resources import CLUSTER_SERVICE_VERSIONS, NAMESPACES
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.openshift.olm.groups import EVERYWHERE, Groups, targets
from perflab.emulators.openshift.olm.resolving import COPIED_FROM

_KEPT_ANNOTATIONS = ("olm.operatorGroup", "olm.operatorNamespace")


class Copies:
    """Keeps the copies of each version as they shall be."""

    def __init__(self, cluster: Cluster, groups: Groups) -> None:
        """Over the cluster's versions and namespaces."""
        self._cluster = cluster
        self._groups = groups
        self._versions = cluster.store(CLUSTER_SERVICE_VERSIONS)
        self._namespaces = cluster.store(NAMESPACES)
        self.controller = Controller("copies", self._reconcile)
        self._versions.listen(self._version_changed)
        self._namespaces.listen(self._namespace_changed)

    def _version_changed(self, old: Document | None, new: Document | None) -> None:
        version = new or old or {}
        origin = _origin(version) or version["metadata"]["namespace"]
        self.controller.enqueue((origin, version["metadata"]["name"]))

    def _namespace_changed(self, old: Document | None, new: Document | None) -> None:
        if old is None and new is not None:
            for version in self._versions.values():
                if not _origin(version):
                    self.controller.enqueue(key_of(version))

    async def _reconcile(self, key: Key) -> float | None:
        original = self._versions.get(key)
        if original is None or is_leaving(original):
            await self._remove(key)
        elif phase_of(original) == "Succeeded" and self._is_everywhere(key[0]):
            await self._spread(original)
        return None

    def _is_everywhere(self, namespace: str) -> bool:
        groups = self._groups.within(namespace)
        return len(groups) == 1 and targets(groups[0]) == [EVERYWHERE]

    async def _remove(self, key: Key) -> None:
        for version in self._versions.values():
            if version["metadata"]["name"] == key[1] and _origin(version) == key[0]:
                await self._versions.delete(key_of(version))

    async def _spread(self, original: Document) -> None:
        metadata = original["metadata"]
        for namespace in self._namespaces.values():
            name = namespace["metadata"]["name"]
            leaving = phase_of(namespace) == "Terminating"
            if not leaving and self._versions.get((name, metadata["name"])) is None:
                await self._copy(original, name)

    async def _copy(self, original: Document, namespace: str) -> None:
        metadata = original["metadata"]
        annotations = {name: metadata["annotations"][name] for name in _KEPT_ANNOTATIONS}
        copy = {
            "metadata": {
                "name": metadata["name"],
                "namespace": namespace,
                "labels": {**metadata["labels"], COPIED_FROM: metadata["namespace"]},
                "annotations": {**annotations, **self._cluster.mark()},
            },
            "spec": original["spec"],
        }
        if await self._versions.create(copy) is not None:
            message = f"The operator is running in {metadata['namespace']} but is managing this namespace"
            status = {"phase": "Succeeded", "reason": "Copied", "message": message}
            await self._versions.patch_status((namespace, metadata["name"]), status)


def _origin(version: Document) -> str | None:
    origin: str | None = own_labels(version).get(COPIED_FROM)
    return origin
