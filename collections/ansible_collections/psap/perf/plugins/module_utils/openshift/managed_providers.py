"""Identity providers of a managed OpenShift (ROSA or OSD), by OpenShift Cluster Manager (OCM).

OCM writes them into the OAuth of the cluster, and reverts changes of other clients.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.cluster_manager import CLUSTERS, ClusterManager
from ansible_collections.psap.perf.plugins.module_utils.openshift.identity_providers import Provider

_LDAP = "LDAPIdentityProvider"
_SECRET = "bind_password"  # noqa: S105 - the name of a field
_MOST = 100


def add(manager: ClusterManager, cluster: str, provider: Provider, password: str, *, dry: bool = False) -> bool:
    """Add *provider*, an LDAP directory as in an OAuth, to a cluster, and return whether that changed anything.

    OCM returns no password, so that a changed password alone is not detected.

    Args:
        cluster: Its ID.

    Raises:
        ClusterError: If a different provider has its name.
    """
    wanted = body_of(provider, password)
    found = _find(manager, cluster, wanted)
    if found is not None and _comparable(found) == _comparable(wanted):
        return False
    if dry:
        return True
    if found is not None:
        manager.call("PATCH", _path(cluster, found), wanted)
        return True
    try:
        manager.call("POST", _path(cluster), wanted)
    except ClusterError:
        # without a response, the provider may have been added
        if _find(manager, cluster, wanted) is None:
            raise
    return True


def remove(manager: ClusterManager, cluster: str, provider: Provider, *, dry: bool = False) -> bool:
    """Remove *provider* from a cluster, and return whether it existed.

    Raises:
        ClusterError: If a different provider has its name.
    """
    found = _find(manager, cluster, body_of(provider, ""))
    if found is not None and not dry:
        manager.call("DELETE", _path(cluster, found))
    return found is not None


def body_of(provider: Provider, password: str) -> dict[str, Any]:
    """Return the provider in the format of OCM's API.

    Raises:
        UsageError: If it is not an LDAP directory.
    """
    if provider.get("type") != "LDAP":
        raise UsageError(f"OCM supports providers of type LDAP only, not {provider.get('type')}")
    ldap = provider["ldap"]
    attributes = ldap.get("attributes") or {}
    return {
        "type": _LDAP,
        "name": provider["name"],
        "mapping_method": provider.get("mappingMethod", "claim"),
        "ldap": {
            "url": ldap["url"],
            "insecure": bool(ldap.get("insecure")),
            "bind_dn": ldap.get("bindDN", ""),
            _SECRET: password,
            "attributes": {
                "id": attributes.get("id", []),
                "name": attributes.get("name", []),
                "preferred_username": attributes.get("preferredUsername", []),
                "email": attributes.get("email", []),
            },
        },
    }


def _find(manager: ClusterManager, cluster: str, wanted: Mapping[str, Any]) -> dict[str, Any] | None:
    listed = manager.call("GET", f"{_path(cluster)}?size={_MOST}")
    if listed is None:
        raise ClusterError(f"OCM no longer has the cluster {cluster}")
    found = next((each for each in listed.get("items") or [] if each["name"] == wanted["name"]), None)
    if found is not None and _target(found) != _target(wanted):
        kind, url = _target(found)
        raise ClusterError(
            f"OCM has another identity provider {wanted['name']} of the cluster, of type {kind}"
            f"{f' at {url}' if url else ''}; choose another name"
        )
    return found


def _target(provider: Mapping[str, Any]) -> tuple[str, str]:
    return str(provider.get("type")), str((provider.get("ldap") or {}).get("url", ""))


def _comparable(provider: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields to compare, since OCM omits empty fields and the password."""
    ldap = {name: value for name, value in provider["ldap"].items() if name != _SECRET and value}
    if "attributes" in ldap:
        ldap["attributes"] = {name: value for name, value in ldap["attributes"].items() if value}
    return {"mapping_method": provider.get("mapping_method"), "ldap": ldap}


def _path(cluster: str, found: Mapping[str, Any] | None = None) -> str:
    path = f"{CLUSTERS}/{quote(cluster)}/identity_providers"
    return path if found is None else f"{path}/{quote(str(found['id']))}"
