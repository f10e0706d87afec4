"""Operators by the lab's OLM: catalogs, resolution, installation, upgrades, leftovers, and its steps."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from perflab.processes.state import Lab

from tests.polling import PATIENCE_S

from .labs import Cluster, Labs, wait_for

GROUP, VERSION = "operators.coreos.com", "v1alpha1"
OLD_NFD, NFD = "nfd.4.18.0-202505200035", "nfd.4.18.0-202509100210"
SOURCES = {"gpu-operator-certified": "certified-operators", "opendatahub-operator": "community-operators"}
MARKETPLACE = "openshift-marketplace"
PROGRAMS = Path(sys.executable).parent


def listed(cluster: Cluster, namespace: str, plural: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = cluster.custom.list_namespaced_custom_object(GROUP, VERSION, namespace, plural)[
        "items"
    ]
    return items


def phase_of(cluster: Cluster, namespace: str, name: str) -> str:
    found = [each for each in listed(cluster, namespace, "clusterserviceversions") if each["metadata"]["name"] == name]
    return str(found[0].get("status", {}).get("phase")) if found else "none"


def subscribe(cluster: Cluster, namespace: str, package: str, approval: str = "Automatic", **spec: Any) -> None:
    body = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Subscription",
        "metadata": {"name": package},
        "spec": {
            "name": package,
            "source": SOURCES.get(package, "redhat-operators"),
            "sourceNamespace": MARKETPLACE,
            "installPlanApproval": approval,
            **spec,
        },
    }
    cluster.custom.create_namespaced_custom_object(GROUP, VERSION, namespace, "subscriptions", body)


@pytest.fixture
def empty_namespace(openshift: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    name = "olm-" + request.node.name.replace("_", "-")[-50:]
    openshift.core.create_namespace({"metadata": {"name": name}})
    yield name
    openshift.core.delete_namespace(name)


@pytest.fixture
def namespace(openshift: Cluster, empty_namespace: str) -> str:
    """Return a namespace with its own OperatorGroup."""
    create_operator_group(openshift, empty_namespace)
    return empty_namespace


def create_operator_group(cluster: Cluster, namespace: str) -> None:
    """Create an OperatorGroup for its own namespace."""
    metadata, spec = {"name": "own"}, {"targetNamespaces": [namespace]}
    group = {"apiVersion": f"{GROUP}/v1", "kind": "OperatorGroup", "metadata": metadata, "spec": spec}
    cluster.custom.create_namespaced_custom_object(GROUP, "v1", namespace, "operatorgroups", group)


def test_operator_waits_for_approval_and_leaves_its_kinds(openshift: Cluster, namespace: str) -> None:
    subscribe(openshift, namespace, "nfd", "Manual")
    plan = wait_for("a plan waits", lambda: [
        each for each in listed(openshift, namespace, "installplans")
        if each.get("status", {}).get("phase") == "RequiresApproval"
    ])[0]  # fmt: skip
    assert phase_of(openshift, namespace, NFD) == "none"
    openshift.custom.patch_namespaced_custom_object(
        GROUP, VERSION, namespace, "installplans", plan["metadata"]["name"], {"spec": {"approved": True}}
    )
    wait_for("the operator is installed", lambda: phase_of(openshift, namespace, NFD) == "Succeeded")
    [deployment] = openshift.apps.list_namespaced_deployment(namespace).items
    assert deployment.metadata.labels["olm.owner"] == NFD

    openshift.custom.delete_namespaced_custom_object(GROUP, VERSION, namespace, "subscriptions", "nfd")
    wait_for("the plan goes with the Subscription", lambda: not listed(openshift, namespace, "installplans"))
    assert phase_of(openshift, namespace, NFD) == "Succeeded"
    openshift.custom.delete_namespaced_custom_object(GROUP, VERSION, namespace, "clusterserviceversions", NFD)
    wait_for("the Deployment goes", lambda: not openshift.apps.list_namespaced_deployment(namespace).items)
    extensions = client.ApiextensionsV1Api(openshift.core.api_client)
    kinds = [each.metadata.name for each in extensions.list_custom_resource_definition().items]
    assert "nodefeaturediscoveries.nfd.openshift.io" in kinds


@pytest.mark.deep
def test_one_plan_covers_all_subscriptions_of_a_namespace(openshift: Cluster, empty_namespace: str) -> None:
    # nothing is resolved without an OperatorGroup, so OLM gets it after both Subscriptions
    namespace = empty_namespace
    subscribe(openshift, namespace, "nfd", "Manual")
    subscribe(openshift, namespace, "gpu-operator-certified")
    wait_for(
        "OLM knows both", lambda: all(each.get("status") for each in listed(openshift, namespace, "subscriptions"))
    )
    create_operator_group(openshift, namespace)
    both = sorted(["gpu-operator-certified.v25.3.4", NFD])
    [plan] = wait_for("a plan names both", lambda: [
        each for each in listed(openshift, namespace, "installplans")
        if sorted(each["spec"]["clusterServiceVersionNames"]) == both
    ])  # fmt: skip
    assert (plan["spec"]["approval"], plan["spec"]["approved"]) == ("Manual", False)


def condition_of(cluster: Cluster, namespace: str, kind: str) -> str:
    """Return the message of a true condition of the namespace's one Subscription, or an empty text."""
    [subscription] = listed(cluster, namespace, "subscriptions")
    conditions = subscription.get("status", {}).get("conditions") or []
    return next(
        (str(each.get("message", "")) for each in conditions if (each["type"], each["status"]) == (kind, "True")), ""
    )


def test_missing_channel_is_reported(openshift: Cluster, namespace: str) -> None:
    subscribe(openshift, namespace, "nfd", channel="stabel")
    why = "no operators found in channel stabel of package nfd in the catalog referenced by subscription nfd"
    # at first, a catalog may not answer yet
    wait_for("the resolution has failed", lambda: why in condition_of(openshift, namespace, "ResolutionFailed"))


def approve_plan(openshift: Cluster, namespace: str, version: str) -> None:
    """Wait for the plan that installs a version to require approval, and approve it."""
    [plan] = wait_for("a plan waits", lambda: [
        each for each in listed(openshift, namespace, "installplans")
        if each["spec"]["clusterServiceVersionNames"] == [version]
        # OLM never continues a plan that is changed before its first status
        and each.get("status", {}).get("phase") == "RequiresApproval"
    ])  # fmt: skip
    openshift.custom.patch_namespaced_custom_object(
        GROUP, VERSION, namespace, "installplans", plan["metadata"]["name"], {"spec": {"approved": True}}
    )


def is_installed(openshift: Cluster, namespace: str, version: str) -> bool:
    """Return whether a version has succeeded."""
    return phase_of(openshift, namespace, version) == "Succeeded"


@pytest.mark.deep
def test_upgrade_replaces_the_previous_version(openshift: Cluster, namespace: str) -> None:
    subscribe(openshift, namespace, "nfd", "Manual", startingCSV=OLD_NFD)
    for version in (OLD_NFD, NFD):
        approve_plan(openshift, namespace, version)
        wait_for("it is installed", partial(is_installed, openshift, namespace, version))
    wait_for("the old version is gone", lambda: phase_of(openshift, namespace, OLD_NFD) == "none")
    [deployment] = openshift.apps.list_namespaced_deployment(namespace).items
    assert deployment.metadata.labels["olm.owner"] == NFD


def test_operator_has_its_account_rights_and_conditions(openshift: Cluster, namespace: str) -> None:
    subscribe(openshift, namespace, "nfd")
    wait_for("the operator is installed", lambda: phase_of(openshift, namespace, NFD) == "Succeeded")
    [deployment] = openshift.apps.list_namespaced_deployment(namespace).items
    account = deployment.spec.template.spec.service_account_name
    assert openshift.core.read_namespaced_service_account(account, namespace)
    conditions = openshift.custom.list_namespaced_custom_object(GROUP, "v2", namespace, "operatorconditions")["items"]
    assert [each["metadata"]["name"] for each in conditions] == [NFD]

    def kinds() -> set[str]:
        operators = openshift.custom.list_cluster_custom_object(GROUP, "v1", "operators")["items"]
        [operator] = [each for each in operators if each["metadata"]["name"] == f"nfd.{namespace}"] or [{}]
        return {each["kind"] for each in operator.get("status", {}).get("components", {}).get("refs", ())}

    wanted = {"ClusterServiceVersion", "CustomResourceDefinition"}
    wait_for("the Operator lists its components", lambda: wanted <= kinds())


def test_subscription_environment_reaches_the_operator(openshift: Cluster, namespace: str) -> None:
    def settings() -> dict[str, str | None]:
        deployments = openshift.apps.list_namespaced_deployment(namespace).items
        found = [each.spec.template.spec.containers[0].env or [] for each in deployments]
        return {each.name: each.value for entries in found for each in entries}

    subscribe(openshift, namespace, "nfd", config={"env": [{"name": "LAB", "value": "1"}, {"name": "EMPTY"}]})
    wait_for("the operator is installed", lambda: phase_of(openshift, namespace, NFD) == "Succeeded")

    def arrives() -> bool:
        # OLM uses the Subscription that it has matched with the installed version. The match may come after
        # the installation; then OLM processes the version again only when the version changes.
        touched = {"metadata": {"annotations": {"touched": str(time.monotonic())}}}
        versions = (GROUP, VERSION, namespace, "clusterserviceversions", NFD)
        openshift.custom.patch_namespaced_custom_object(*versions, touched)
        time.sleep(1)
        return settings().items() >= {"LAB": "1", "EMPTY": None}.items()

    wait_for("it has the environment", arrives)
    [deployment] = openshift.apps.list_namespaced_deployment(namespace).items

    def stopped() -> bool:
        # OLM may deploy once more for the version that was touched last
        openshift.apps.patch_namespaced_deployment(deployment.metadata.name, namespace, {"spec": {"replicas": 0}})
        time.sleep(1)
        return not openshift.core.list_namespaced_pod(namespace).items

    # a stopped operator stays stopped until its Subscription changes
    wait_for("it is stopped", stopped)
    change = {"spec": {"config": {"env": [{"name": "LAB", "value": "2"}]}}}
    openshift.custom.patch_namespaced_custom_object(GROUP, VERSION, namespace, "subscriptions", "nfd", change)
    wait_for("the change is applied", lambda: settings().get("LAB") == "2" and "EMPTY" not in settings())
    wait_for("the operator runs again", partial(is_installed, openshift, namespace, NFD))


@pytest.mark.deep
def test_two_operators_owning_a_kind_are_not_installed_together(openshift: Cluster, namespace: str) -> None:
    group = {"metadata": {"name": "own"}, "spec": {"targetNamespaces": None}}
    openshift.custom.patch_namespaced_custom_object(GROUP, "v1", namespace, "operatorgroups", "own", group)
    subscribe(openshift, namespace, "opendatahub-operator")
    wait_for(
        "the first is installed", lambda: phase_of(openshift, namespace, "opendatahub-operator.v2.23.0") == "Succeeded"
    )
    # the namespace in its object is immutable
    initializations = ("dscinitialization.opendatahub.io", "v1", "dscinitializations")
    custom = openshift.custom
    wait_for("the operator created its object", lambda: custom.list_cluster_custom_object(*initializations)["items"])
    with pytest.raises(client.ApiException, match="ApplicationsNamespace is immutable"):
        custom.patch_cluster_custom_object(
            *initializations, "default-dsci", {"spec": {"applicationsNamespace": "redhat-ods-applications"}}
        )
    subscribe(openshift, namespace, "rhods-operator")

    def refused() -> str:
        subscriptions = {each["metadata"]["name"]: each for each in listed(openshift, namespace, "subscriptions")}
        conditions = subscriptions["rhods-operator"].get("status", {}).get("conditions") or []
        return " ".join(each.get("message", "") for each in conditions if each["type"] == "ResolutionFailed")

    # until OLM registers the first as installed, that is the reason of the refusal
    kinds = ("provide DSCInitialization", "provide DataScienceCluster")
    wait_for("the second is refused for a kind of both", lambda: any(kind in refused() for kind in kinds))
    custom.delete_cluster_custom_object(*initializations, "default-dsci")
    wait_for("its object is gone", lambda: not custom.list_cluster_custom_object(*initializations)["items"])
    for name in ("rhods-operator", "opendatahub-operator"):
        openshift.custom.delete_namespaced_custom_object(GROUP, VERSION, namespace, "subscriptions", name)


def test_packages_of_global_catalogs_are_in_every_namespace(openshift: Cluster, namespace: str) -> None:
    listing = openshift.custom.list_namespaced_custom_object(
        "packages.operators.coreos.com",
        "v1",
        namespace,
        "packagemanifests",
        label_selector="catalog=certified-operators",
    )
    [package] = listing["items"]
    [stable] = [each for each in package["status"]["channels"] if each["name"] == "stable"]
    assert stable["currentCSV"] == "gpu-operator-certified.v25.3.4"
    assert [each["version"] for each in stable["entries"]] == ["25.3.4", "25.3.2", "24.9.2"]


def catalog_state(cluster: Cluster, name: str) -> str:
    found = cluster.custom.get_namespaced_custom_object(GROUP, VERSION, MARKETPLACE, "catalogsources", name)
    return str((found.get("status", {}).get("connectionState") or {}).get("lastObservedState"))


@pytest.mark.deep
def test_catalog_goes_down_and_returns(openshift: Cluster, namespace: str, lab_steps: Any) -> None:
    wait_for("the catalog answers", lambda: catalog_state(openshift, "certified-operators") == "READY")
    lab_steps("olm.catalog.certified-operators=fail: out of memory")
    wait_for("it does not", lambda: catalog_state(openshift, "certified-operators") == "TRANSIENT_FAILURE")
    subscribe(openshift, namespace, "gpu-operator-certified")
    lab_steps("--clear")
    wait_for("it answers again", lambda: catalog_state(openshift, "certified-operators") == "READY")
    version = "gpu-operator-certified.v25.3.4"
    wait_for("the operator is installed", lambda: phase_of(openshift, namespace, version) == "Succeeded")


@pytest.mark.deep
def test_late_operator_starts_despite_a_killed_olm(
    openshift: Cluster, openshift_lab: Lab, labs: Labs, namespace: str, lab_steps: Any
) -> None:
    lab_steps(f"olm.csv.{NFD}=never")
    subscribe(openshift, namespace, "nfd")
    wait_for("its pod waits", lambda: openshift.core.list_namespaced_pod(namespace).items)
    done = labs.run("restart", "--name", openshift_lab.name, "olm")
    assert done.returncode == 0, done.stderr
    assert phase_of(openshift, namespace, NFD) == "Installing"
    lab_steps("--clear")
    wait_for("the operator is installed", lambda: phase_of(openshift, namespace, NFD) == "Succeeded")


def test_features_are_labels_while_the_operator_runs(openshift: Cluster, namespace: str) -> None:
    subscribe(openshift, namespace, "nfd")
    wait_for("the operator is installed", lambda: phase_of(openshift, namespace, NFD) == "Succeeded")
    body = {
        "apiVersion": "nfd.openshift.io/v1",
        "kind": "NodeFeatureDiscovery",
        "metadata": {"name": "nfd"},
        "spec": {"prunerOnDelete": True},
    }
    place = ("nfd.openshift.io", "v1", namespace, "nodefeaturediscoveries")
    openshift.custom.create_namespaced_custom_object(*place, body)
    nodes = len(openshift.core.list_node().items)
    gpus = "feature.node.kubernetes.io/pci-10de.present=true"
    wait_for("all nodes are labelled", lambda: len(openshift.core.list_node(label_selector=gpus).items) == nodes)

    openshift.custom.delete_namespaced_custom_object(*place, "nfd")
    wait_for("no node is", lambda: not openshift.core.list_node(label_selector=gpus).items)
    wait_for("no worker is left", lambda: not openshift.apps.list_namespaced_daemon_set(namespace).items)
    wait_for("the object is gone", lambda: not openshift.custom.list_namespaced_custom_object(*place)["items"])


@pytest.mark.deep
def test_command_tolerates_a_transient_failure(
    openshift: Cluster, openshift_lab: Lab, labs: Labs, lab_steps: Any, tmp_path: Path
) -> None:
    lab_steps("olm.csv=fail: no such image yet")
    words = ["cluster", "deploy_operator", "-i", "inventories/lab"]
    arguments = ["--catalog", "redhat-operators", "--manifest-name", "nfd", "--namespace", "olm-bears"]
    environment = {**labs.environment(), "PERF_LAB": openshift_lab.name, "PERF_RUNS_DIR": str(tmp_path)}
    environment["PATH"] = f"{PROGRAMS}:{os.environ['PATH']}"
    command = [str(PROGRAMS / "perfdrv"), "toolbox", *words, *arguments]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as running:
        wait_for("the operator has failed", lambda: phase_of(openshift, "olm-bears", NFD) == "Failed")
        lab_steps("--clear")
        output, _ = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 0, output
    assert phase_of(openshift, "olm-bears", NFD) == "Succeeded"
    openshift.core.delete_namespace("olm-bears")
