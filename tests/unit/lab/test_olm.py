"""The rules of the emulated OLM: what a Subscription leads to, beside which OperatorGroups an operator installs."""

from __future__ import annotations

from typing import Any, cast

import pytest
from perflab.cluster.api import Document
from perflab.emulators.framework.cluster import Cluster
from perflab.emulators.framework.operator_deployments import Operator
from perflab.emulators.openshift.olm import manifests, packages
from perflab.emulators.openshift.olm.groups import problem_of
from perflab.emulators.openshift.olm.packages import MARKETPLACE, Package, component_label
from perflab.emulators.openshift.olm.resolving import Outcome, Settled, Unresolved, Wanted, originals, resolve

PRODUCT = Package(
    name="product",
    catalog="redhat-operators",
    display_name="The Product",
    provider="Somebody, Inc.",
    default_channel="stable",
    channels={"stable": ("1.0", "1.1", "1.2"), "old": ("0.9",)},
    csv="product.v{version}",
    install_modes=("OwnNamespace",),
    deployments=({"name": "operator", "labels": {"app": "product"}},),
    crds=(),
    examples=({"kind": "Thing", "metadata": {"name": "thing"}},),
    image_catalogs=("quay.io/someone/catalog*",),
)


def subscription(status: dict[str, Any] | None = None, **spec: Any) -> Document:
    return {
        "metadata": {"name": "sub", "namespace": "n"},
        "spec": {"name": "product", "source": "redhat-operators", "sourceNamespace": MARKETPLACE, **spec},
        "status": status or {},
    }


def installed(version: str, phase: str = "Succeeded") -> dict[str, Document]:
    return {f"product.v{version}": {"status": {"phase": phase}}}


def outcome(asked: Document, present: dict[str, Document] | None = None) -> str:
    """The name of the version wanted, or the words of the failure, or nothing."""
    found: Outcome = resolve(asked, PRODUCT, present or {})
    if isinstance(found, Wanted):
        return found.csv
    return found.message if isinstance(found, Unresolved) else ""


def test_a_new_subscription_leads_to_the_newest_of_the_channel() -> None:
    assert outcome(subscription()) == "product.v1.2"
    assert outcome(subscription(channel="old")) == "product.v0.9"
    assert outcome(subscription(channel="stable", startingCSV="product.v1.0")) == "product.v1.0"


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"channel": "beta"}, "no operators found in channel beta of package product in the catalog referenced by"),
        ({"startingCSV": "product.v9"}, "no operators found with name product.v9 in channel stable of package product"),
    ],
)
def test_what_the_catalog_does_not_have(spec: dict[str, Any], words: str) -> None:
    assert words in outcome(subscription(**spec))


def test_a_package_that_the_catalog_does_not_have() -> None:
    found = resolve(subscription(), None, {})
    assert isinstance(found, Unresolved)
    assert "no operators found in package product in the catalog referenced by subscription sub" in found.message


def test_a_version_that_an_earlier_subscription_left_stands_in_the_way() -> None:
    assert "product.v1.0 exists and is not referenced by a subscription" in outcome(subscription(), installed("1.0"))
    # but not the one that this Subscription is installing
    assert outcome(subscription({"currentCSV": "product.v1.2"}), installed("1.2", "Pending")) == "product.v1.2"


def test_an_upgrade_goes_to_the_newest_and_only_from_what_succeeded() -> None:
    status = {"currentCSV": "product.v1.0", "installedCSV": "product.v1.0"}
    found = resolve(subscription(status), PRODUCT, installed("1.0"))
    assert found == Wanted(PRODUCT, "1.2", "product.v1.0")
    assert resolve(subscription(status), PRODUCT, installed("1.0", "Installing")) == Settled()


def test_what_is_removed_by_hand_is_not_installed_again() -> None:
    status = {"currentCSV": "product.v1.2", "installedCSV": "product.v1.2"}
    assert resolve(subscription(status), PRODUCT, {}) == Settled()


def version_in(namespace: str, **labels: str) -> Document:
    document = manifests.csv(PRODUCT, "1.2", None)
    document["metadata"].update(namespace=namespace, labels=labels)
    return document


def group(*namespaces: str) -> Document:
    return {"metadata": {"name": "group"}, "spec": {"targetNamespaces": list(namespaces)}}


@pytest.mark.parametrize(
    ("groups", "reason"),
    [
        ([group("n")], None),
        ([], "NoOperatorGroup"),
        ([group("n"), group("n")], "TooManyOperatorGroups"),
        ([group()], "UnsupportedOperatorGroup"),
        ([group("other")], "UnsupportedOperatorGroup"),
        ([group("n", "other")], "UnsupportedOperatorGroup"),
    ],
    ids=["its own", "none", "two", "all namespaces", "another one", "several"],
)
def test_operator_groups(groups: list[Document], reason: str | None) -> None:
    problem = problem_of(groups, version_in("n"))
    assert (problem.reason if problem else None) == reason


def test_copies_are_no_versions_of_a_namespace() -> None:
    copied = version_in("m", **{"olm.copiedFrom": "n"})
    assert originals([version_in("n"), copied], "n").keys() == {"product.v1.2"}
    assert originals([version_in("n"), copied], "m") == {}


def test_the_label_is_cut_as_names_of_labels_must_be() -> None:
    assert component_label("nfd", "openshift-nfd") == "operators.coreos.com/nfd.openshift-nfd"
    long = component_label("gpu-operator-certified", "a" * 39 + "-b" + "c" * 9)
    assert long == "operators.coreos.com/gpu-operator-certified." + "a" * 39


def test_catalogs_of_users_serve_what_their_image_holds() -> None:
    def catalog(name: str, namespace: str, image: str) -> Document:
        return {"metadata": {"name": name, "namespace": namespace}, "spec": {"image": image}}

    assert PRODUCT.is_offered_by(catalog("redhat-operators", MARKETPLACE, "any"))
    assert PRODUCT.is_offered_by(catalog("mine", "n", "quay.io/someone/catalog:v2"))
    assert not PRODUCT.is_offered_by(catalog("redhat-operators", "n", "any"))
    assert not PRODUCT.is_offered_by(catalog("mine", "n", "quay.io/else/catalog:v2"))


def test_a_package_manifest_lists_versions_newest_first() -> None:
    manifest = manifests.package_manifest(PRODUCT, {"metadata": {"name": "c", "namespace": "n"}})
    [stable, _old] = manifest["status"]["channels"]
    assert stable["currentCSV"] == "product.v1.2"
    assert [entry["version"] for entry in stable["entries"]] == ["1.2", "1.1", "1.0"]


@pytest.mark.parametrize("package", packages.packages(), ids=lambda package: package.name)
def test_packages_of_all_products_hold_together(package: Package) -> None:
    assert package.default_channel in package.channels
    assert package.deployments
    served = {
        (f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"])
        for crd in package.crds
        for version in crd["spec"]["versions"]
    }
    assert {(example["apiVersion"], example["kind"]) for example in package.examples} <= served
    for versions in package.channels.values():
        for version in versions:
            assert isinstance(version, str)
            assert package.version_of(package.csv_name(version)) == version


class FakeStore:
    """Deployments, and who listens to them."""

    def __init__(self) -> None:
        self.objects: list[Document] = []
        self.tell: Any = None

    def listen(self, listener: Any) -> None:
        self.tell = listener

    def values(self) -> list[Document]:
        return self.objects


class FakeCluster:
    def __init__(self) -> None:
        self.deployments = FakeStore()

    def store(self, _resource: object, label: str) -> FakeStore:
        assert label == "lab.psap.perf/operator=product"
        return self.deployments


def test_an_operator_runs_while_each_of_its_deployments_has_a_pod() -> None:
    cluster = FakeCluster()
    operator = Operator(cast(Cluster, cluster), "product")
    heard: list[bool] = []
    operator.listen(lambda: heard.append(operator.running))
    up: Document = {"status": {"availableReplicas": 1}}
    down: Document = {"status": {"conditions": [{"type": "Available"}]}}
    for deployments in ([], [down], [up], [up, up], [up, down], []):
        cluster.deployments.objects = deployments
        cluster.deployments.tell(None, None)
    assert heard == [True, False]
