"""The packages of the lab's catalogs, and the file-based catalogs that OLM reads of them."""

from __future__ import annotations

import base64
import fnmatch
import json
from typing import Any

import pytest
from perflab.catalogs.bundles import OPERATOR, catalog
from perflab.catalogs.packages import SINCE, Package, images, packages
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


def test_each_version_of_a_channel_replaces_the_one_before() -> None:
    stable, old = of("olm.channel")
    assert stable["entries"] == [
        {"name": "product.v1.0.0"},
        {"name": "product.v1.1.0", "replaces": "product.v1.0.0"},
        {"name": "product.v1.2.0", "replaces": "product.v1.1.0"},
    ]
    assert old["entries"][0] == {"name": "product.v0.9.0"}


def test_a_version_of_two_channels_is_one_bundle() -> None:
    assert [bundle["name"] for bundle in of("olm.bundle")] == [
        f"product.v{version}" for version in ("1.0.0", "1.1.0", "1.2.0", "0.9.0")
    ]


def test_a_bundle_names_what_it_needs_and_its_pods_say_whose_they_are() -> None:
    bundle = of("olm.bundle")[0]
    required = [each["value"] for each in bundle["properties"] if each["type"] == "olm.package.required"]
    assert required == [{"packageName": "other", "versionRange": ">=1.0.0"}]
    [csv] = objects(bundle)
    [deployment] = csv["spec"]["install"]["spec"]["deployments"]
    assert deployment["label"][OPERATOR] == "product"
    assert deployment["spec"]["template"]["metadata"]["labels"][OPERATOR] == "product"


@pytest.mark.parametrize("package", packages(), ids=lambda package: str(package.name))
def test_packages_hold_together(package: Package) -> None:
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
def test_an_image_stands_for_one_catalog(image: str) -> None:
    matching = [name for name, patterns in images().items() for each in patterns if fnmatch.fnmatchcase(image, each)]
    assert len(matching) == 1


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
