"""The packages of the lab's catalogs, and OLM's file-based catalogs of them."""

from __future__ import annotations

import base64
import fnmatch
import json
from typing import Any

import pytest
from perflab.catalogs.bundles import OPERATOR, catalog
from perflab.catalogs.packages import ONE_OF, SINCE, UNTIL, Package, images, packages
from perflab.cluster.api import Document

PRODUCT = Package(
    name="product",
    catalogs=("redhat-operators",),
    display_name="The Product",
    provider="Somebody, Inc.",
    default_channel="stable",
    channels={"stable": ("1.0.0", "1.1.0", "1.2.0"), "old": ("0.9.0", "1.0.0")},
    csv="product.v{version}",
    install_modes=("OwnNamespace",),
    deployments=({"name": "operator", "labels": {"app": "product"}},),
    crds=(),
    examples=({"kind": "Thing", "metadata": {"name": "thing"}},),
    requires={"other": ">=1.0.0"},
)


def of(schema: str) -> list[Document]:
    return [document for document in catalog([PRODUCT]) if document["schema"] == schema]


def objects(bundle: Document) -> list[Any]:
    encoded = [each["value"]["data"] for each in bundle["properties"] if each["type"] == "olm.bundle.object"]
    return [json.loads(base64.b64decode(each)) for each in encoded]


def test_each_version_of_a_channel_replaces_its_predecessor() -> None:
    stable, old = of("olm.channel")
    assert stable["entries"] == [
        {"name": "product.v1.0.0"},
        {"name": "product.v1.1.0", "replaces": "product.v1.0.0"},
        {"name": "product.v1.2.0", "replaces": "product.v1.1.0"},
    ]
    assert old["entries"][0] == {"name": "product.v0.9.0"}


def test_version_in_two_channels_is_one_bundle() -> None:
    assert [bundle["name"] for bundle in of("olm.bundle")] == [
        f"product.v{version}" for version in ("1.0.0", "1.1.0", "1.2.0", "0.9.0")
    ]


def test_bundle_names_its_requirements_and_labels_its_pods() -> None:
    bundle = of("olm.bundle")[0]
    required = [each["value"] for each in bundle["properties"] if each["type"] == "olm.package.required"]
    assert required == [{"packageName": "other", "versionRange": ">=1.0.0"}]
    [csv] = objects(bundle)
    [deployment] = csv["spec"]["install"]["spec"]["deployments"]
    assert deployment["label"][OPERATOR] == "product"
    assert deployment["spec"]["template"]["metadata"]["labels"][OPERATOR] == "product"


@pytest.mark.parametrize("package", packages(), ids=lambda package: str(package.name))
def test_packages_are_consistent(package: Package) -> None:
    assert set(package.catalogs) <= images().keys()
    assert package.default_channel in package.channels
    assert package.deployments
    assert all(isinstance(version, str) for version in package.versions)
    served = {
        (f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"])
        for crd in package.crds
        for version in crd["spec"]["versions"]
    }
    assert {(example["apiVersion"], example["kind"]) for example in package.examples} <= served
    assert all(len(package.crds_of(version)) == len(package.crds) for version in package.versions)


@pytest.mark.parametrize(
    "image",
    ["quay.io/rhoai/rhoai-fbc-fragment:rhoai-2.19", "registry.redhat.io/redhat/redhat-operator-index:v4.18"],
)
def test_image_belongs_to_one_catalog(image: str) -> None:
    matching = [name for name, patterns in images().items() for each in patterns if fnmatch.fnmatchcase(image, each)]
    assert len(matching) == 1


LATER = {"nim", "rawDeploymentServiceConfig", "feastoperator", "workbenchNamespace", "llamastackoperator"}
EARLIER = {"serving", "defaultDeploymentMode"}


def schemas(version: str, kind: str = "DataScienceCluster") -> dict[str, dict[str, Any]]:
    """Return the properties of the spec in each API version of a definition of OpenShift AI."""
    (package,) = (each for each in packages() if each.name == "rhods-operator")
    (crd,) = (each for each in package.crds_of(version) if each["spec"]["names"]["kind"] == kind)
    assert not [mark for mark in (SINCE, UNTIL, ONE_OF) if mark in str(crd)]
    return {
        each["name"]: each["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
        for each in crd["spec"]["versions"]
    }


@pytest.mark.parametrize(
    ("version", "fields"),
    [
        ("2.16.2", EARLIER),
        ("2.18.0", {"nim"} | EARLIER),
        ("2.19.1", {"nim", "rawDeploymentServiceConfig"} | EARLIER),
        ("2.20.0", LATER - {"llamastackoperator"} | EARLIER),
        ("2.25.4", LATER | EARLIER),
        ("3.3.0", LATER),
    ],
)
def test_version_has_its_fields(version: str, fields: set[str]) -> None:
    components = schemas(version)["v1"]["components"]["properties"]
    known = {*components, *components["kserve"]["properties"], *components["workbenches"]["properties"]}
    assert known & (LATER | EARLIER) == fields
    monitoring = schemas(version, "DSCInitialization")["v1"]["monitoring"]
    assert bool(monitoring["properties"]["namespace"]["x-kubernetes-validations"]) == (version > "2.19")


@pytest.mark.parametrize(
    ("version", "states"),
    [("2.19.1", {"Managed", "Removed"}), ("2.25.4", {"Managed", "Unmanaged", "Removed"})],
)
def test_kueue_states_are_those_of_the_version(version: str, states: set[str]) -> None:
    kueue = schemas(version)["v1"]["components"]["properties"]["kueue"]["properties"]
    assert set(kueue["managementState"]["enum"]) == states


@pytest.mark.parametrize(("version", "more"), [("3.3.0", set()), ("3.4.1", {"sparkoperator"})])
def test_generation_3_has_both_versions_and_stores_v2(version: str, more: set[str]) -> None:
    found = schemas(version)
    one, two = (set(found[name]["components"]["properties"]) for name in ("v1", "v2"))
    assert one - two == {"codeflare", "modelmeshserving", "datasciencepipelines"}
    assert two - one == {"aipipelines", "mlflowoperator", "trainer"} | more
    (package,) = (each for each in packages() if each.name == "rhods-operator")
    for crd in package.crds_of(version):
        assert [each["name"] for each in crd["spec"]["versions"] if each["storage"]] == ["v2"]
