"""Roles that grant a service account the rights of rules."""

from __future__ import annotations

from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.rights import Right
from ansible_collections.psap.perf.plugins.module_utils.users.grants import Account, grants, user_account

NAMES = {"Pod": "pods", "Node": "nodes", "Job": "jobs", "Namespace": "namespaces"}


class Names:
    """A cluster with four kinds."""

    def serves(self, api_version: str, kind: str) -> bool:
        """Return whether the kind is known."""
        return kind in NAMES

    def is_namespaced(self, api_version: str, kind: str) -> bool:
        """Return whether the kind is namespaced."""
        return kind in ("Pod", "Job")

    def resource_name(self, api_version: str, kind: str) -> str:
        """Return its name in URLs."""
        return NAMES[kind]


def granted(*rights: Right) -> dict[tuple[str, str], Any]:
    """Return the rules of each role."""
    manifests = grants([Account("ci", "users")], rights, Names())
    roles = [each for each in manifests if "rules" in each]
    bindings = [each for each in manifests if "roleRef" in each]
    assert [each["roleRef"]["name"] for each in bindings] == [each["metadata"]["name"] for each in roles]
    assert all(
        each["subjects"][0] == {"kind": "ServiceAccount", "name": "users", "namespace": "ci"} for each in bindings
    )
    return {(each["kind"], each["metadata"].get("namespace", "")): each["rules"] for each in roles}


def test_each_namespace_has_a_role_and_the_cluster_another() -> None:
    rules = granted(
        Right("list", "v1", "Pod", "a"),
        Right("get", "v1", "Pod", "a"),
        Right("create", "batch/v1", "Job", "b"),
        Right("list", "v1", "Node", "a"),
        Right("list", "v1", "Pod"),
    )
    assert rules[("Role", "a")] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list", "get"]}]
    assert rules[("Role", "b")] == [{"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create"]}]
    assert [rule["resources"] for rule in rules[("ClusterRole", "")]] == [["nodes"], ["pods"]]


def test_kind_that_is_not_served_needs_its_resource() -> None:
    rules = granted(
        Right("get", "example.org/v1", "Thing", "a"), Right("get", "example.org/v1", "Other", "a", resource="others")
    )
    assert rules == {("Role", "a"): [{"apiGroups": ["example.org"], "resources": ["others"], "verbs": ["get"]}]}


def test_namespace_is_granted_by_its_name() -> None:
    rules = granted(Right("delete", "v1", "Namespace", "a"))
    assert rules[("ClusterRole", "")] == [
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["delete"], "resourceNames": ["a"]}
    ]


def test_subresource_is_granted() -> None:
    rules = granted(Right("create", "v1", "Pod", "a", resource="pods/exec"))
    assert rules[("Role", "a")][0]["resources"] == ["pods/exec"]


def test_all_accounts_get_the_rights_of_one_role() -> None:
    accounts = [Account("ci", "users"), user_account(Account("ci", "users"), 3)]
    role, binding = grants(accounts, [Right("list", "v1", "Node")], Names())
    assert role["metadata"] == binding["metadata"] == {"name": "ci-users-users"}
    assert [each["name"] for each in binding["subjects"]] == ["users", "users-3"]
