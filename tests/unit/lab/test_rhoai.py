"""What the emulated operator of OpenShift AI says of its components, and that its data agree with each other."""

from __future__ import annotations

import pytest
import yaml
from perflab import profiles
from perflab.emulators.framework.resources import DATA_SCIENCE_CLUSTERS, DSC_INITIALIZATIONS
from perflab.emulators.openshift.olm.packages import SINCE, Package, packages

FOLDER = profiles.folder("rhoai")
PRODUCT = yaml.safe_load((FOLDER / "product.yaml").read_text())
COMPONENTS = {component["name"] for component in PRODUCT["vars"]["components"]}


def test_the_schema_knows_the_components_that_are_emulated() -> None:
    clusters, initializations = yaml.safe_load_all((FOLDER / "operator_crds.yaml").read_text())
    schema = clusters["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert set(schema["properties"]["spec"]["properties"]["components"]["properties"]) == COMPONENTS
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


def test_the_tables_of_the_product_agree() -> None:
    for table in ("deployed", "kinds", "images"):
        assert {entry["component"] for entry in PRODUCT["vars"][table]} <= COMPONENTS
    assert {entry["component"] for entry in PRODUCT["vars"]["deployed"]} == COMPONENTS


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
