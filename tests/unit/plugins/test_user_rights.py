"""The verb that grants users rights, called in this process against a real API server without nodes."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError

from tests.unit.plugins.verbs import Verbs

pytestmark = pytest.mark.slow


def granted(verbs: Verbs, *user_rights: dict[str, Any]) -> dict[tuple[str, str], tuple[list[str], list[Any]]]:
    """Return the subjects and the rules of each role of two users, by namespace and name."""
    accounts = {"namespace": "ci", "service_account": "local-ci", "rights": []}
    users = {"user_rights": list(user_rights), "user_count": 2, "user_namespace_prefix": "test-u"}
    values = verbs("users.rights", **accounts, **users).values
    assert values["namespaces"] == ["test-u0", "test-u1"]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for each in values["manifests"]:
        metadata = each["metadata"]
        found.setdefault((metadata.get("namespace", ""), metadata["name"]), {}).update(each)
    return {
        where: ([subject["name"] for subject in each["subjects"]], each["rules"])
        for where, each in found.items()
        if "rules" in each
    }


def test_each_user_has_the_rights_of_a_role_in_its_namespace_only(verbs: Verbs) -> None:
    roles = granted(verbs, {"role": "skeleton_start_pods"})
    assert roles.keys() == {("test-u0", "local-ci-0-users"), ("test-u1", "local-ci-1-users")}
    for index in range(2):
        subjects, rules = roles[f"test-u{index}", f"local-ci-{index}-users"]
        assert subjects == [f"local-ci-{index}"]
        assert {"apiGroups": ["batch"], "resources": ["jobs"]}.items() <= rules[0].items()


def test_namespace_is_granted_to_its_user_by_name(verbs: Verbs) -> None:
    roles = granted(verbs, {"kinds": ["Namespace"], "verbs": ["get", "create"]})
    for index in range(2):
        subjects, rules = roles["", f"ci-local-ci-{index}-users"]
        assert subjects == [f"local-ci-{index}"]
        assert [(rule["verbs"], rule.get("resourceNames")) for rule in rules] == [
            (["get"], [f"test-u{index}"]),
            (["create"], None),
        ]


def test_rule_whose_condition_is_false_grants_nothing(verbs: Verbs) -> None:
    rule = {"kinds": ["Pod"], "verbs": ["list"]}
    roles = granted(verbs, {**rule, "when": True}, {"role": "skeleton_start_pods", "when": False})
    assert [rules for _subjects, rules in roles.values()] == [
        [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    ] * 2


def test_user_rights_with_namespaces_are_refused(verbs: Verbs) -> None:
    with pytest.raises(UsageError, match="a rule of user_rights has no namespaces"):
        granted(verbs, {"role": "skeleton_start_pods", "namespaces": ["default"]})
