"""Roles that grant service accounts the rights of rules, and no others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ansible_collections.psap.perf.plugins.module_utils.kube_api.known_kinds import group_of
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.rights import Right

_GROUP = "rbac.authorization.k8s.io"
_NAMESPACE = ("v1", "Namespace")


class KindNames(Protocol):
    """The part of a cluster's client that this module uses."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Return whether the cluster serves the kind."""

    def is_namespaced(self, api_version: str, kind: str) -> bool:
        """Return whether the kind is namespaced."""

    def resource_name(self, api_version: str, kind: str) -> str:
        """Return the name of the kind in URLs."""


@dataclass(frozen=True, slots=True)
class Account:
    """A service account."""

    namespace: str
    name: str


def user_account(account: Account, index: int) -> Account:
    """Return the account of one user, of those whose first part of the name is the name of *account*."""
    return Account(account.namespace, f"{account.name}-{index}")


def account_manifest(account: Account) -> Manifest:
    """Return the manifest of an account."""
    metadata = {"name": account.name, "namespace": account.namespace}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": metadata}


def grants(accounts: Sequence[Account], rights: Iterable[Right], cluster: KindNames) -> list[Manifest]:
    """Return roles and bindings: one of each for each namespace, and one for the rest of the cluster.

    Kinds that the cluster does not serve are granted only if their rule names the resource.

    Args:
        accounts: All get the rights; the roles have the name of the first.
    """
    found: dict[str, dict[tuple[str, str, str], list[str]]] = {}
    for right in rights:
        served = cluster.serves(right.api_version, right.kind)
        if not served and right.resource is None:
            continue
        namespaced = cluster.is_namespaced(right.api_version, right.kind) if served else bool(right.namespace)
        resource = right.resource or cluster.resource_name(right.api_version, right.kind)
        named = ""
        if (right.api_version, right.kind) == _NAMESPACE and right.namespace and right.verb not in ("create", "list"):
            named = right.namespace
        key = (group_of(right.api_version), resource, named)
        verbs = found.setdefault(right.namespace or "" if namespaced else "", {}).setdefault(key, [])
        verbs += [] if right.verb in verbs else [right.verb]
    return [manifest for namespace, rules in found.items() for manifest in _role(accounts, namespace, rules)]


def _role(
    accounts: Sequence[Account], namespace: str, rules: dict[tuple[str, str, str], list[str]]
) -> Iterator[Manifest]:
    """Yield the role and the binding of one namespace; the cluster's if it is empty."""
    account, prefix = accounts[0], "" if namespace else "Cluster"
    # a cluster role has no namespace that makes its name unique
    name = f"{account.name}-users" if namespace else f"{account.namespace}-{account.name}-users"
    metadata: dict[str, Any] = {"name": name, **({"namespace": namespace} if namespace else {})}
    listed = [
        {"apiGroups": [group], "resources": [resource], "verbs": verbs, **({"resourceNames": [named]} if named else {})}
        for (group, resource, named), verbs in rules.items()
    ]
    yield {"apiVersion": f"{_GROUP}/v1", "kind": f"{prefix}Role", "metadata": metadata, "rules": listed}
    yield {
        "apiVersion": f"{_GROUP}/v1",
        "kind": f"{prefix}RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": _GROUP, "kind": f"{prefix}Role", "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": each.name, "namespace": each.namespace} for each in accounts],
    }
