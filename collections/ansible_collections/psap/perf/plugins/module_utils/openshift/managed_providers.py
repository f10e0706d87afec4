"""Identity providers of a managed OpenShift, which OpenShift Cluster Manager (OCM) has, of ROSA as of OSD.

OCM writes them into the OAuth of the cluster, and reverts what others write there.
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
    """Have OCM give a cluster *provider*, an LDAP directory as in an OAuth; whether that changed anything.

    OCM tells no password, so another one alone changes nothing.

    :param cluster: its ID.
    :raises ClusterError: when one of its name is another one's.
    """
    wanted = body_of(provider, password)
    found = _find(manager, cluster, wanted)
    if found is not None and _seen(found) == _seen(wanted):
        return False
    if dry:
        return True
    if found is not None:
        manager.call("PATCH", _path(cluster, found), wanted)
        return True
    try:
        manager.call("POST", _path(cluster), wanted)
    except ClusterError:
        # the answer was lost; what was asked for may have come about
        if _find(manager, cluster, wanted) is None:
            raise
    return True


def remove(manager: ClusterManager, cluster: str, provider: Provider, *, dry: bool = False) -> bool:
    """Have OCM take *provider* away from a cluster; whether it was there.

    :raises ClusterError: when the one of its name is another one's.
    """
    found = _find(manager, cluster, body_of(provider, ""))
    if found is not None and not dry:
        manager.call("DELETE", _path(cluster, found))
    return found is not None


def body_of(provider: Provider, password: str) -> dict[str, Any]:
    """The provider as OCM's API has it.

    :raises UsageError: when it is no LDAP directory.
    """
    if provider.get("type") != "LDAP":
        raise UsageError(f"OCM is asked for providers of type LDAP only, not {provider.get('type')}")
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
    if found is not None and _leads_to(found) != _leads_to(wanted):
        kind, url = _leads_to(found)
        raise ClusterError(
            f"OCM has another identity provider {wanted['name']} of the cluster, of type {kind}"
            f"{f' at {url}' if url else ''}; choose another name"
        )
    return found


def _leads_to(provider: Mapping[str, Any]) -> tuple[str, str]:
    return str(provider.get("type")), str((provider.get("ldap") or {}).get("url", ""))


def _seen(provider: Mapping[str, Any]) -> dict[str, Any]:
    """What can be compared: fields that say nothing, and the password, are left out by OCM."""
    ldap = {name: value for name, value in provider["ldap"].items() if name != _SECRET and value}
    if "attributes" in ldap:
        ldap["attributes"] = {name: value for name, value in ldap["attributes"].items() if value}
    return {"mapping_method": provider.get("mapping_method"), "ldap": ldap}


def _path(cluster: str, found: Mapping[str, Any] | None = None) -> str:
    path = f"{CLUSTERS}/{quote(cluster)}/identity_providers"
    return path if found is None else f"{path}/{quote(str(found['id']))}"
