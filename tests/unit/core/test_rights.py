"""What a user must be allowed, and how what is lacking is told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_yaml
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.cluster.query import Query
from ansible_collections.psap.perf.plugins.module_utils.cluster.rights import Right, lacking, rights

ROLES = Path(__file__).resolve().parents[3] / "collections/ansible_collections/psap/perf/roles"
OF_ROLE = {"some": [{"kinds": ["Node"], "verbs": ["list"]}, {"kinds": ["Pod"], "verbs": ["get", "create"]}]}


class Source:
    """A cluster whose user may do what *allowed* names."""

    def __init__(self, *allowed: tuple[str, str, str | None]) -> None:
        self.allowed = allowed

    def serves(self, _api_version: str, kind: str) -> bool:
        return kind != "PyTorchJob"

    def is_namespaced(self, _api_version: str, kind: str) -> bool:
        return kind not in ("Node", "Namespace")

    def is_visible(self, query: Query) -> bool:
        return query.name == "there"

    def may(self, verb: str, query: Query) -> bool:
        return (verb, query.kind, query.namespace) in self.allowed


def expanded(*rules: Mapping[str, Any]) -> list[Right]:
    return rights(rules, OF_ROLE.__getitem__)


def test_a_rule_is_every_verb_of_every_kind_in_every_namespace_once() -> None:
    rule = {"kinds": ["Pod", "Secret"], "verbs": ["get", "list"], "namespaces": ["a", "b"]}
    found = expanded(rule, rule)
    assert len(found) == 8
    assert found[0] == Right("get", "v1", "Pod", "a")


def test_the_rules_of_a_role_hold_in_the_namespaces_given() -> None:
    found = expanded({"role": "some", "namespaces": ["a"]}, {"role": "some", "when": False})
    assert [(right.verb, right.kind, right.namespace) for right in found] == [
        ("list", "Node", "a"), ("get", "Pod", "a"), ("create", "Pod", "a"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "rule", [{"kind": "Pod"}, {}, {"role": "some", "kinds": ["Pod"]}, {"kinds": ["Pad"], "verbs": ["get"]}]
)
def test_what_is_no_rule_is_refused(rule: Mapping[str, Any]) -> None:
    with pytest.raises(UsageError):
        expanded(rule)


def test_all_that_is_lacking_is_told_by_kind_and_namespace() -> None:
    wanted = expanded(
        {"kinds": ["Pod"], "verbs": ["get", "create", "delete"], "namespaces": ["a", "b"]},
        {"kinds": ["Node"], "verbs": ["list"], "namespaces": ["a"]},
        {"kinds": ["PyTorchJob"], "verbs": ["list"]},
    )
    source = Source(("get", "Pod", "a"), ("get", "Pod", "b"), ("create", "Pod", "b"))
    assert lacking(source, wanted) == ["create, delete Pod in namespace a", "delete Pod in namespace b", "list Node"]


def test_a_namespace_that_is_there_need_not_be_made() -> None:
    rule = {"kinds": ["Namespace"], "verbs": ["create"], "namespaces": ["there", "new"], "absent": True}
    assert lacking(Source(), expanded(rule)) == ["create Namespace"]
    assert lacking(Source(), expanded({**rule, "namespaces": ["there"]})) == []


@pytest.mark.parametrize("path", sorted(ROLES.glob("*/meta/rights.yml")), ids=lambda path: path.parents[1].name)
def test_the_rules_of_every_role_can_be_read(path: Path) -> None:
    assert rights(read_yaml(path)["rights"], OF_ROLE.__getitem__)
