"""Which components a DataScienceCluster is to have."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.components import (
    available,
    chosen,
    schema_of,
    with_settings,
)

STATE = {"properties": {"managementState": {"type": "string"}}}
KSERVE = {
    "properties": {**STATE["properties"], "serving": STATE, "devFlags": {"x-kubernetes-preserve-unknown-fields": True}}
}
COMPONENTS = {"properties": {"kserve": KSERVE, "ray": STATE, "kueue": STATE, "other": {"type": "object"}}}
SPEC = {"properties": {"components": COMPONENTS}}
SCHEMA: dict[str, Any] = {"properties": {"spec": SPEC}}
SERVING = "spec.components.kserve.serving.managementState"


def states(components: dict[str, Any]) -> dict[str, str]:
    return {name: component["managementState"] for name, component in components.items()}


def cluster() -> dict[str, Any]:
    return {"spec": {"components": {"kserve": {"managementState": "Managed"}}}}


def test_the_components_are_those_of_the_version_that_is_written() -> None:
    renamed = {"properties": {"spec": {"properties": {"components": {"properties": {"aipipelines": STATE}}}}}}
    written = {"name": "v1", "schema": {"openAPIV3Schema": SCHEMA}}
    stored = {"name": "v2", "storage": True, "schema": {"openAPIV3Schema": renamed}}
    definition = {"spec": {"versions": [stored, written]}}
    assert available(schema_of(definition, "v1")) == ["kserve", "kueue", "ray"]
    assert available(schema_of(definition, "v2")) == ["aipipelines"]
    assert available(schema_of(None, "v1")) == []


def test_what_is_not_enabled_is_removed_or_stays_as_it_is() -> None:
    present = {"kueue": {"managementState": "Managed"}, "ray": {"managementState": "Removed"}}
    removed = chosen(SCHEMA, present, ["ray"], others_removed=True)
    assert states(removed) == {"kserve": "Removed", "kueue": "Removed", "ray": "Managed"}
    unchanged = chosen(SCHEMA, present, ["ray"], others_removed=False)
    assert states(unchanged) == {"kueue": "Managed", "ray": "Managed"}


def test_a_component_that_is_none_is_refused_and_the_nearest_named() -> None:
    with pytest.raises(UsageError, match=r"no component kserv; did you mean kserve\?; there are kserve, kueue, ray"):
        chosen(SCHEMA, {}, ["kserv"], others_removed=True)


def test_where_nothing_is_installed_nothing_is_refused() -> None:
    assert states(chosen({}, {}, ["anything"], others_removed=True)) == {"anything": "Managed"}
    assert with_settings({"spec": {}}, {SERVING: "Managed"}, {})["spec"]["components"]


def test_settings_go_to_their_dotted_paths() -> None:
    wanted = {SERVING: "Removed", "spec.components.kserve.devFlags.manifests": [1]}
    result = with_settings(cluster(), wanted, SCHEMA)["spec"]["components"]["kserve"]
    assert result == {
        "managementState": "Managed",
        "serving": {"managementState": "Removed"},
        "devFlags": {"manifests": [1]},
    }


def test_what_this_version_does_not_have_can_be_removed_but_not_set() -> None:
    path = "spec.components.ray.serving.managementState"
    assert with_settings(cluster(), {path: "Removed"}, SCHEMA) == cluster()
    with pytest.raises(UsageError, match=r"has no spec\.components\.ray\.serving"):
        with_settings(cluster(), {path: "Managed"}, SCHEMA)


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("metadata.name", "begins with spec"),
        ("spec..components", "begins with spec"),
        ("spec.components.kserve.managementState.more", "has no spec.components.kserve.managementState.more"),
    ],
)
def test_a_path_that_leads_nowhere_is_refused(path: str, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        with_settings(cluster(), {path: 1}, SCHEMA)
