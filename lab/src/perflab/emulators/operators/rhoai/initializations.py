"""What the operator makes of a DSCInitialization: namespaces, and a status that says so."""

from __future__ import annotations

import math

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import Condition, is_leaving, own_labels, phase_of, with_condition
from perflab.emulators.framework.resources import DSC_INITIALIZATIONS, NAMESPACES
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.operators.rhoai.platform import ERROR, GENERATED, READY, Platform, Product

INITIALIZATION_FINALIZER = "dscinitialization.opendatahub.io/finalizer"

_STEP = "dsci"
_PROGRESSING = "Progressing"


class Initializations:
    """The controller of DSCInitializations."""

    def __init__(self, cluster: Cluster, platform: Platform) -> None:
        """Over the cluster's DSCInitializations and namespaces."""
        self._cluster = cluster
        self._platform = platform
        self._store = cluster.store(DSC_INITIALIZATIONS)
        self._namespaces = cluster.store(NAMESPACES)
        self.controller = Controller("dsci", self._reconcile)
        self.controller.follow(self._store)
        self._namespaces.listen(self._changed)
        platform.listen(self.controller.enqueue_all)
        cluster.steps.listen(self.controller.enqueue_all)

    def _changed(self, _old: Document | None, new: Document | None) -> None:
        if new is None:  # what the operator made and somebody deleted is made again
            self.controller.enqueue_all()

    async def _reconcile(self, key: Key) -> float | None:
        document, product = self._store.get(key), self._platform.product
        if document is None or product is None:
            return None
        if is_leaving(document):
            await self._store.remove_finalizer(document, INITIALIZATION_FINALIZER)
            return None
        await self._store.add_finalizer(document, INITIALIZATION_FINALIZER)
        initialized = phase_of(document) == READY
        failure = None if initialized else self._cluster.steps.failure(_STEP, document)
        wait_s = 0.0 if initialized else self._cluster.steps.wait_s(_STEP, document)
        if wait_s > 0 or failure:
            await self._patch_status(document, ERROR if failure and wait_s <= 0 else _PROGRESSING, failure or "")
            return wait_s if 0 < wait_s < math.inf else None
        for name in _namespaces(document, product):
            await self._make_namespace(name)
        await self._patch_status(document, READY, "", self._platform.release(product))
        return None

    async def _make_namespace(self, name: str) -> None:
        labels = {GENERATED: "true"}
        found = self._namespaces.get(("", name))
        if found is None:
            metadata = {"name": name, "labels": labels, "annotations": self._cluster.mark()}
            await self._namespaces.create({"metadata": metadata})
        elif own_labels(found).get(GENERATED) != "true":
            await self._namespaces.patch(("", name), {"metadata": {"labels": labels}})

    async def _patch_status(
        self, document: Document, phase: str, failure: str, release: Document | None = None
    ) -> None:
        known = document.get("status") or {}
        status: Document = {"phase": phase, "conditions": _conditions(known.get("conditions") or [], phase, failure)}
        if release is not None:
            status["release"] = release
        await self._store.patch_status(key_of(document), status)


def _namespaces(document: Document, product: Product) -> list[str]:
    spec = document.get("spec") or {}
    monitoring = spec.get("monitoring") or {}
    monitored = monitoring.get("namespace") if monitoring.get("managementState") == "Managed" else ""
    wanted = (spec.get("applicationsNamespace") or product.applications, monitored, product.notebooks)
    return [name for name in dict.fromkeys(wanted) if name]


def _conditions(known: list[Condition], phase: str, failure: str) -> list[Condition]:
    done = phase == READY
    message = "Reconcile completed successfully" if done else failure or "Initializing"
    reason = "ReconcileCompleted" if done else "ReconcileFailed" if failure else "ReconcileInit"
    conditions = with_condition(known, "ReconcileComplete", done, reason, message)
    conditions = with_condition(conditions, "Available", done, reason, message)
    conditions = with_condition(conditions, "Progressing", phase == _PROGRESSING, reason, message)
    return with_condition(conditions, "Degraded", bool(failure), reason, message)
