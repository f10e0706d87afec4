"""OLM installs an operator only with suitable OperatorGroups and by its upgrade path."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.operator_subscriptions import (
    SubscriptionRequest,
    check_upgrade,
    foreign_group_of,
)


def request(all_namespaces: bool = False, csv: str = "nfd.v3") -> SubscriptionRequest:
    return SubscriptionRequest("nfd", csv, "nfd.v4", "openshift-nfd", all_namespaces)


def group(name: str, *namespaces: str) -> dict[str, Any]:
    return {"metadata": {"name": name}, "spec": {"targetNamespaces": list(namespaces)} if namespaces else {}}


OWN = group("nfd-operator-group", "openshift-nfd")


@pytest.mark.parametrize(
    ("all_namespaces", "groups", "foreign"),
    [
        (False, [], False),
        (False, [OWN], False),
        # The apply of our own group changes it.
        (True, [OWN], False),
        (False, [group("theirs", "openshift-nfd")], True),
        (True, [group("theirs")], True),
    ],
)
def test_suitable_group_of_others_is_reused(all_namespaces: bool, groups: list[dict[str, Any]], foreign: bool) -> None:
    assert foreign_group_of(request(all_namespaces), groups) is foreign


@pytest.mark.parametrize(
    ("all_namespaces", "groups", "named"),
    [
        (False, [group("theirs")], "theirs"),
        (True, [group("theirs", "openshift-nfd")], "theirs"),
        (False, [OWN, group("theirs", "openshift-nfd")], "nfd-operator-group, theirs"),
    ],
)
def test_unsuitable_groups_are_refused(all_namespaces: bool, groups: list[dict[str, Any]], named: str) -> None:
    with pytest.raises(UsageError, match=f"namespace openshift-nfd has the OperatorGroup {named}, of other"):
        foreign_group_of(request(all_namespaces), groups)


@pytest.mark.parametrize(
    "installed", [None, {}, {"installedCSV": "nfd.v3"}, {"installedCSV": "nfd.v2", "currentCSV": "nfd.v3"}]
)
def test_version_on_the_upgrade_path_is_accepted(installed: dict[str, str] | None) -> None:
    check_upgrade(request(), None if installed is None else {"status": installed})


def test_newest_version_of_the_channel_is_accepted() -> None:
    check_upgrade(request(csv="nfd.v4"), {"status": {"installedCSV": "nfd.v2"}})


def test_version_unknown_in_check_mode_is_accepted() -> None:
    check_upgrade(request(csv=""), {"status": {"installedCSV": "nfd.v2"}})


def test_version_off_the_upgrade_path_is_refused_with_the_possible_ones() -> None:
    with pytest.raises(UsageError, match=r"does not upgrade it to nfd\.v3, but to nfd\.v4; remove it first"):
        check_upgrade(request(), {"status": {"installedCSV": "nfd.v2", "currentCSV": "nfd.v2"}})


def test_downgrade_from_the_newest_version_is_refused() -> None:
    with pytest.raises(UsageError, match="but to nothing newer"):
        check_upgrade(request(), {"status": {"installedCSV": "nfd.v4"}})
