"""What the emulated operator of OpenShift AI says of its components, and that its data agree with each other."""

from __future__ import annotations

import yaml
from perflab import profiles
from perflab.catalogs.packages import packages
from perflab.emulators.framework.resources import DATA_SCIENCE_CLUSTERS, DSC_INITIALIZATIONS

FOLDER = profiles.folder("rhoai")
PRODUCT = yaml.safe_load((FOLDER / "product.yaml").read_text())
COMPONENTS = {component["name"] for component in PRODUCT["vars"]["components"]}


def test_the_schema_knows_the_components_that_are_emulated() -> None:
    clusters, initializations = next(each.crds for each in packages() if each.name == "rhods-operator")
    schema = clusters["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    assert set(schema["properties"]["spec"]["properties"]["components"]["properties"]) == COMPONENTS
    for resource, crd in ((DATA_SCIENCE_CLUSTERS, clusters), (DSC_INITIALIZATIONS, initializations)):
        assert crd["metadata"]["name"] == f"{resource.plural}.{resource.group}"
        assert crd["spec"]["names"]["kind"] == resource.kind


def test_the_tables_of_the_product_agree() -> None:
    for table in ("deployed", "kinds", "images"):
        assert {entry["component"] for entry in PRODUCT["vars"][table]} <= COMPONENTS
    assert {entry["component"] for entry in PRODUCT["vars"]["deployed"]} == COMPONENTS
