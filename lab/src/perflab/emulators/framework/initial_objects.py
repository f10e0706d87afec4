"""The initial objects of a product in a cluster: a file of the emulator's package."""

from __future__ import annotations

from pathlib import Path

from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.resources import Resource
from perflab.emulators.framework.store import Key
from perflab.files.documents import read_documents


class InitialObjects:
    """Creates them once, in the order of the file, when the emulator starts; objects deleted by users stay deleted."""

    def __init__(self, cluster: Cluster, path: Path) -> None:
        """*path* is a file of YAML documents."""
        self._cluster = cluster
        self._path = path
        self.controller = Controller("initial objects", self._create)
        self.controller.enqueue(("", path.name))

    async def _create(self, _key: Key) -> float | None:
        for document in read_documents(self._path):
            metadata = document["metadata"]
            metadata["annotations"] = {**metadata.get("annotations", {}), **self._cluster.mark()}
            resource = Resource.of(document["apiVersion"], document["kind"])
            namespace = metadata.get("namespace", "")
            created = await self._cluster.api.create(resource.path(namespace), document)
            if created is not None and "status" in document and "status" not in created:
                # a kind with a status subresource ignores it at creation
                path = f"{resource.path(namespace, metadata['name'])}/status"
                await self._cluster.api.patch(path, {"status": document["status"]})
        return None
