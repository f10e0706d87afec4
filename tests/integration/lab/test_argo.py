"""Argo Workflows itself, whose steps run in pods of a real node."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from perflab.cluster import real_node
from perflab.worker.images import PYTHON

from .labs import Cluster, Labs, wait_for

pytestmark = pytest.mark.deep
NAME = "argo"
SPACE = "default"
KIND = ("argoproj.io", "v1alpha1", SPACE, "workflows")


@pytest.fixture(scope="module")
def argo(labs: Labs) -> Iterator[Cluster]:
    """Start a lab of 2 simulated nodes and a real one with Argo Workflows."""
    yield Cluster.of(labs.up(NAME, "--nodes", "2", "--with", "argo", "--with", "worker"))
    assert labs.run("down", "--name", NAME).returncode == 0


def submit(argo: Cluster, name: str, second: str) -> None:
    """Create a Workflow of two steps: the first prints a word, *second* is a program that gets it."""
    word = {"name": "word", "value": "{{steps.first.outputs.result}}"}
    step = {"name": "second", "template": "second", "arguments": {"parameters": [word]}}
    templates: list[dict[str, Any]] = [
        {"name": "main", "steps": [[{"name": "first", "template": "first"}], [step]]},
        {"name": "first", "script": {"image": PYTHON, "command": ["python3"], "source": "print('hello')"}},
        {
            "name": "second",
            "inputs": {"parameters": [{"name": "word"}]},
            "container": {"image": PYTHON, "command": ["python3", "-c", second, "{{inputs.parameters.word}}"]},
        },
    ]
    spec = {"entrypoint": "main", "templates": templates}
    body = {"apiVersion": "argoproj.io/v1alpha1", "kind": "Workflow", "metadata": {"name": name}, "spec": spec}
    argo.custom.create_namespaced_custom_object(*KIND, body)


def ended(argo: Cluster, name: str) -> dict[str, Any]:
    """Return the status of a Workflow after its end."""

    def status() -> dict[str, Any] | None:
        found: dict[str, Any] = argo.custom.get_namespaced_custom_object(*KIND, name).get("status", {})
        return found if found.get("finishedAt") else None

    found: dict[str, Any] = wait_for(f"the Workflow {name} has ended", status)
    return found


def pods(argo: Cluster, name: str) -> list[Any]:
    found: list[Any] = argo.core.list_namespaced_pod(
        SPACE, label_selector=f"workflows.argoproj.io/workflow={name}"
    ).items
    return sorted(found, key=lambda pod: str(pod.metadata.creation_timestamp))


def test_result_of_a_step_reaches_the_next(argo: Cluster) -> None:
    submit(argo, "passes", "import sys; print('got', sys.argv[1])")
    status = ended(argo, "passes")
    assert status["phase"] == "Succeeded", status
    assert status["progress"] == "2/2"
    steps = pods(argo, "passes")
    assert [pod.spec.node_name for pod in steps] == [real_node.NAME] * 2
    log = argo.core.read_namespaced_pod_log(
        steps[1].metadata.name, SPACE, container="main", _preload_content=False
    ).data.decode()
    assert log.startswith("got hello\n")


def test_failed_step_fails_the_workflow(argo: Cluster) -> None:
    submit(argo, "fails", "raise SystemExit(3)")
    status = ended(argo, "fails")
    assert status["phase"] == "Failed"
    messages = [node.get("message", "") for node in status["nodes"].values() if node["displayName"] == "second"]
    assert messages == ["main: Error (exit code 3)"]


def test_deleted_workflow_takes_its_pods_with_it(argo: Cluster) -> None:
    submit(argo, "stops", "import time; time.sleep(600)")
    wait_for("its second step runs", lambda: [pod.status.phase for pod in pods(argo, "stops")][1:] == ["Running"])
    argo.custom.delete_namespaced_custom_object(*KIND, "stops")
    wait_for("its pods are gone", lambda: not pods(argo, "stops"))
