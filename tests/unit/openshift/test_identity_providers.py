"""Identity providers of an OpenShift: ours is added and removed, others are never lost."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, cast

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.api_errors import ConflictError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.openshift.identity_providers import add, remove

COMPANY = {"name": "company", "type": "LDAP", "ldap": {"url": "ldap://directory.example.com"}}
HTPASSWD = {"name": "htpasswd", "type": "HTPasswd", "htpasswd": {"fileData": {"name": "users"}}}
OURS = {"name": "test", "type": "LDAP", "ldap": {"url": "ldap://openldap.openldap.svc:1389/", "insecure": True}}
NEW = {"name": "new", "type": "GitHub"}


class OpenShift:
    """An API server with one OAuth, and other clients that change it at the worst moment."""

    def __init__(self, *providers: dict[str, Any], meanwhile: Callable[[list[Any]], list[Any]] | None = None) -> None:
        self.server = "https://api.test"
        self.providers = list(providers)
        self.version = 1
        self.meanwhile = meanwhile
        self.deleted: list[str] = []
        self.identities: dict[str, str] = {}
        self.users: dict[str, list[str]] = {}

    def get(self, _query: Query) -> dict[str, Any]:
        found = {"metadata": {"resourceVersion": str(self.version)}}
        spec = {"spec": {"identityProviders": copy.deepcopy(self.providers)}} if self.providers else {}
        if self.meanwhile:
            self.providers, self.version = self.meanwhile(self.providers), self.version + 1
            self.meanwhile = None
        return {**found, **spec}

    def merge(self, _query: Query, change: dict[str, Any]) -> None:
        if change["metadata"]["resourceVersion"] != str(self.version):
            raise ConflictError("the object has been modified")
        self.providers, self.version = change["spec"]["identityProviders"] or [], self.version + 1

    def serves(self, _api_version: str, _kind: str) -> bool:
        return bool(self.users)

    def list(self, query: Query) -> tuple[list[dict[str, Any]], str]:
        if query.kind == "User":
            return [{"metadata": {"name": name}, "identities": each} for name, each in self.users.items()], ""
        return [{"metadata": {"name": name}, "providerName": each} for name, each in self.identities.items()], ""

    def delete(self, query: Query) -> bool:
        self.deleted.append(f"{query.kind} {query.name}")
        return True


def cluster(openshift: OpenShift) -> Cluster:
    return cast(Cluster, openshift)


def test_provider_is_added_once_after_others() -> None:
    openshift = OpenShift(COMPANY, HTPASSWD)
    assert add(cluster(openshift), OURS)
    assert openshift.providers == [COMPANY, HTPASSWD, OURS]
    assert not add(cluster(openshift), OURS)


def test_concurrent_changes_of_others_are_not_lost() -> None:
    openshift = OpenShift(COMPANY, meanwhile=lambda present: [*present, NEW])
    assert add(cluster(openshift), OURS)
    assert openshift.providers == [COMPANY, NEW, OURS]
    openshift.meanwhile = lambda present: [each for each in present if each != COMPANY]
    assert remove(cluster(openshift), OURS)
    assert openshift.providers == [NEW]


def test_first_provider_is_added_and_last_one_removed() -> None:
    openshift = OpenShift()
    assert not remove(cluster(openshift), OURS)
    assert add(cluster(openshift), OURS, dry=True) and openshift.providers == []
    assert add(cluster(openshift), OURS) and remove(cluster(openshift), OURS)
    assert openshift.providers == []


def test_new_password_replaces_the_former_one_in_place() -> None:
    openshift = OpenShift(OURS, COMPANY)
    changed = {**OURS, "ldap": {**OURS["ldap"], "insecure": False}}  # type: ignore[dict-item]
    assert add(cluster(openshift), changed)
    assert openshift.providers == [changed, COMPANY]


@pytest.mark.parametrize("another", [COMPANY, HTPASSWD], ids=["of another address", "of another type"])
@pytest.mark.parametrize("change", [add, remove])
def test_foreign_provider_of_the_same_name_is_refused(change: Callable[..., bool], another: dict[str, Any]) -> None:
    openshift = OpenShift(another)
    with pytest.raises(ClusterError, match=f"another identity provider {another['name']}, of type {another['type']}"):
        change(cluster(openshift), {**OURS, "name": another["name"]})
    assert openshift.providers == [another]


def test_identities_are_removed_and_shared_users_kept() -> None:
    openshift = OpenShift(COMPANY, OURS)
    openshift.identities = {"test:dXNlcjA": "test", "test:dXNlcjE": "test", "company:YWRh": "company"}
    openshift.users = {"user0": ["test:dXNlcjA"], "user1": ["test:dXNlcjE", "company:YWRh"], "admin": []}
    assert remove(cluster(openshift), OURS)
    assert openshift.deleted == ["Identity test:dXNlcjA", "Identity test:dXNlcjE", "User user0"]
