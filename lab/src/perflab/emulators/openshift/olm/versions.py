"""ClusterServiceVersions: from Pending to Succeeded, with the Deployments of the operator."""

from __future__ import annotations

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import is_leaving, now_s, own_annotations, own_labels, phase_of
from perflab.emulators.framework.operator_deployments import OPERATOR
from perflab.emulators.framework.resources import (
    CLUSTER_SERVICE_VERSIONS,
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    OPERATOR_GROUPS,
    SUBSCRIPTIONS,
)
from perflab.emulators.framework.store import Key, key_of
from perflab.emulators.openshift.olm.groups import Groups, problem_of, targets
from perflab.emulators.openshift.olm.manifests import deployments
from perflab.emulators.openshift.olm.packages import package_of
from perflab.emulators.openshift.olm.resolving import COPIED_FROM, originals

# the last so many changes of phase are kept, as with OLM
_KEPT_CONDITIONS = 20


class Versions:
    """Installs what ClusterServiceVersions describe, one phase after the other."""

    def __init__(self, cluster: Cluster, groups: Groups) -> None:
        """Over the cluster's versions, their Deployments and what they need."""
        self._cluster = cluster
        self._groups = groups
        self._versions = cluster.store(CLUSTER_SERVICE_VERSIONS)
        self._subscriptions = cluster.store(SUBSCRIPTIONS)
        self._definitions = cluster.store(CUSTOM_RESOURCE_DEFINITIONS)
        self._deployments = cluster.store(DEPLOYMENTS, OPERATOR)
        self.controller = Controller("ClusterServiceVersion", self._reconcile)
        self.controller.follow(self._versions)
        self._deployments.listen(self._deployment_changed)
        self._definitions.listen(self.controller.enqueue_all)
        cluster.store(OPERATOR_GROUPS).listen(self.controller.enqueue_all)
        cluster.steps.listen(self.controller.enqueue_all)

    def _deployment_changed(self, old: Document | None, new: Document | None) -> None:
        metadata = (new or old or {})["metadata"]
        self.controller.enqueue((metadata["namespace"], metadata["labels"].get("olm.owner", "")))

    async def _reconcile(self, key: Key) -> float | None:
        version = self._versions.get(key)
        if version is None or is_leaving(version):
            return None
        if COPIED_FROM in own_labels(version):
            return None
        problem = problem_of(self._groups.within(key[0]), version)
        if problem is not None:
            await self._enter(version, "Failed", problem.reason, problem.message)
            return None
        await self._note_group(version)
        return await self._go_on(version)

    async def _note_group(self, version: Document) -> None:
        [group] = self._groups.within(version["metadata"]["namespace"])
        notes = {
            "olm.operatorGroup": group["metadata"]["name"],
            "olm.operatorNamespace": group["metadata"]["namespace"],
            "olm.targetNamespaces": ",".join(targets(group)),
        }
        noted = own_annotations(version)
        if any(noted.get(name) != value for name, value in notes.items()):
            await self._versions.patch(key_of(version), {"metadata": {"annotations": notes}})

    async def _go_on(self, version: Document) -> float | None:
        """One phase further, as often as it takes: each change asks for the next look."""
        phase = phase_of(version)
        if not phase:
            await self._enter(version, "Pending", "RequirementsUnknown", "requirements not yet checked")
        elif phase == "Pending":
            await self._require(version)
        elif phase == "InstallReady":
            await self._deploy(version)
            message = "waiting for install components to report healthy"
            await self._enter(version, "Installing", "InstallSucceeded", message)
        elif phase == "Installing":
            return await self._check(version)
        elif phase == "Succeeded":
            await self._watch_over(version)
        elif phase == "Failed" and not self._failure(version):
            await self._enter(version, "Pending", "NeedsReinstall", "installing: the failure is over")
        return None

    async def _require(self, version: Document) -> None:
        owned = version["spec"]["customresourcedefinitions"]["owned"]
        missing = sorted({each["name"] for each in owned if self._definitions.get(("", each["name"])) is None})
        if missing:
            message = f"one or more requirements couldn't be found: {', '.join(missing)}"
            await self._enter(version, "Pending", "RequirementsNotMet", message)
        else:
            message = "all requirements found, attempting install"
            await self._enter(version, "InstallReady", "AllRequirementsMet", message)

    def _failure(self, version: Document) -> str | None:
        return self._cluster.steps.failure("csv", version)

    async def _check(self, version: Document) -> float | None:
        wait_s = self._cluster.steps.wait_s("csv", version)
        if wait_s > 0:
            return wait_s
        failure = self._failure(version)
        if failure:
            await self._enter(version, "Failed", "InstallComponentFailed", f"install strategy failed: {failure}")
            return None
        if all(_is_available(each) for each in self._found(version)):
            message = "install strategy completed with no errors"
            await self._enter(version, "Succeeded", "InstallSucceeded", message)
            await self._retire_others(version)
        return None

    async def _watch_over(self, version: Document) -> None:
        missing = [name for name, found in zip(_names(version), self._found(version), strict=True) if found is None]
        if missing:
            message = f"installing: deployment {missing[0]} is gone"
            await self._enter(version, "Failed", "ComponentUnhealthy", message)

    def _found(self, version: Document) -> list[Document | None]:
        namespace = version["metadata"]["namespace"]
        return [self._deployments.get((namespace, name)) for name in _names(version)]

    async def _deploy(self, version: Document) -> None:
        package = package_of(version["metadata"]["name"])
        if package is None:
            return
        for wanted in deployments(version, package.name, self._cluster.mark(), self._environment(version)):
            if await self._deployments.create(wanted) is None:
                # an upgrade takes over what the version before made
                await self._deployments.patch(key_of(wanted), {"metadata": wanted["metadata"], "spec": wanted["spec"]})

    def _environment(self, version: Document) -> list[Document]:
        name, namespace = version["metadata"]["name"], version["metadata"]["namespace"]
        for subscription in self._subscriptions.values():
            status = subscription.get("status") or {}
            if subscription["metadata"]["namespace"] == namespace and status.get("currentCSV") == name:
                return list((subscription["spec"].get("config") or {}).get("env") or [])
        return []

    async def _retire_others(self, version: Document) -> None:
        """An upgrade that succeeded ends the version before it."""
        replaced = version["spec"].get("replaces")
        namespace = version["metadata"]["namespace"]
        if replaced in originals(self._versions.values(), namespace):
            await self._versions.delete((namespace, replaced))

    async def _enter(self, version: Document, phase: str, reason: str, message: str) -> None:
        status = version.get("status") or {}
        if (status.get("phase"), status.get("reason"), status.get("message")) == (phase, reason, message):
            return
        moment = now_s()
        news = {"phase": phase, "reason": reason, "message": message}
        stamped = {**news, "lastTransitionTime": moment, "lastUpdateTime": moment}
        conditions = [*(status.get("conditions") or []), stamped][-_KEPT_CONDITIONS:]
        await self._versions.patch_status(key_of(version), {**stamped, "conditions": conditions})
        kind = "Warning" if phase == "Failed" else "Normal"
        await self._cluster.event(CLUSTER_SERVICE_VERSIONS, version, reason, message, kind)


def _names(version: Document) -> list[str]:
    return [each["name"] for each in version["spec"]["install"]["spec"]["deployments"]]


def _is_available(deployment: Document | None) -> bool:
    if deployment is None:
        return False
    wanted = deployment["spec"].get("replicas", 1)
    return bool((deployment.get("status") or {}).get("availableReplicas", 0) >= wanted)
