"""Subscriptions: what each leads to, namespace by namespace, and the InstallPlan for all that is to be installed."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import Condition, now_s, own_labels, phase_of, with_condition
from perflab.emulators.framework.resources import (
    CATALOG_SOURCES,
    CLUSTER_SERVICE_VERSIONS,
    INSTALL_PLANS,
    SUBSCRIPTIONS,
)
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.openshift.olm.catalogs import is_ready
from perflab.emulators.openshift.olm.packages import component_label, find
from perflab.emulators.openshift.olm.resolving import (
    Outcome,
    Settled,
    Unresolved,
    Wanted,
    originals,
    resolve,
    unsatisfiable,
)

_UNHEALTHY, _FAILED, _PENDING = "CatalogSourcesUnhealthy", "ResolutionFailed", "InstallPlanPending"


class Subscriptions:
    """Resolves the Subscriptions of a namespace together, as OLM does."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's Subscriptions, catalogs, plans and versions."""
        self._cluster = cluster
        self._subscriptions = cluster.store(SUBSCRIPTIONS)
        self._catalogs = cluster.store(CATALOG_SOURCES)
        self._plans = cluster.store(INSTALL_PLANS)
        self._versions = cluster.store(CLUSTER_SERVICE_VERSIONS)
        self.controller = Controller("subscriptions of a namespace", self._resolve)
        for store in (self._subscriptions, self._plans, self._versions):
            store.listen(self._changed)
        self._catalogs.listen(lambda _old, _new: self._enqueue_all())
        cluster.steps.listen(self._enqueue_all)

    def _changed(self, old: Document | None, new: Document | None) -> None:
        self.controller.enqueue(("", (new or old or {})["metadata"]["namespace"]))

    def _enqueue_all(self) -> None:
        for subscription in self._subscriptions.values():
            self.controller.enqueue(("", subscription["metadata"]["namespace"]))

    async def _resolve(self, key: Key) -> float | None:
        namespace = key[1]
        subscriptions = [each for each in self._subscriptions.values() if each["metadata"]["namespace"] == namespace]
        present = originals(self._versions.values(), namespace)
        waits: list[float] = []
        wanted: dict[Key, Wanted] = {}
        for each in subscriptions:
            subscription = await self._progress(each, present)
            waits.append(self._cluster.steps.wait_s("resolution", subscription))
            outcome = self._outcome(subscription, present) if waits[-1] == 0 else Settled()
            await self._patch_status(subscription, outcome)
            if isinstance(outcome, Wanted):
                wanted[key_of(subscription)] = outcome
        if wanted:
            await self._plan(namespace, wanted, subscriptions)
        return min((wait_s for wait_s in waits if wait_s > 0), default=None)

    async def _progress(self, subscription: Document, present: Mapping[str, Document]) -> Document:
        """What the Subscription was on its way to is installed once it is there."""
        key, status = key_of(subscription), subscription.get("status") or {}
        label = component_label(subscription["spec"]["name"], key[0])
        if label not in own_labels(subscription):
            await self._subscriptions.patch(key, {"metadata": {"labels": {label: ""}}})
        current = status.get("currentCSV")
        if current in present and status.get("installedCSV") != current:
            conditions = _without(status.get("conditions") or [], _PENDING)
            change = {"installedCSV": current, "state": "AtLatestKnown", "conditions": conditions}
            await self._subscriptions.patch_status(key, {**change, "lastUpdated": now_s()})
        return self._subscriptions.get(key) or subscription

    def _outcome(self, subscription: Document, present: Mapping[str, Document]) -> Outcome:
        name, spec = subscription["metadata"]["name"], subscription["spec"]
        failure = self._cluster.steps.failure("resolution", subscription)
        if failure:
            return Unresolved("ErrorPreventedResolution", failure)
        source = f"{spec['source']} in namespace {spec['sourceNamespace']}"
        catalog = self._catalogs.get((spec["sourceNamespace"], spec["source"]))
        if catalog is None:
            return unsatisfiable(f"no operators found from catalog {source} referenced by subscription {name}", name)
        if not is_ready(catalog):
            message = f"failed to populate resolver cache from source {source}: connection refused"
            return Unresolved("ErrorPreventedResolution", message)
        return resolve(subscription, find(spec["name"], catalog), present)

    async def _patch_status(self, subscription: Document, outcome: Outcome) -> None:
        status = subscription.get("status") or {}
        catalog = self._catalogs.get((subscription["spec"]["sourceNamespace"], subscription["spec"]["source"]))
        healthy = catalog is not None and is_ready(catalog)
        conditions = list(status.get("conditions") or [])
        reason, message = "AllCatalogSourcesHealthy", "all available catalogsources are healthy"
        if not healthy:
            reason, message = "UnhealthyCatalogSourceFound", "targeted catalogsource is missing or unhealthy"
        conditions = with_condition(conditions, _UNHEALTHY, not healthy, reason, message)
        if isinstance(outcome, Unresolved):
            conditions = with_condition(conditions, _FAILED, True, outcome.reason, outcome.message)
        else:
            conditions = _without(conditions, _FAILED)
        ordered = _in_order(conditions)
        if ordered != status.get("conditions") or "lastUpdated" not in status:
            change = {"conditions": ordered, "lastUpdated": now_s()}
            await self._subscriptions.patch_status(key_of(subscription), change)

    async def _plan(self, namespace: str, wanted: Mapping[Key, Wanted], subscriptions: list[Document]) -> None:
        """One InstallPlan for all; Manual when one Subscription of the namespace is, as with OLM."""
        manual = any(each["spec"].get("installPlanApproval") == "Manual" for each in subscriptions)
        owners = [each for each in subscriptions if key_of(each) in wanted]
        name = _plan_name(owners, wanted)
        if self._plans.get((namespace, name)) is None:
            generation = 1 + sum(each["metadata"]["namespace"] == namespace for each in self._plans.values())
            await self._plans.create(self._plan_document(name, owners, wanted, manual, generation))
        plan = self._plans.get((namespace, name))
        if plan is None:
            return
        for subscription in owners:
            await self._refer(subscription, wanted[key_of(subscription)], plan)

    def _plan_document(
        self, name: str, owners: list[Document], wanted: Mapping[Key, Wanted], manual: bool, generation: int
    ) -> Document:
        namespace = owners[0]["metadata"]["namespace"]
        return {
            "metadata": {
                "name": name,
                "namespace": namespace,
                "labels": {component_label(each["spec"]["name"], namespace): "" for each in owners},
                "annotations": self._cluster.mark(),
                "ownerReferences": [_reference(each) for each in owners],
            },
            "spec": {
                "approval": "Manual" if manual else "Automatic",
                "approved": not manual,
                "clusterServiceVersionNames": sorted(each.csv for each in wanted.values()),
                "generation": generation,
            },
        }

    async def _refer(self, subscription: Document, wanted: Wanted, plan: Document) -> None:
        phase = phase_of(plan) or "Planning"
        status = (self._subscriptions.get(key_of(subscription)) or {}).get("status") or {}
        reference = {
            "apiVersion": INSTALL_PLANS.api_version,
            "kind": INSTALL_PLANS.kind,
            "name": plan["metadata"]["name"],
            "namespace": plan["metadata"]["namespace"],
            "uid": plan["metadata"]["uid"],
        }
        conditions = list(status.get("conditions") or [])
        if phase == "Complete":
            conditions = _without(conditions, _PENDING)
        else:
            conditions = with_condition(conditions, _PENDING, True, phase, "")
        change = {
            "currentCSV": wanted.csv,
            "state": "UpgradePending",
            "installPlanRef": reference,
            # the older field calls the uid so
            "installplan": {
                **{key: reference[key] for key in ("apiVersion", "kind", "name")},
                "uuid": reference["uid"],
            },
            "installPlanGeneration": plan["spec"]["generation"],
            "conditions": _in_order(conditions),
        }
        if any(status.get(key) != value for key, value in change.items()):
            await self._subscriptions.patch_status(key_of(subscription), {**change, "lastUpdated": now_s()})


def _without(conditions: list[Condition], kind: str) -> list[Condition]:
    return [each for each in conditions if each["type"] != kind]


def _in_order(conditions: list[Condition]) -> list[Condition]:
    # so that the same conditions are no change
    return sorted(conditions, key=lambda each: str(each["type"]))


def _plan_name(owners: list[Document], wanted: Mapping[Key, Wanted]) -> str:
    """It says for which Subscriptions and versions the plan is: made twice, it is one."""
    parts = sorted(f"{each['metadata']['uid']} {wanted[key_of(each)].csv}" for each in owners)
    return f"install-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:5]}"


def _reference(subscription: Document) -> Document:
    return {
        "apiVersion": SUBSCRIPTIONS.api_version,
        "kind": SUBSCRIPTIONS.kind,
        "name": subscription["metadata"]["name"],
        "uid": subscription["metadata"]["uid"],
        "controller": False,
        "blockOwnerDeletion": False,
    }
