"""The namespaces in which OpenShift assigns user IDs to pods."""

from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.openshift.projects import assigned


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("fine-tuning", {}, True),
        ("fine-tuning", {"openshift.io/run-level": "2"}, True),
        ("openshift-something", {"openshift.io/run-level": "1"}, False),
        ("default", {}, False),
        ("kube-system", {}, False),
    ],
)
def test_pods_of_privileged_namespaces_get_no_user_id(name: str, labels: dict[str, str], expected: bool) -> None:
    assert assigned(name, {"metadata": {"name": name, "labels": labels}}) is expected


def test_namespace_yet_to_be_created_is_an_ordinary_one() -> None:
    assert assigned("fine-tuning", None)
