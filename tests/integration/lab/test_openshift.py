"""A lab of the profile openshift: bare nodes, projects, operators, steps, kinds that come and go, Prometheus."""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client
from perflab.processes.state import Lab
from perflab.profiles import OPENSHIFT, chosen

from .labs import Cluster, Labs, wait_for

REQUEST: dict[str, Any] = {"apiVersion": "project.openshift.io/v1", "kind": "ProjectRequest"}


@pytest.fixture(scope="module")
def openshift(labs: Labs) -> Iterator[Lab]:
    yield labs.up("small-openshift", "--profile", "openshift", "--nodes", "2", "--gpus", "4")
    assert labs.run("down", "--name", "small-openshift").returncode == 0


@pytest.fixture
def cluster(openshift: Lab) -> Cluster:
    return Cluster.of(openshift)


@pytest.fixture
def stepping(labs: Labs, openshift: Lab) -> Iterator[Any]:
    def step(*values: str) -> None:
        done = labs.run("step", "--name", openshift.name, *values)
        assert done.returncode == 0, done.stderr

    yield step
    step("--clear")


def mark_of(cluster: Cluster) -> dict[str, str]:
    data: dict[str, str] = cluster.core.read_namespaced_config_map("perflab", "kube-system").data
    return data


def operator(cluster: Cluster, name: str) -> dict[str, str]:
    found = cluster.custom.get_cluster_custom_object("config.openshift.io", "v1", "clusteroperators", name)
    return {item["type"]: item["status"] for item in found["status"]["conditions"]}


def project(cluster: Cluster, name: str) -> dict[str, Any] | None:
    listed = cluster.custom.list_cluster_custom_object("project.openshift.io", "v1", "projects")["items"]
    return next((item for item in listed if item["metadata"]["name"] == name), None)


def ask_for(cluster: Cluster, name: str) -> None:
    body = {**REQUEST, "metadata": {"name": name}, "displayName": f"Project {name}"}
    cluster.custom.create_cluster_custom_object("project.openshift.io", "v1", "projectrequests", body)


def test_any_client_can_read_what_is_emulated(cluster: Cluster) -> None:
    data = mark_of(cluster)
    assert data["profile"] == OPENSHIFT
    assert data["emulated"].split(",") == list(chosen(OPENSHIFT, ()))
    assert "prometheus" in json.loads(data["versions"])


def test_nodes_are_bare_and_describe_their_hardware(cluster: Cluster) -> None:
    for node in cluster.core.list_node().items:
        assert node.metadata.annotations["lab.psap.perf/gpus"] == "4"
        assert not [name for name in node.metadata.labels if "nvidia" in name or "feature.node" in name]
        assert "nvidia.com/gpu" not in node.status.capacity


def test_every_operator_is_available_when_the_lab_is_up(cluster: Cluster) -> None:
    listed = cluster.custom.list_cluster_custom_object("config.openshift.io", "v1", "clusteroperators")["items"]
    assert len(listed) == 33
    assert all(operator(cluster, each["metadata"]["name"])["Available"] == "True" for each in listed)
    version = cluster.custom.get_cluster_custom_object("config.openshift.io", "v1", "clusterversions", "version")
    assert {each["type"] for each in version["status"]["conditions"]} >= {"Available", "Progressing"}


def test_step_can_last_fail_and_recover(cluster: Cluster, stepping: Any) -> None:
    stepping("openshift.operator.dns=never", "openshift.operator.etcd=fail: no quorum")
    wait_for("dns progressing", lambda: operator(cluster, "dns")["Progressing"] == "True")
    wait_for("etcd degraded", lambda: operator(cluster, "etcd")["Degraded"] == "True")
    assert operator(cluster, "console")["Available"] == "True"
    stepping("openshift.operator.dns=", "openshift.operator.etcd=")
    wait_for("dns is available", lambda: operator(cluster, "dns")["Available"] == "True")
    wait_for("etcd is available", lambda: operator(cluster, "etcd")["Available"] == "True")


def test_configured_step_is_known_before_the_command_returns(cluster: Cluster, stepping: Any) -> None:
    stepping("openshift.project=never")
    ask_for(cluster, "delayed")
    stepping("openshift.project=fail: no more projects")
    events = wait_for(
        "the failure of the request",
        lambda: [
            event
            for event in cluster.core.list_namespaced_event("default").items
            if event.reason == "ProjectRequestFailed"
        ],
    )
    assert events[0].message == "no more projects"
    assert not [each for each in cluster.core.list_namespace().items if each.metadata.name == "delayed"]


def test_unknown_step_is_refused(labs: Labs, openshift: Lab) -> None:
    done = labs.run("step", "--name", openshift.name, "openshift.nothing=5s")
    assert done.returncode == 2
    assert "the lab has no step 'openshift.nothing'" in done.stderr


def test_project_lives_and_dies_with_its_namespace(cluster: Cluster) -> None:
    ask_for(cluster, "wanted")
    made = wait_for("the project", lambda: project(cluster, "wanted"))
    assert made["metadata"]["annotations"]["openshift.io/display-name"] == "Project wanted"
    wait_for(
        "the users of the namespace",
        lambda: "openshift.io/sa.scc.uid-range" in cluster.core.read_namespace("wanted").metadata.annotations,
    )
    cluster.custom.delete_cluster_custom_object("project.openshift.io", "v1", "projects", "wanted")
    wait_for("the end of the project", lambda: project(cluster, "wanted") is None)
    assert "wanted" not in [each.metadata.name for each in cluster.core.list_namespace().items]


def test_new_projects_follow_the_configured_template(cluster: Cluster) -> None:
    template = {
        "apiVersion": "template.openshift.io/v1",
        "kind": "Template",
        "metadata": {"name": "ours", "namespace": "openshift-config"},
        "objects": [
            {"kind": "Project", "metadata": {"name": "${PROJECT_NAME}", "annotations": {"team": "a"}}},
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "limits"},
                "spec": {"limits": [{"type": "Pod", "max": {"cpu": "4"}}]},
            },
        ],
    }
    cluster.custom.create_namespaced_custom_object(
        "template.openshift.io", "v1", "openshift-config", "templates", template
    )
    for name in ("ours", None):
        change = {"spec": {"projectRequestTemplate": {"name": name} if name else None}}
        cluster.custom.patch_cluster_custom_object("config.openshift.io", "v1", "projects", "cluster", change)
        if name:
            ask_for(cluster, "templated")
            wait_for("the limits of the project", lambda: cluster.core.list_namespaced_limit_range("templated").items)
    assert cluster.core.read_namespace("templated").metadata.annotations["team"] == "a"
    cluster.core.delete_namespace("templated")


def test_route_gets_a_host_and_is_admitted(cluster: Cluster) -> None:
    body = {
        "apiVersion": "route.openshift.io/v1",
        "kind": "Route",
        "metadata": {"name": "web"},
        "spec": {"to": {"kind": "Service", "name": "web"}},
    }
    place = ("route.openshift.io", "v1", "default", "routes")
    cluster.custom.create_namespaced_custom_object(*place, body)

    def ingress() -> Any:
        return cluster.custom.get_namespaced_custom_object(*place, "web").get("status", {}).get("ingress")

    admitted = wait_for("the admission", ingress)[0]
    assert admitted["host"] == "web-default.apps.lab.invalid"
    assert admitted["conditions"][0]["status"] == "True"
    cluster.custom.delete_namespaced_custom_object(*place, "web")


def test_kind_can_be_removed_and_restored(cluster: Cluster) -> None:
    extensions = client.ApiextensionsV1Api(cluster.core.api_client)
    name = "routes.route.openshift.io"
    former = extensions.read_custom_resource_definition(name)
    extensions.delete_custom_resource_definition(name)
    wait_for(
        "the end of the kind",
        lambda: name not in [each.metadata.name for each in extensions.list_custom_resource_definition().items],
    )
    former.metadata = client.V1ObjectMeta(name=name, annotations=former.metadata.annotations)
    extensions.create_custom_resource_definition(former)
    wait_for("the kind again", lambda: extensions.read_custom_resource_definition(name).status.conditions)
    wait_for("a route that is admitted again", lambda: admitted_again(cluster))


def admitted_again(cluster: Cluster) -> bool:
    place = ("route.openshift.io", "v1", "default", "routes")
    body = {"apiVersion": "route.openshift.io/v1", "kind": "Route", "metadata": {"name": "later"}}
    body["spec"] = {"to": {"kind": "Service", "name": "web"}}
    try:
        cluster.custom.create_namespaced_custom_object(*place, body)
    except client.ApiException as error:
        # not served yet, or created by the preceding request
        if error.status not in (404, 409, 429):
            raise
        if error.status != 409:
            return False
    found: dict[str, Any] = cluster.custom.get_namespaced_custom_object(*place, "later")
    return bool(found.get("status", {}).get("ingress"))


def ask_prometheus(cluster: Cluster, query: str) -> list[dict[str, Any]]:
    url = f"{mark_of(cluster)['prometheus-url']}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    with urllib.request.urlopen(url) as answer:
        found: list[dict[str, Any]] = json.load(answer)["data"]["result"]
    return found


def test_prometheus_scrapes_the_control_plane_and_new_targets(openshift: Lab, cluster: Cluster) -> None:
    wanted = {"apiserver", "kube-controller-manager", "scheduler", "etcd"}
    wait_for("all jobs up", lambda: {each["metric"]["job"] for each in ask_prometheus(cluster, "up == 1")} >= wanted)
    address = f"127.0.0.1:{openshift.ports['etcd']}"
    targets = [{"targets": [address], "labels": {"job": "new"}}]
    (openshift.folder / "prometheus" / "new.json").write_text(json.dumps(targets))
    wait_for("the new target", lambda: ask_prometheus(cluster, 'up{job="new"} == 1'))
