"""Add and remove identity providers of an OpenShift, without changing others in the same list."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.merging import change_object
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

OAUTH = Query("config.openshift.io/v1", "OAuth", name="cluster")
_USERS = "user.openshift.io/v1"

Provider = Mapping[str, Any]


def add(cluster: Cluster, provider: Provider, *, dry: bool = False) -> bool:
    """Add *provider* to the cluster, and return whether that changed anything.

    Raises:
        ClusterError: If a different provider has its name.
    """
    return _change(cluster, lambda present: with_provider(present, provider), dry=dry)


def remove(cluster: Cluster, provider: Provider, *, dry: bool = False) -> bool:
    """Remove *provider* from the cluster with its users, and return whether that changed anything.

    Raises:
        ClusterError: If a different provider has its name.
    """
    changed = _change(cluster, lambda present: without_provider(present, provider), dry=dry)
    return forget(cluster, str(provider["name"]), dry=dry) or changed


def forget(cluster: Cluster, provider: str, *, dry: bool = False) -> bool:
    """Delete the users of the provider who have no other one, and return whether there were any."""
    queries = _logged_in(cluster, provider)
    for query in () if dry else queries:
        cluster.delete(query)
    return bool(queries)


def find(cluster: Cluster, name: str, kind: str) -> Provider | None:
    """Return the provider *name* of the cluster; None if it is missing.

    Raises:
        ClusterError: If it is of another type than *kind*.
    """
    found = next((each for each in _present(cluster.get(OAUTH) or {}) if each["name"] == name), None)
    if found is not None and found.get("type") != kind:
        raise ClusterError(f"the identity provider {name} of the OAuth is of type {found.get('type')}, not {kind}")
    return found


def with_provider(present: Sequence[Provider], provider: Provider) -> list[Provider]:
    """Return the providers with this one, in its place if it exists, otherwise at the end."""
    _refuse_another(present, provider)
    if any(each["name"] == provider["name"] for each in present):
        return [provider if each["name"] == provider["name"] else each for each in present]
    return [*present, provider]


def without_provider(present: Sequence[Provider], provider: Provider) -> list[Provider]:
    """Return the providers without this one."""
    _refuse_another(present, provider)
    return [each for each in present if each["name"] != provider["name"]]


def _present(oauth: Manifest) -> list[Provider]:
    return list((oauth.get("spec") or {}).get("identityProviders") or [])


def _refuse_another(present: Sequence[Provider], provider: Provider) -> None:
    """Refuse a provider of the same name with another type or address."""
    found = next((each for each in present if each["name"] == provider["name"]), None)
    if found is not None and _target(found) != _target(provider):
        kind, url = _target(found)
        raise ClusterError(
            f"the OAuth of the cluster has another identity provider {provider['name']}, of type {kind}"
            f"{f' at {url}' if url else ''}; choose another name"
        )


def _target(provider: Provider) -> tuple[str, str]:
    return str(provider.get("type")), str((provider.get("ldap") or {}).get("url", ""))


def _change(cluster: Cluster, changed: Callable[[Sequence[Provider]], list[Provider]], *, dry: bool) -> bool:
    """Replace the list by the result of *changed*."""

    def change(oauth: Manifest | None) -> Manifest | None:
        if oauth is None:
            raise ClusterError(f"{cluster.server} has no {OAUTH}; the users of such a cluster are managed elsewhere")
        present = _present(oauth)
        wanted = changed(present)
        return None if wanted == present else {"spec": {"identityProviders": wanted or None}}

    return change_object(cluster, OAUTH, change, dry=dry)


def _logged_in(cluster: Cluster, provider: str) -> list[Query]:
    """Return the identities of *provider*, and the users who have no other."""
    if not cluster.serves(_USERS, "Identity"):
        return []
    identities = [each for each in cluster.list(Query(_USERS, "Identity"))[0] if each.get("providerName") == provider]
    names = {str(each["metadata"]["name"]) for each in identities}
    found = [Query(_USERS, "Identity", name=name) for name in sorted(names)]
    if names:
        users: list[Manifest] = cluster.list(Query(_USERS, "User"))[0]
        alone = (each for each in users if each.get("identities") and set(each["identities"]) <= names)
        found += [Query(_USERS, "User", name=str(each["metadata"]["name"])) for each in alone]
    return found
