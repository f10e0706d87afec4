"""A GPU node that is lost while a job trains on it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from kubernetes import client, config

from tests.polling import PATIENCE_S, wait_until

from .conftest import NAMESPACE, Commands

pytestmark = pytest.mark.lab

JOB = "lost"


@pytest.fixture(name="trainings")
def _trainings(commands: Commands) -> Iterator[Commands]:
    """Return the commands; afterwards restore the nodes: create deleted ones again."""
    before, _version = commands.cluster.list(Query("v1", "Node"))
    yield commands
    for node in before:
        there = commands.cluster.get(Query("v1", "Node", name=node["metadata"]["name"]))
        if there is None:
            kept = ("name", "labels", "annotations")
            metadata = {key: node["metadata"][key] for key in kept if key in node["metadata"]}
            made = {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "spec": node.get("spec", {})}
            commands.cluster.apply(made)
            set_status(commands, node["metadata"]["name"], node["status"])
        else:
            set_status(commands, node["metadata"]["name"], {"conditions": node["status"]["conditions"]})


def set_status(commands: Commands, node: str, status: dict[str, Any]) -> None:
    """Report a status in place of the node's kubelet."""
    api = client.CoreV1Api(config.new_client_from_config(str(commands.lab.kubeconfig)))
    api.patch_node_status(node, {"status": status})


def begin(commands: Commands) -> subprocess.Popen[str]:
    """Start a training in two pods that would take an hour."""
    annotations = {"template": {"metadata": {"annotations": {"lab.psap.perf/duration": "1h"}}}}
    patch = {"spec": {"pytorchReplicaSpecs": {"Master": annotations, "Worker": annotations}}}
    return commands.start_command(name=JOB, workload="ilab", gpu=8, pod_count=2, patch=patch, timeout="1h")


def worker(commands: Commands) -> Manifest | None:
    pod = commands.cluster.get(Query("v1", "Pod", NAMESPACE, f"{JOB}-worker-0"))
    return pod if pod and pod.get("status", {}).get("phase") == "Running" else None


def node_of_worker(commands: Commands) -> str:
    wait_until(lambda: any("completed" in path.read_text() for path in commands.runs.glob("*/001__*/waiting.json")))
    wait_until(lambda: worker(commands) is not None)
    pod = worker(commands)
    assert pod is not None
    return str(pod["spec"]["nodeName"])


def check_end(commands: Commands, process: subprocess.Popen[str], reason: str) -> None:
    """Check that the command failed with *reason* and kept the state of the job, its pods and logs."""
    # only Kubernetes' garbage collector ends the pod of a deleted node, after most of a minute
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2, output
    artifacts = commands.artifacts()
    assert f"completed will not be: {JOB}: pod {JOB}-worker-0: {reason}" in (artifacts.parent / "FAILURE").read_text()
    result = json.loads((artifacts / "fine_tuning.json").read_text())
    assert result["outcome"] == "failed"
    assert result["reason"].startswith(f"{JOB}-worker-0: {reason}")
    assert "simulated by the lab" in (artifacts / f"logs/{JOB}-master-0.log").read_text()
    kept = {path.name for path in artifacts.iterdir()}
    assert {"awaited.yml", "pytorchjob.yml", "pod.yml", f"events_{NAMESPACE}.txt"} <= kept
    query = Query("kubeflow.org/v1", "PyTorchJob", NAMESPACE, label_selector=f"psap.perf/fine-tuning-job={JOB}")
    assert commands.cluster.list(query)[0] == []


@pytest.mark.deep
def test_deleted_node_ends_the_wait_and_is_named(trainings: Commands) -> None:
    process = begin(trainings)
    node = node_of_worker(trainings)
    trainings.cluster.delete(Query("v1", "Node", name=node))
    check_end(trainings, process, f"its node {node} is gone")


@pytest.mark.deep
def test_unready_node_ends_the_wait_with_its_last_message(trainings: Commands) -> None:
    process = begin(trainings)
    node = node_of_worker(trainings)
    # as long as the command waits for a kubelet that restarts
    since = (datetime.now(UTC) - timedelta(seconds=61)).strftime("%Y-%m-%dT%H:%M:%SZ")
    words = {"reason": "NodeStatusUnknown", "message": "Kubelet stopped posting node status."}
    ready = {"type": "Ready", "status": "Unknown", "lastTransitionTime": since, **words}
    set_status(trainings, node, {"conditions": [ready]})
    check_end(trainings, process, f"its node {node} has not been ready for 6")
