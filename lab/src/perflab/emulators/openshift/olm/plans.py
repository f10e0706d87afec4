"""InstallPlans: once approved, the CRDs and the ClusterServiceVersions that they name are made."""

from __future__ import annotations

import asyncio

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, now_s, phase_of
from perflab.emulators.framework.resources import (
    CLUSTER_SERVICE_VERSIONS,
    CUSTOM_RESOURCE_DEFINITIONS,
    INSTALL_PLANS,
    OPERATOR_GROUPS,
    SUBSCRIPTIONS,
)
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.openshift.olm.groups import Groups
from perflab.emulators.openshift.olm.manifests import csv
from perflab.emulators.openshift.olm.packages import Package, component_label, package_of
from perflab.emulators.openshift.olm.resolving import originals

_ENDED = ("Complete", "Failed")


class Plans:
    """Carries InstallPlans out."""

    def __init__(self, cluster: Cluster, groups: Groups) -> None:
        """Over the cluster's plans, versions and definitions of kinds."""
        self._cluster = cluster
        self._groups = groups
        self._plans = cluster.store(INSTALL_PLANS)
        self._subscriptions = cluster.store(SUBSCRIPTIONS)
        self._versions = cluster.store(CLUSTER_SERVICE_VERSIONS)
        self._definitions = cluster.store(CUSTOM_RESOURCE_DEFINITIONS)
        self.controller = Controller("InstallPlan", self._reconcile)
        self.controller.follow(self._plans)
        cluster.store(OPERATOR_GROUPS).listen(self.controller.enqueue_all)
        cluster.steps.listen(self.controller.enqueue_all)

    async def _reconcile(self, key: Key) -> float | None:
        plan = self._plans.get(key)
        if plan is None or is_leaving(plan) or phase_of(plan) in _ENDED:
            return None
        if not plan["spec"].get("approved"):
            await self._plans.patch_status(key, {"phase": "RequiresApproval", "catalogSources": self._sources(plan)})
            return None
        return await self._install(plan)

    def _sources(self, plan: Document) -> list[str]:
        """The catalogs of the Subscriptions that the plan is for."""
        owners = {owner["uid"] for owner in plan["metadata"].get("ownerReferences") or ()}
        return sorted(
            {each["spec"]["source"] for each in self._subscriptions.values() if each["metadata"]["uid"] in owners}
        )

    async def _install(self, plan: Document) -> float | None:
        key = key_of(plan)
        await self._plans.patch_status(key, {"phase": "Installing", "catalogSources": self._sources(plan)})
        groups = len(self._groups.within(key[0]))
        if groups != 1:
            message = "no operator group found" if not groups else "more than one operator group(s) are"
            await self._patch_status(
                key, "Installing", "InstallCheckFailed", f"{message} managing this namespace {key[0]}"
            )
            return None
        step = _step(plan)
        wait_s = self._cluster.steps.wait_s("install_plan", step)
        if wait_s > 0:
            return wait_s
        failure = self._cluster.steps.failure("install_plan", step)
        if failure:
            await self._patch_status(key, "Failed", "InstallComponentFailed", failure)
            return None
        for name in plan["spec"]["clusterServiceVersionNames"]:
            await self._make(name, key[0])
        await self._patch_status(key, "Complete", "", "")
        return None

    async def _make(self, name: str, namespace: str) -> None:
        package = package_of(name)
        if package is None:
            return
        version = package.version_of(name)
        if version is None:
            return
        label = {component_label(package.name, namespace): ""}
        await asyncio.gather(*(self._define(crd, label) for crd in package.crds_of(version)))
        present = originals(self._versions.values(), namespace)
        if name in present:
            return
        document = csv(package, version, _replaced(package, present))
        document["metadata"].update(namespace=namespace, labels=label)
        document["metadata"]["annotations"].update(self._cluster.mark())
        await self._versions.create(document)

    async def _define(self, crd: Document, label: dict[str, str]) -> None:
        metadata = crd["metadata"]
        labelled = {**metadata, "labels": {**(metadata.get("labels") or {}), **label}}
        annotated = {**labelled, "annotations": {**(metadata.get("annotations") or {}), **self._cluster.mark()}}
        if await self._definitions.create({**crd, "metadata": annotated}) is None:
            # another version of the operator may have other fields
            await self._definitions.patch(("", metadata["name"]), {"metadata": {"labels": label}, "spec": crd["spec"]})

    async def _patch_status(self, key: Key, phase: str, reason: str, message: str) -> None:
        done = phase == "Complete"
        condition = {"type": "Installed", "status": "True" if done else "False"}
        if not done:
            condition = {**condition, "reason": reason, "message": message}
        before = ((self._plans.get(key) or {}).get("status") or {}).get("conditions") or [{}]
        if {name: before[0].get(name) for name in condition} == condition:
            moment = before[0]["lastTransitionTime"]
        else:
            moment = now_s()
        stamped = {**condition, "lastTransitionTime": moment, "lastUpdateTime": moment}
        await self._plans.patch_status(key, {"phase": phase, "conditions": [stamped]})


def _step(plan: Document) -> Document:
    """The plan under a name that users know: that of the first version it names."""
    name = plan["spec"]["clusterServiceVersionNames"][0]
    return {**plan, "metadata": {**plan["metadata"], "name": name}}


def _replaced(package: Package, present: dict[str, Document]) -> str | None:
    return next((name for name in present if package.version_of(name)), None)
