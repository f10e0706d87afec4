"""Identity providers of a managed cluster by the API of a simulated OCM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.cluster_manager import ClusterManager
from ansible_collections.psap.perf.plugins.module_utils.openshift.managed_providers import add, body_of, remove

from tests.standins.http_servers import served
from tests.standins.openshift.ocm_api import OFFLINE_TOKEN, Ocm, ocm

PASSWORD = "a-directory-password"


def directory(name: str = "directory", host: str = "openldap", **more: Any) -> dict[str, Any]:
    attributes = {"id": ["dn"], "name": ["cn"], "preferredUsername": ["uid"]}
    ldap = {"url": f"ldap://{host}:1389/ou=users?uid", "insecure": True, "bindDN": "cn=admin", "attributes": attributes}
    return {"name": name, "type": "LDAP", "mappingMethod": "claim", "ldap": ldap | more}


@pytest.fixture(name="server")
def _server() -> type[Ocm]:
    return ocm()


@pytest.fixture(name="manager")
def _manager(server: type[Ocm]) -> Iterator[ClusterManager]:
    with served(server) as url, ClusterManager(url, f"{url}/token", OFFLINE_TOKEN, lambda _secret: None) as found:
        yield found


@pytest.mark.parametrize("name", ["directory", "lost"])
def test_provider_is_added_once_and_removed_once(name: str, manager: ClusterManager, server: type[Ocm]) -> None:
    cluster, wanted = manager.cluster_id("molecule"), directory(name)
    assert add(manager, cluster, wanted, PASSWORD, dry=True)
    assert not server.providers

    assert add(manager, cluster, wanted, PASSWORD)
    assert not add(manager, cluster, wanted, PASSWORD)

    (found,) = server.providers.values()
    assert (found["name"], found["type"]) == (name, "LDAPIdentityProvider")
    assert found["ldap"]["attributes"]["preferred_username"] == ["uid"]
    assert remove(manager, cluster, wanted, dry=True)
    assert server.providers
    assert remove(manager, cluster, wanted)
    assert not remove(manager, cluster, wanted)
    assert not server.providers


def test_differences_are_changed_in_place(manager: ClusterManager, server: type[Ocm]) -> None:
    cluster = manager.cluster_id("molecule")
    add(manager, cluster, directory(), PASSWORD)

    assert add(manager, cluster, directory(bindDN="cn=reader"), PASSWORD)

    (found,) = server.providers.values()
    assert found["ldap"]["bind_dn"] == "cn=reader"
    assert not add(manager, cluster, directory(bindDN="cn=reader"), PASSWORD)


def test_provider_with_another_url_is_not_changed(manager: ClusterManager, server: type[Ocm]) -> None:
    cluster = manager.cluster_id("molecule")
    add(manager, cluster, directory(host="ldap.example.com"), PASSWORD)

    elsewhere = r"another identity provider directory .* at ldap://ldap.example.com"
    with pytest.raises(ClusterError, match=elsewhere):
        add(manager, cluster, directory(), PASSWORD)
    with pytest.raises(ClusterError, match=elsewhere):
        remove(manager, cluster, directory())
    assert len(server.providers) == 1


def test_unknown_cluster_and_other_type_are_refused(manager: ClusterManager) -> None:
    with pytest.raises(ClusterError, match="OCM no longer has the cluster id-gone"):
        add(manager, "id-gone", directory(), PASSWORD)
    with pytest.raises(UsageError, match="of type LDAP only, not GitHub"):
        body_of({"name": "github", "type": "GitHub"}, "")
