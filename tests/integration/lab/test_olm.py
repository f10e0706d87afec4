"""Operators on the lab's emulated OLM: from a Subscription to what the operator makes, and what stays of it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes import client
from perflab.processes.state import Lab

from tests.integration.conftest import PATIENCE_S

from .labs import Cluster, Labs, wait_for

GROUP, VERSION = "operators.coreos.com", "v1alpha1"
NFD = "nfd.4.18.0-202509100210"
PROGRAMS = Path(sys.executable).parent


def listed(cluster: Cluster, namespace: str, plural: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = cluster.custom.list_namespaced_custom_object(GROUP, VERSION, namespace, plural)[
        "items"
    ]
    return items


def phase_of(cluster: Cluster, namespace: str, name: str) -> str:
    found = [each for each in listed(cluster, namespace, "clusterserviceversions") if each["metadata"]["name"] == name]
    return str(found[0].get("status", {}).get("phase")) if found else "none"


def subscribe(cluster: Cluster, namespace: str, package: str, approval: str = "Automatic") -> None:
    body = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "Subscription",
        "metadata": {"name": package},
        "spec": {
            "name": package,
            "source": "certified-operators" if package.startswith("gpu") else "redhat-operators",
            "sourceNamespace": "openshift-marketplace",
            "installPlanApproval": approval,
        },
    }
    cluster.custom.create_namespaced_custom_object(GROUP, VERSION, namespace, "subscriptions", body)


@pytest.fixture
def namespace(openshift: Cluster, request: pytest.FixtureRequest) -> Iterator[str]:
    """One with an OperatorGroup of its own."""
    name = "olm-" + request.node.name.replace("_", "-")[-50:]
    openshift.core.create_namespace({"metadata": {"name": name}})
    body = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "OperatorGroup",
        "metadata": {"name": "own"},
        "spec": {"targetNamespaces": [name]},
    }
    openshift.custom.create_namespaced_custom_object(GROUP, "v1", name, "operatorgroups", body)
    yield name
    openshift.core.delete_namespace(name)


def test_an_operator_waits_for_approval_and_leaves_its_kinds(openshift: Cluster, namespace: str) -> None:
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


def test_one_plan_is_for_all_subscriptions_of_a_namespace(openshift: Cluster, namespace: str) -> None:
    subscribe(openshift, namespace, "nfd", "Manual")
    subscribe(openshift, namespace, "gpu-operator-certified")
    both = sorted(["gpu-operator-certified.v25.3.4", NFD])
    [plan] = wait_for("a plan names both", lambda: [
        each for each in listed(openshift, namespace, "installplans")
        if each["spec"]["clusterServiceVersionNames"] == both
    ])  # fmt: skip
    assert (plan["spec"]["approval"], plan["spec"]["approved"]) == ("Manual", False)


def test_features_are_labels_while_the_operator_looks(openshift: Cluster, namespace: str) -> None:
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


def test_the_command_bears_with_a_failure_that_passes(
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
