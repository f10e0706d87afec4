"""Puts the objects of a component where they shall be, and takes them away."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster, owner_reference
from perflab.emulators.framework.documents import is_leaving
from perflab.emulators.framework.resources import (
    CUSTOM_RESOURCE_DEFINITIONS,
    DATA_SCIENCE_CLUSTERS,
    DEPLOYMENTS,
    IMAGE_STREAMS,
)
from perflab.emulators.framework.store import Store, key_of
from perflab.emulators.operators.rhoai.components import (
    PART_OF,
    Component,
    definition,
    deployment,
    image_of,
    image_stream,
    needs_mesh,
)

_STEP = "component"
_MESH = "servicemeshcontrolplanes.maistra.io"
# what is missing may come: the operator looks again
_AGAIN_S = 1.0


@dataclass(frozen=True, slots=True)
class State:
    """How far a component is; *again_s* is when to look again, infinite when only a change can make a difference."""

    ready: bool
    message: str = ""
    failed: bool = False
    again_s: float = math.inf


class Installer:
    """The objects of all components."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the Deployments and image streams that belong to components."""
        self._cluster = cluster
        self._deployments = cluster.store(DEPLOYMENTS, PART_OF)
        self._streams = cluster.store(IMAGE_STREAMS, PART_OF)
        # how often a component was taken away: each time that it comes takes its time
        self._removals: Counter[str] = Counter()

    def listen(self, callback: Callable[[], None]) -> None:
        """Call *callback* when a Deployment of a component changes."""
        self._deployments.listen(lambda _old, _new: callback())

    def is_empty(self) -> bool:
        """Whether no component has a Deployment."""
        return not self._deployments.values()

    async def install(self, owner: Document, component: Component, namespace: str) -> State:
        """Make what the component lacks, and set back what somebody changed."""
        if any(self._deployments.get((namespace, name)) is None for name in component.deployments):
            waiting = self._step(owner, component)
            if waiting is not None:
                return waiting
        if needs_mesh(owner, component.name) and not await self._cluster.api.exists(
            CUSTOM_RESOURCE_DEFINITIONS.path(name=_MESH)
        ):
            message = "the operator servicemeshoperator is missing; spec.components.kserve.serving needs it"
            return State(False, message, failed=True, again_s=_AGAIN_S)
        await self._make_kinds(component)
        for name in component.images:
            await self._make(self._streams, image_stream(component, name), owner, namespace)
        for name in component.deployments:
            await self._make(self._deployments, deployment(component, name), owner, namespace)
            await self._set_back(namespace, name)
        return self._progress(component, namespace)

    def _step(self, owner: Document, component: Component) -> State | None:
        """What keeps the component from being deployed, by what is set for it; None for nothing."""
        uid = f"{owner['metadata']['uid']}/{component.name}/{self._removals[component.name]}"
        about = {"metadata": {"name": component.name, "uid": uid}}
        wait_s = self._cluster.steps.wait_s(_STEP, about)
        if wait_s > 0:
            return State(False, "The component is being deployed", again_s=wait_s)
        failure = self._cluster.steps.failure(_STEP, about)
        return State(False, failure, failed=True) if failure else None

    async def remove(self, component: Component) -> None:
        """Delete what belongs to the component; its kinds stay, as their objects are the user's."""
        for store in (self._deployments, self._streams):
            for document in store.values():
                if document["metadata"]["labels"][PART_OF] == component.name:
                    await store.delete(key_of(document))
                    self._removals[component.name] += store is self._deployments

    async def _make_kinds(self, component: Component) -> None:
        for kind in component.kinds:
            body = definition(component, kind)
            body["metadata"]["annotations"] = self._cluster.mark()
            if not await self._cluster.api.exists(CUSTOM_RESOURCE_DEFINITIONS.path(name=kind.name)):
                await self._cluster.api.create(CUSTOM_RESOURCE_DEFINITIONS.path(), body)

    async def _make(self, store: Store, body: Document, owner: Document, namespace: str) -> None:
        if store.get((namespace, body["metadata"]["name"])) is None:
            of_it = {
                "namespace": namespace,
                "annotations": self._cluster.mark(),
                "ownerReferences": [owner_reference(DATA_SCIENCE_CLUSTERS, owner)],
            }
            created = await store.create({**body, "metadata": {**body["metadata"], **of_it}})
            if created is not None and "status" in body:
                await store.patch_status(key_of(created), body["status"])

    async def _set_back(self, namespace: str, name: str) -> None:
        found = self._deployments.get((namespace, name))
        if found is None:
            return
        container = found["spec"]["template"]["spec"]["containers"][0]
        if container["image"] != image_of(name) or not found["spec"]["replicas"]:
            containers = [{**container, "image": image_of(name)}]
            change = {"replicas": 1, "template": {"spec": {"containers": containers}}}
            await self._deployments.patch((namespace, name), {"spec": change})

    def _progress(self, component: Component, namespace: str) -> State:
        found = [self._deployments.get((namespace, name)) for name in component.deployments]
        ready = sum(map(_is_available, found))
        return State(ready == len(found), f"{ready}/{len(found)} deployments ready")


def _is_available(document: Document | None) -> bool:
    if document is None or is_leaving(document):
        return False
    status = document.get("status") or {}
    observed = status.get("observedGeneration", 0) >= document["metadata"]["generation"]
    return observed and bool(status.get("availableReplicas"))
