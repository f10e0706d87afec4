"""Rights of a user, and the phrases for missing ones."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kube_api.rights import Right, applicable, missing, rights

ROLES = Path(__file__).resolve().parents[3] / "collections/ansible_collections/psap/perf/roles"
OF_ROLE = {"some": [{"kinds": ["Node"], "verbs": ["list"]}, {"kinds": ["Pod"], "verbs": ["get", "create"]}]}


class Source:
    """A cluster whose user has the rights in *allowed*."""

    def __init__(self, *allowed: tuple[str, str, str | None]) -> None:
        self.allowed = allowed

    def serves(self, _api_version: str, kind: str) -> bool:
        return kind != "PyTorchJob"

    def is_namespaced(self, _api_version: str, kind: str) -> bool:
        return kind not in ("Node", "Namespace")

    def is_visible(self, query: Query) -> bool:
        return query.name == "there"

    def visible(self, query: Query) -> list[dict[str, Any]]:
        return [{"spec": {"name": "nfd"}}] if query.kind == "Subscription" and query.label_selector != "other" else []

    def may(self, verb: str, query: Query, resource: str | None) -> bool:
        return (verb, resource or query.kind, query.namespace) in self.allowed


def expanded(*rules: Mapping[str, Any]) -> list[Right]:
    return rights(rules, OF_ROLE.__getitem__)


def test_rule_expands_to_each_verb_kind_and_namespace_once() -> None:
    rule = {"kinds": ["Pod", "Secret"], "verbs": ["get", "list"], "namespaces": ["a", "b"]}
    found = expanded(rule, rule)
    assert len(found) == 8
    assert found[0] == Right("get", "v1", "Pod", "a")


def test_rules_of_a_role_apply_to_the_given_namespaces() -> None:
    found = expanded({"role": "some", "namespaces": ["a"]}, {"role": "some", "when": False})
    assert [(right.verb, right.kind, right.namespace) for right in found] == [
        ("list", "Node", "a"), ("get", "Pod", "a"), ("create", "Pod", "a"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "rule", [{"kind": "Pod"}, {}, {"role": "some", "kinds": ["Pod"]}, {"kinds": ["Pad"], "verbs": ["get"]}]
)
def test_invalid_rule_is_refused(rule: Mapping[str, Any]) -> None:
    with pytest.raises(UsageError):
        expanded(rule)


def test_missing_rights_are_listed_by_kind_and_namespace() -> None:
    wanted = expanded(
        {"kinds": ["Pod"], "verbs": ["get", "create", "delete"], "namespaces": ["a", "b"]},
        {"kinds": ["Node"], "verbs": ["list"], "namespaces": ["a"]},
        {"kinds": ["PyTorchJob"], "verbs": ["list"]},
    )
    source = Source(("get", "Pod", "a"), ("get", "Pod", "b"), ("create", "Pod", "b"))
    assert missing(source, wanted) == ["create, delete Pod in namespace a", "delete Pod in namespace b", "list Node"]


def test_cluster_scoped_kind_is_listed_once() -> None:
    wanted = [Right("list", "v1", "Node", namespace) for namespace in ("a", "b", None)]
    assert missing(Source(), wanted) == ["list Node"]


def test_role_in_a_namespace_may_permit_its_use() -> None:
    wanted = expanded({"kinds": ["Namespace"], "verbs": ["get", "create", "patch", "delete"], "namespaces": ["a"]})
    source = Source(*((verb, "Namespace", "a") for verb in ("get", "create", "patch", "delete")))
    assert missing(source, wanted) == ["create Namespace"]


def test_existing_namespace_need_not_be_created() -> None:
    rule = {"kinds": ["Namespace"], "verbs": ["create"], "namespaces": ["there", "new"], "absent": True}
    assert missing(Source(), expanded(rule)) == ["create Namespace"]
    assert missing(Source(), expanded({**rule, "namespaces": ["there"]})) == []


@pytest.mark.parametrize("path", sorted(ROLES.glob("*/meta/rights.yml")), ids=lambda path: path.parents[1].name)
def test_rules_of_every_role_are_valid(path: Path) -> None:
    assert rights(read_yaml(path)["rights"], lambda role: read_yaml(ROLES / role / "meta/rights.yml")["rights"])


@pytest.mark.parametrize(
    ("unless", "holds"),
    [
        ({"kind": "Subscription"}, False),
        ({"kind": "Subscription", "packages": ["nfd"]}, False),
        ({"kind": "Subscription", "packages": ["rhods-operator"]}, True),
        ({"kind": "Subscription", "label_selector": "other"}, True),
        ({"kind": "ConfigMap", "namespace": "a", "name": "there"}, False),
        ({"kind": "ConfigMap", "namespace": "a", "name": "absent"}, True),
        ({"kind": "Node"}, True),
        ({"kind": "PyTorchJob"}, True),
    ],
)
def test_rule_applies_unless_an_object_exists(unless: Mapping[str, Any], holds: bool) -> None:
    rule = {"kinds": ["Pod"], "verbs": ["get"]}
    assert list(applicable([{**rule, "unless": [{"kind": "Secret"}, unless]}], Source())) == ([rule] if holds else [])


def test_rule_applies_only_if_a_kind_is_served() -> None:
    rule = {"kinds": ["Pod"], "verbs": ["get"]}
    rules = [{**rule, "served": ["Subscription"]}, {**rule, "served": ["Subscription", "PyTorchJob"]}]
    assert list(applicable(rules, Source())) == [rule]


def test_subresource_is_checked_and_listed_by_name() -> None:
    rule = {"kinds": ["Pod"], "resource": "pods/exec", "verbs": ["get", "create"], "namespaces": ["a"]}
    assert missing(Source(("get", "pods/exec", "a")), expanded(rule)) == ["create pods/exec in namespace a"]


def test_rule_of_a_role_may_name_its_namespaces() -> None:
    own = [{"kinds": ["Machine"], "verbs": ["get"], "namespaces": ["openshift-machine-api"]}]
    found = rights([{"role": "r", "namespaces": ["a"]}], lambda _role: own)
    assert [right.namespace for right in found] == ["openshift-machine-api"]


def test_future_kind_is_checked_by_its_plural() -> None:
    to_come = rights(
        [{"kinds": ["PyTorchJob"], "resource": "pytorchjobs", "verbs": ["create", "list"]}], OF_ROLE.__getitem__
    )
    assert missing(Source(("list", "pytorchjobs", None)), to_come) == ["create PyTorchJob"]
