from __future__ import annotations

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import (
    file_name,
    labelled,
    parse_manifests,
    stable,
    title,
)

TEXT = """
apiVersion: v1
kind: Namespace
metadata: {name: redis}
---
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: "system:x", namespace: other, labels: {mine: "1"}}
"""


def test_stream_of_manifests_is_split() -> None:
    namespace, role = parse_manifests(TEXT, "redis.yml.j2")
    assert title(namespace) == "Namespace redis"
    assert file_name(role) == "role_system_x.yml"


def test_missing_labels_and_namespace_are_added() -> None:
    namespace, role = (labelled(item, {"a": "b"}, "here") for item in parse_manifests(TEXT, "x"))
    assert role["metadata"]["namespace"] == "other"
    assert namespace["metadata"]["namespace"] == "here"
    assert role["metadata"]["labels"] == {"app.kubernetes.io/managed-by": "psap.perf", "a": "b", "mine": "1"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "does not render to YAML"),
        ("- 1", "needs apiVersion"),
        ("{apiVersion: v1, kind: Pod}", r"Pod has no metadata\.name"),
    ],
)
def test_invalid_manifest_names_its_template(text: str, message: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        parse_manifests(text, "redis.yml.j2")
    assert "redis.yml.j2" in str(caught.value)


def test_differences_omit_server_managed_fields() -> None:
    seen = {"kind": "Pod", "metadata": {"name": "x", "uid": "1", "managedFields": []}, "status": {"phase": "Running"}}
    assert stable(seen) == {"kind": "Pod", "metadata": {"name": "x"}}
