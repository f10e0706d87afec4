"""What the operator makes of a DataScienceCluster: its components, and a status that tells how far they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import Condition, is_leaving, phase_of, with_condition
from perflab.emulators.framework.resources import DATA_SCIENCE_CLUSTERS, DSC_INITIALIZATIONS
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.operators.rhoai.components import COMPONENTS, Component, is_managed
from perflab.emulators.operators.rhoai.installing import Installer, State
from perflab.emulators.operators.rhoai.platform import NOT_READY, READY, Platform

CLUSTER_FINALIZER = "platform.opendatahub.io/finalizer"

_UNINITIALIZED = "the DSCInitialization is not ready"


@dataclass(frozen=True, slots=True)
class ComponentStatus:
    """What the status says of one component."""

    component: Component
    managed: bool
    state: State


class Clusters:
    """The controller of DataScienceClusters."""

    def __init__(self, cluster: Cluster, platform: Platform) -> None:
        """Over the cluster's DataScienceClusters and DSCInitializations."""
        self._platform = platform
        self._store = cluster.store(DATA_SCIENCE_CLUSTERS)
        self._initializations = cluster.store(DSC_INITIALIZATIONS)
        self._installer = Installer(cluster)
        self.controller = Controller("dsc", self._reconcile)
        self.controller.follow(self._store)
        self._initializations.listen(self.controller.enqueue_all)
        self._installer.listen(self.controller.enqueue_all)
        platform.listen(self.controller.enqueue_all)
        cluster.steps.listen(self.controller.enqueue_all)

    async def _reconcile(self, key: Key) -> float | None:
        document, product = self._store.get(key), self._platform.product
        if document is None or product is None:
            return None
        if is_leaving(document):
            await self._end(document)
            return None
        await self._store.add_finalizer(document, CLUSTER_FINALIZER)
        namespace = self._applications()
        if not namespace:
            waiting = State(False, _UNINITIALIZED)
            statuses = [ComponentStatus(each, is_managed(document, each.name), waiting) for each in COMPONENTS.values()]
            await self._patch_status(document, statuses)
            return None
        statuses = [await self._look_after(document, each, namespace) for each in COMPONENTS.values()]
        await self._patch_status(document, statuses, self._platform.release(product))
        again_s = min(each.state.again_s for each in statuses)
        return again_s if again_s < math.inf else None

    def _applications(self) -> str:
        """Where the components go, once the DSCInitialization is ready; before, empty."""
        ready = (each for each in self._initializations.values() if phase_of(each) == READY)
        document = next(ready, None)
        return str(document["spec"].get("applicationsNamespace", "")) if document else ""

    async def _look_after(self, document: Document, component: Component, namespace: str) -> ComponentStatus:
        if is_managed(document, component.name):
            return ComponentStatus(component, True, await self._installer.install(document, component, namespace))
        await self._installer.remove(component)
        return ComponentStatus(component, False, State(False, "Component ManagementState is set to Removed"))

    async def _end(self, document: Document) -> None:
        for component in COMPONENTS.values():
            await self._installer.remove(component)
        if self._installer.is_empty():
            await self._store.remove_finalizer(document, CLUSTER_FINALIZER)

    async def _patch_status(
        self, document: Document, statuses: Sequence[ComponentStatus], release: Document | None = None
    ) -> None:
        known = document.get("status") or {}
        conditions = status_conditions(known.get("conditions") or [], statuses, initialized=release is not None)
        status: Document = {
            "phase": READY if conditions[-1]["status"] == "True" else NOT_READY,
            "observedGeneration": document["metadata"]["generation"],
            "conditions": conditions,
            "installedComponents": {
                each.component.installed_name: each.managed and each.state.ready for each in statuses
            },
            "components": {
                each.component.name: {"managementState": "Managed" if each.managed else "Removed"} for each in statuses
            },
        }
        if release is not None:
            status["release"] = release
        await self._store.patch_status(key_of(document), status)


def status_conditions(
    known: list[Condition], statuses: Sequence[ComponentStatus], *, initialized: bool
) -> list[Condition]:
    """The conditions of the status: one of each component, of all of them, and last the one of the whole."""
    conditions = known
    for each in statuses:
        reason = "Ready" if each.state.ready else "NotReady" if each.managed else "Removed"
        kind = f"{each.component.condition}Ready"
        conditions = with_condition(conditions, kind, each.state.ready, reason, each.state.message)
    lacking = [each.component.name for each in statuses if each.managed and not each.state.ready]
    ready = initialized and not lacking
    failed = [f"{each.component.name}: {each.state.message}" for each in statuses if each.state.failed]
    message = f"Some components are not ready: {', '.join(lacking)}" if lacking else ""
    if not initialized:
        message = _UNINITIALIZED
    provisioned = "Error" if failed else "Provisioned"
    conditions = with_condition(conditions, "ProvisioningSucceeded", not failed, provisioned, "; ".join(failed))
    reason = "Ready" if ready else "NotReady"
    conditions = with_condition(conditions, "ComponentsReady", ready, reason, message)
    return with_condition(conditions, "Ready", ready, reason, message)
