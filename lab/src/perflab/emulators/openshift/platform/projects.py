"""A Project for each Namespace, which shows it and is deleted with it, and the Namespace with its Project."""

from __future__ import annotations

import zlib

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import EMULATED, Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, own_annotations
from perflab.emulators.framework.resources import NAMESPACES, PROJECTS
from perflab.emulators.framework.store import Key, key_of

# who deletes a Project waits until its Namespace is gone, as with OpenShift's own API
_FINALIZER = "lab.psap.perf/namespace"
_SECURITY = "openshift.io/sa.scc"
_FIRST_USER, _USERS_EACH, _RANGES = 1_000_000_000, 10_000, 100_000


class Projects:
    """Keeps both kinds in step; the Namespace is what counts, except that either can be deleted."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's Namespaces and Projects."""
        self._cluster = cluster
        self._namespaces = cluster.store(NAMESPACES)
        self._projects = cluster.store(PROJECTS)
        self.controller = Controller("project", self._reconcile)
        self._namespaces.listen(self._changed)
        self._projects.listen(self._changed)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        for document in (old, new):
            if document is not None:
                self.controller.enqueue(key_of(document))

    async def _reconcile(self, key: Key) -> None:
        namespace, project = self._namespaces.get(key), self._projects.get(key)
        if namespace is None:
            if project is not None:
                await self._remove(key, project)
            return
        is_going = is_leaving(namespace)
        if project is None:
            if not is_going:
                await self._projects.create({**_shown(namespace, self._cluster.mark()), "status": {"phase": "Active"}})
        elif is_leaving(project) and not is_going:
            await self._namespaces.delete(key)
        else:
            await self._show(key, namespace, project)
        if not is_going:
            await self._assign_users(key, namespace)

    async def _remove(self, key: Key, project: Document) -> None:
        if not is_leaving(project):
            await self._projects.delete(key)
        await self._projects.patch(key, {"metadata": {"finalizers": None}})

    async def _show(self, key: Key, namespace: Document, project: Document) -> None:
        wanted = _shown(namespace, self._cluster.mark())["metadata"]
        change = {
            part: _difference(project["metadata"].get(part) or {}, wanted[part]) for part in ("labels", "annotations")
        }
        phase = namespace["status"]["phase"]
        if any(change.values()) or project["status"]["phase"] != phase:
            await self._projects.patch(key, {"metadata": change, "status": {"phase": phase}})

    async def _assign_users(self, key: Key, namespace: Document) -> None:
        present = own_annotations(namespace)
        missing = {name: value for name, value in _security(key[1]).items() if name not in present}
        if missing:
            await self._namespaces.patch(key, {"metadata": {"annotations": missing}})


def _shown(namespace: Document, mark: dict[str, str]) -> Document:
    metadata = namespace["metadata"]
    return {
        "metadata": {
            "name": metadata["name"],
            "labels": metadata.get("labels") or {},
            "annotations": {**(metadata.get("annotations") or {}), **mark},
            "finalizers": [_FINALIZER],
        },
        "spec": {"finalizers": ["kubernetes"]},
    }


def _difference(present: dict[str, str], wanted: dict[str, str]) -> dict[str, str | None]:
    gone = dict.fromkeys(present.keys() - wanted.keys() - {EMULATED})
    return {**gone, **{name: value for name, value in wanted.items() if present.get(name) != value}}


def _security(name: str) -> dict[str, str]:
    # any range will do, as long as a namespace keeps its own
    number = zlib.crc32(name.encode()) % _RANGES
    users = f"{_FIRST_USER + number * _USERS_EACH}/{_USERS_EACH}"
    low, high = sorted((number % 1024, (number // 1024 + number + 1) % 1024))
    return {
        f"{_SECURITY}.mcs": f"s0:c{high},c{low}",
        f"{_SECURITY}.supplemental-groups": users,
        f"{_SECURITY}.uid-range": users,
    }
