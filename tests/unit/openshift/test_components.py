"""The components that a DataScienceCluster will have."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.openshift.components import (
    available,
    chosen,
    schema_of,
    with_settings,
    written_version,
)

GROUP = "datasciencecluster.opendatahub.io"
STATE = {"properties": {"managementState": {"type": "string"}}}
KSERVE = {
    "properties": {**STATE["properties"], "serving": STATE, "devFlags": {"x-kubernetes-preserve-unknown-fields": True}}
}


def schema(**components: Any) -> dict[str, Any]:
    return {"properties": {"spec": {"properties": {"components": {"properties": components}}}}}


def definition(served: bool = True, **schemas: dict[str, Any]) -> dict[str, Any]:
    return {
        "spec": {
            "versions": [
                {"name": name, "served": served or name == "v1", "schema": {"openAPIV3Schema": each}}
                for name, each in schemas.items()
            ]
        }
    }


SCHEMA = schema(kserve=KSERVE, ray=STATE, kueue=STATE, other={"type": "object"})
SCHEMA_2 = schema(aipipelines=STATE, kserve=STATE, kueue=STATE, ray=STATE, trainer=STATE)
# OpenShift AI 2 serves v1 only, OpenShift AI 3 both.
ONE, BOTH = definition(v1=SCHEMA), definition(v1=SCHEMA, v2=SCHEMA_2)
SERVING = "spec.components.kserve.serving.managementState"


def states(components: dict[str, Any]) -> dict[str, str]:
    return {name: component["managementState"] for name, component in components.items()}


def cluster() -> dict[str, Any]:
    return {"spec": {"components": {"kserve": {"managementState": "Managed"}}}}


def test_components_come_from_the_schema_of_a_version() -> None:
    assert available(schema_of(BOTH, f"{GROUP}/v1")) == ["kserve", "kueue", "ray"]
    assert available(schema_of(BOTH, f"{GROUP}/v2")) == ["aipipelines", "kserve", "kueue", "ray", "trainer"]
    assert available(schema_of(None, f"{GROUP}/v1")) == []


@pytest.mark.parametrize(
    ("crd", "version"), [(ONE, "v1"), (BOTH, "v2"), (definition(served=False, v1=SCHEMA, v2=SCHEMA_2), "v1")]
)
def test_newest_served_version_is_written(crd: dict[str, Any], version: str) -> None:
    assert written_version(crd) == f"{GROUP}/{version}"


def test_disabled_components_are_removed_or_kept() -> None:
    present = {"kueue": {"managementState": "Managed"}, "ray": {"managementState": "Removed"}}
    removed = chosen(ONE, present, ["ray"], others_removed=True)
    assert states(removed) == {"kserve": "Removed", "kueue": "Removed", "ray": "Managed"}
    unchanged = chosen(ONE, present, ["ray"], others_removed=False)
    assert states(unchanged) == {"kueue": "Managed", "ray": "Managed"}


def test_v2_components_of_others_are_kept() -> None:
    present = {"trainer": {"managementState": "Managed"}}
    assert states(chosen(BOTH, present, ["ray"], others_removed=False)) == {"trainer": "Managed", "ray": "Managed"}


@pytest.mark.parametrize(("crd", "state"), [(ONE, "Managed"), (BOTH, "Unmanaged")])
def test_kueue_is_unmanaged_if_v2_is_served(crd: dict[str, Any], state: str) -> None:
    assert states(chosen(crd, {}, ["kueue"], others_removed=False)) == {"kueue": state}


def test_unknown_component_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(UsageError, match=r"unknown component kserv; did you mean kserve\?; known: kserve, kueue, ray"):
        chosen(ONE, {}, ["kserv"], others_removed=True)


def test_renamed_component_is_refused_with_its_new_name() -> None:
    with pytest.raises(UsageError, match="datasciencepipelines is called aipipelines in this version"):
        chosen(BOTH, {}, ["datasciencepipelines"], others_removed=True)


def test_nothing_is_refused_before_the_installation() -> None:
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


def test_missing_component_can_be_removed_but_not_set() -> None:
    path = "spec.components.ray.serving.managementState"
    assert with_settings(cluster(), {path: "Removed"}, SCHEMA) == cluster()
    with pytest.raises(UsageError, match=r"has no spec\.components\.ray\.serving"):
        with_settings(cluster(), {path: "Managed"}, SCHEMA)


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("metadata.name", "begins with spec"),
        ("spec..components", "begins with spec"),
        ("spec.components.kserve.managementState.more", "has no spec.components.kserve.managementState.more"),
    ],
)
def test_unknown_path_is_refused(path: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        with_settings(cluster(), {path: 1}, SCHEMA)
