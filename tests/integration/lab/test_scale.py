"""The number and the attributes of a lab's nodes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from perflab.processes.state import Lab

from .labs import Cluster, Labs, wait_for
from .workloads import deployment

TEMPLATE = """
apiVersion: v1
kind: Node
metadata:
  labels: {pool: gold}
status:
  allocatable: {cpu: "4"}
"""


@pytest.fixture(scope="module")
def scaled(labs: Labs, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    template: Path = tmp_path_factory.mktemp("template") / "node.yaml"
    template.write_text(TEMPLATE)
    options = ("--nodes", "2", "--gpus", "4", "--gpu-product", "NVIDIA-A100", "--fsync")
    lab = labs.up("scaled", *options, "--node-template", str(template))
    template.unlink()
    yield lab
    assert labs.run("down", "--name", "scaled").returncode == 0


def names(cluster: Cluster) -> list[str]:
    return sorted(node.metadata.name for node in cluster.core.list_node().items)


def nodes_of_ready(cluster: Cluster) -> list[str]:
    """Return the nodes of all live pods, with repetitions; empty while one of the pods is not ready."""
    living = [pod for pod in cluster.core.list_namespaced_pod("default").items if not pod.metadata.deletion_timestamp]
    ready = [{each.type: each.status for each in pod.status.conditions or ()}.get("Ready") for pod in living]
    return [pod.spec.node_name for pod in living] if set(ready) == {"True"} else []


def test_nodes_follow_options_and_template(scaled: Lab) -> None:
    node = Cluster.of(scaled).core.read_node("node-0001")
    assert node.metadata.labels["pool"] == "gold"
    assert node.metadata.labels["nvidia.com/gpu.product"] == "NVIDIA-A100"
    assert node.status.allocatable["nvidia.com/gpu"] == "4"
    assert node.status.allocatable["cpu"] == "4"
    assert node.status.capacity["cpu"] == "128"


def test_scaled_lab_has_the_nodes_and_moves_pods(labs: Labs, scaled: Lab) -> None:
    cluster = Cluster.of(scaled)
    grown = labs.run("scale", "--name", "scaled", "--nodes", "6")
    assert grown.returncode == 0, grown.stderr
    assert names(cluster) == [f"node-000{number}" for number in range(6)]
    assert cluster.core.read_node("node-0005").metadata.labels["pool"] == "gold"
    assert labs.get("scaled").options.nodes == 6

    cluster.apps.create_namespaced_deployment("default", deployment("spread", 12))
    read = cluster.apps.read_namespaced_deployment_status
    wait_for("12 ready", lambda: read("spread", "default").status.ready_replicas == 12)
    assert labs.run("scale", "--name", "scaled", "--nodes", "1").returncode == 0
    assert names(cluster) == ["node-0000"]
    # right after it the Deployment still counts the deleted pods
    wait_for("12 ready on the node that is left", lambda: nodes_of_ready(cluster) == ["node-0000"] * 12)
    mark = cluster.core.read_namespaced_config_map("perflab", "kube-system").data
    assert mark["nodes"] == "1"


def test_scaling_an_unknown_lab_is_refused(labs: Labs) -> None:
    refused = labs.run("scale", "--name", "nobody", "--nodes", "3")
    assert refused.returncode == 3
    assert "unknown lab 'nobody'" in refused.stderr
