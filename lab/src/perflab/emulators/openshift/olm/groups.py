"""OperatorGroups: which namespaces an operator that is installed beside one watches."""

from __future__ import annotations

from dataclasses import dataclass

from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.controller import Controller
from perflab.emulators.framework.documents import now_s
from perflab.emulators.framework.resources import OPERATOR_GROUPS
from perflab.emulators.framework.store import Key

# as the only target: every namespace
EVERYWHERE = ""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why OLM does not install: its reason, and its words."""

    reason: str
    message: str


def targets(group: Document) -> list[str]:
    """The namespaces of an OperatorGroup."""
    return list((group.get("spec") or {}).get("targetNamespaces") or [EVERYWHERE])


def problem_of(groups: list[Document], version: Document) -> Problem | None:
    """Why a ClusterServiceVersion cannot be installed with the OperatorGroups of its namespace; None when it can."""
    if not groups:
        return Problem("NoOperatorGroup", "csv in namespace with no operatorgroups")
    if len(groups) > 1:
        message = "csv created in namespace with multiple operatorgroups, can't pick one automatically"
        return Problem("TooManyOperatorGroups", message)
    mode, what = _mode(targets(groups[0]), version["metadata"]["namespace"])
    modes = version["spec"]["installModes"]
    if any(each["type"] == mode and each["supported"] for each in modes):
        return None
    message = f"{mode} InstallModeType not supported, cannot configure to watch {what}"
    return Problem("UnsupportedOperatorGroup", message)


def _mode(namespaces: list[str], own: str) -> tuple[str, str]:
    if namespaces == [EVERYWHERE]:
        return "AllNamespaces", "all namespaces"
    if namespaces == [own]:
        return "OwnNamespace", "own namespace"
    if len(namespaces) == 1:
        return "SingleNamespace", "one namespace"
    return "MultiNamespace", f"{len(namespaces)} namespaces"


class Groups:
    """The status of OperatorGroups."""

    def __init__(self, cluster: Cluster) -> None:
        """Over the cluster's OperatorGroups."""
        self._groups = cluster.store(OPERATOR_GROUPS)
        self.controller = Controller("OperatorGroup", self._reconcile)
        self.controller.follow(self._groups)

    def within(self, namespace: str) -> list[Document]:
        """Those of a namespace."""
        return [each for each in self._groups.values() if each["metadata"]["namespace"] == namespace]

    async def _reconcile(self, key: Key) -> float | None:
        group = self._groups.get(key)
        if group is not None and (group.get("status") or {}).get("namespaces") != targets(group):
            await self._groups.patch_status(key, {"namespaces": targets(group), "lastUpdated": now_s()})
        return None
