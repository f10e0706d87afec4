"""What the emulated operator of OpenShift AI says of its components, and that its data agree with each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import perflab.emulators.operators.rhoai
import pytest
import yaml
from perflab.emulators.framework.resources import DATA_SCIENCE_CLUSTERS, DSC_INITIALIZATIONS
from perflab.emulators.openshift.olm.packages import SINCE, Package, packages
from perflab.emulators.operators.rhoai.clusters import ComponentStatus, status_conditions
from perflab.emulators.operators.rhoai.components import (
    COMPONENTS,
    PART_OF,
    definition,
    deployment,
    is_managed,
    labels_of,
    needs_mesh,
)
from perflab.emulators.operators.rhoai.installing import State

FOLDER = Path(perflab.emulators.operators.rhoai.__file__).parent
READY = State(True, "1/1 deployments ready")


def told(ready: State, other: State) -> list[ComponentStatus]:
    managed = [ComponentStatus(COMPONENTS["ray"], True, ready), ComponentStatus(COMPONENTS["kserve"], True, other)]
    return [
        *managed,
        ComponentStatus(COMPONENTS["kueue"], False, State(False, "Component ManagementState is set to Removed")),
    ]


def states(conditions: list[dict[str, Any]]) -> dict[str, str]:
    return {condition["type"]: condition["status"] for condition in conditions}


def message(conditions: list[dict[str, Any]], kind: str) -> str:
    return next(str(condition["message"]) for condition in conditions if condition["type"] == kind)


def test_what_is_removed_does_not_keep_the_cluster_from_being_ready() -> None:
    conditions = status_conditions([], told(READY, READY), initialized=True)
    assert states(conditions) == {
        "RayReady": "True",
        "KserveReady": "True",
        "KueueReady": "False",
        "ProvisioningSucceeded": "True",
        "ComponentsReady": "True",
        "Ready": "True",
    }


def test_a_component_that_fails_is_named_with_its_reason() -> None:
    conditions = status_conditions([], told(READY, State(False, "no mesh", failed=True)), initialized=True)
    assert states(conditions)["Ready"] == "False"
    assert message(conditions, "Ready") == "Some components are not ready: kserve"
    assert message(conditions, "ProvisioningSucceeded") == "kserve: no mesh"


def test_nothing_is_ready_before_the_initialization() -> None:
    conditions = status_conditions([], [], initialized=False)
    assert message(conditions, "Ready") == "the DSCInitialization is not ready"


@pytest.mark.parametrize(
    ("kserve", "managed", "mesh"),
    [
        ({"managementState": "Managed"}, True, True),
        ({"managementState": "Managed", "serving": {"managementState": "Removed"}}, True, False),
        ({}, False, True),
    ],
)
def test_serving_needs_the_mesh_unless_it_is_removed(kserve: dict[str, Any], managed: bool, mesh: bool) -> None:
    cluster = {"spec": {"components": {"kserve": kserve}}}
    assert is_managed(cluster, "kserve") is managed
    assert needs_mesh(cluster, "kserve") is mesh
    assert not needs_mesh(cluster, "dashboard")


def test_the_schema_knows_the_components_that_are_emulated() -> None:
    clusters, initializations = yaml.safe_load_all((FOLDER / "operator_crds.yaml").read_text())
    schema = clusters["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert set(schema["properties"]["spec"]["properties"]["components"]["properties"]) == set(COMPONENTS)
    for resource, crd in ((DATA_SCIENCE_CLUSTERS, clusters), (DSC_INITIALIZATIONS, initializations)):
        assert crd["metadata"]["name"] == f"{resource.plural}.{resource.group}"
        assert crd["spec"]["names"]["kind"] == resource.kind


def test_packages_are_in_a_catalog_and_in_those_of_images() -> None:
    packages = yaml.safe_load((FOLDER / "packages.yaml").read_text())
    assert [package["name"] for package in packages] == ["rhods-operator", "opendatahub-operator"]
    for package in packages:
        assert package["default_channel"] in package["channels"]
        assert package["image_catalogs"]
        assert (FOLDER / package["crds"]).exists()


def test_what_belongs_to_a_component_says_so() -> None:
    component = COMPONENTS["workbenches"]
    made = [deployment(component, name) for name in component.deployments]
    made += [definition(component, kind) for kind in component.kinds]
    assert [document["metadata"]["name"] for document in made] == [
        "notebook-controller-deployment",
        "odh-notebook-controller-manager",
        "notebooks.kubeflow.org",
    ]
    for document in made:
        assert labels_of(component).items() <= document["metadata"]["labels"].items()
    assert made[0]["spec"]["template"]["metadata"]["labels"][PART_OF] == "workbenches"


def test_kinds_that_the_lab_has_otherwise_are_left_alone() -> None:
    groups = {kind.name.partition(".")[2] for component in COMPONENTS.values() for kind in component.kinds}
    names = {kind.name for component in COMPONENTS.values() for kind in component.kinds}
    assert not groups & {"kueue.x-k8s.io", "ray.io"}
    assert {name for name in names if name.endswith(".kubeflow.org")} == {"notebooks.kubeflow.org"}


@pytest.mark.parametrize(
    ("version", "fields"),
    [
        ("2.16.2", set()),
        ("2.18.0", {"nim"}),
        ("2.19.1", {"nim", "rawDeploymentServiceConfig"}),
        ("2.20.0", {"nim", "rawDeploymentServiceConfig", "feastoperator", "workbenchNamespace"}),
    ],
)
def test_a_version_has_the_fields_that_it_has(version: str, fields: set[str]) -> None:
    (package,) = (each for each in packages() if each.name == "rhods-operator")
    clusters, initializations = package.crds_of(version)
    spec, monitoring = (
        crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        for crd in (clusters, initializations)
    )
    components = spec["components"]["properties"]
    known = {*components, *components["kserve"]["properties"], *components["workbenches"]["properties"]}
    later = {"nim", "rawDeploymentServiceConfig", "feastoperator", "workbenchNamespace"}
    assert known & later == fields
    assert bool(monitoring["monitoring"]["properties"]["namespace"]["x-kubernetes-validations"]) == (version > "2.19")
    assert SINCE not in str((clusters, initializations))


@pytest.mark.parametrize("package", packages(), ids=lambda package: str(package.name))
def test_every_version_of_every_package_has_its_definitions(package: Package) -> None:
    for versions in package.channels.values():
        for version in versions:
            assert len(package.crds_of(version)) == len(package.crds)
