"""The folders of a real node's volumes: where they are, and their creation and deletion."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from perflab.cluster import real_node
from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.resources import Resource
from perflab.emulators.framework.store import Key

# every user of a pod writes to it, as to a volume of the local path provisioner
_MODE = 0o777


class Folders:
    """Creates the folder of each volume of the node, and deletes folders without a volume."""

    def __init__(self, cluster: Cluster, lab: Path) -> None:
        """*lab* is the folder of the lab."""
        self._root = real_node.volumes_folder(lab)
        self._volumes = cluster.store(Resource.of("v1", "PersistentVolume"))
        self.controller = Controller("folders", self._reconcile)
        self.controller.follow(self._volumes)
        self._volumes.listen(self._removed)
        # of volumes that were deleted while the emulators did not run
        for left in self._root.glob("*"):
            self.controller.enqueue(("", left.name))

    def _removed(self, old: Document | None, new: Document | None) -> None:
        if old is not None and new is None:
            self.controller.enqueue(("", old["metadata"]["name"]))

    async def _reconcile(self, key: Key) -> None:
        volume, folder = self._volumes.get(key), self._root / key[1]
        if volume is None:
            if folder.exists():
                await asyncio.to_thread(shutil.rmtree, folder)
        elif _path_of(volume) == str(folder) and not folder.exists():
            folder.mkdir(parents=True)
            folder.chmod(_MODE)


def _path_of(volume: Document) -> str:
    return str((volume["spec"].get("local") or {}).get("path", ""))


def is_real(node: Any) -> bool:
    """Return whether this is the name of the real node."""
    return bool(node == real_node.NAME)


def volume_folder(name: str) -> str:
    """Return the folder of a volume of the real node; emulators run in the lab's folder."""
    return str(real_node.volumes_folder(Path.cwd()) / name)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {each.__name__: each for each in (is_real, volume_folder)}
