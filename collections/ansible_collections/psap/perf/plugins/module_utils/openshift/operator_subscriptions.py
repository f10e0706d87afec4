"""Check that OLM can install an operator where it is requested: OperatorGroups, and the version that is installed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

_ALL_NAMESPACES = ""


@dataclass(frozen=True, slots=True)
class SubscriptionRequest:
    """An operator to install: ``package`` is its name, ``csv`` the version, ``newest`` the newest of its channel.

    In check mode the catalog may not exist yet; ``csv`` is empty then.
    """

    package: str
    csv: str
    newest: str
    namespace: str
    all_namespaces: bool


def own_group_name(package: str) -> str:
    """Return the name of the OperatorGroup that is created for *package*."""
    return f"{package}-operator-group"


def foreign_group_of(request: SubscriptionRequest, groups: Sequence[Manifest]) -> bool:
    """Return whether the namespace has an OperatorGroup that was not created for the operator.

    Raises:
        UsageError: If OLM would not install the operator with these OperatorGroups.
    """
    foreign = [group for group in groups if group["metadata"]["name"] != own_group_name(request.package)]
    unsuitable = groups if len(groups) > 1 else [group for group in foreign if not _suits(request, group)]
    if unsuitable:
        names = ", ".join(group["metadata"]["name"] for group in unsuitable)
        raise UsageError(
            f"namespace {request.namespace} has the OperatorGroup {names}, of other namespaces than {request.package} "
            "watches, and OLM accepts one for each namespace; use another namespace, or change all_namespaces"
        )
    return bool(foreign)


def check_upgrade(request: SubscriptionRequest, subscription: Manifest | None) -> None:
    """Check that OLM upgrades from the installed version to the requested one.

    Raises:
        UsageError: If OLM upgrades to other versions only.
    """
    status = (subscription or {}).get("status") or {}
    installed = status.get("installedCSV") or ""
    upgrades = [name for name in (status.get("currentCSV"), request.newest) if name and name != installed]
    if installed and request.csv and request.csv not in (installed, *upgrades):
        raise UsageError(
            f"{installed} is installed in {request.namespace}, and OLM does not upgrade it to {request.csv}, but to "
            f"{' or '.join(dict.fromkeys(upgrades)) or 'nothing newer'}; remove it first with cluster_undeploy_operator"
        )


def _suits(request: SubscriptionRequest, group: Manifest) -> bool:
    watched = (group.get("spec") or {}).get("targetNamespaces") or [_ALL_NAMESPACES]
    return bool(watched == [_ALL_NAMESPACES if request.all_namespaces else request.namespace])
