"""KubeRay itself, in a lab: clusters and jobs of Ray, from their creation to their end."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from .labs import Cluster, Labs, wait_for
from .workloads import pod_template

NAMESPACE = "default"
GROUP, VERSION = "ray.io", "v1"
NAME = "ray"


@pytest.fixture(scope="module")
def ray(labs: Labs) -> Iterator[Cluster]:
    """Start a lab of 3 nodes of 8 GPUs with Ray."""
    yield Cluster.of(labs.up(NAME, "--nodes", "3", "--with", "ray"))
    assert labs.run("down", "--name", NAME).returncode == 0


def cluster_spec(workers: int, gpus: int = 4) -> dict[str, Any]:
    group = {"groupName": "workers", "replicas": workers, "minReplicas": workers, "maxReplicas": workers}
    return {
        "rayVersion": "2.35.0",
        "headGroupSpec": {"rayStartParams": {}, "template": pod_template({}, "Always", gpus)},
        "workerGroupSpecs": [{**group, "rayStartParams": {}, "template": pod_template({}, "Always", gpus)}],
    }


def submit(ray: Cluster, name: str, workers: int = 1, gpus: int = 4, **spec: Any) -> None:
    """Create a RayJob, whose program runs for a second unless `annotations` override it; with further `labels`."""
    submitter = pod_template(spec.pop("annotations", {}), "Never", 0)
    body = {
        "apiVersion": f"{GROUP}/{VERSION}",
        "kind": "RayJob",
        "metadata": {"name": name, "labels": {"team": name, **spec.pop("labels", {})}},
        "spec": {
            "entrypoint": "python app.py",
            "submitterConfig": {"backoffLimit": 0},
            "submitterPodTemplate": submitter,
            "rayClusterSpec": cluster_spec(workers, gpus),
            **spec,
        },
    }
    ray.custom.create_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "rayjobs", body)


def change(ray: Cluster, name: str, **spec: Any) -> None:
    ray.custom.patch_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "rayjobs", name, {"spec": spec})


def status(ray: Cluster, name: str) -> dict[str, Any]:
    found = ray.custom.get_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "rayjobs", name)
    state: dict[str, Any] = found.get("status", {})
    return state


def clusters(ray: Cluster, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ray.custom.list_namespaced_custom_object(
        GROUP, VERSION, NAMESPACE, "rayclusters", label_selector=f"team={name}"
    )["items"]
    return found


def members(ray: Cluster, name: str) -> list[Any]:
    selector = f"ray.io/cluster={status(ray, name).get('rayClusterName', 'none')}"
    pods: list[Any] = ray.core.list_namespaced_pod(NAMESPACE, label_selector=selector).items
    return pods


def reached(ray: Cluster, name: str, deployment: str) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        found = status(ray, name)
        return found if found.get("jobDeploymentStatus") == deployment else None

    found: dict[str, Any] = wait_for(f"{name} is {deployment}", look)
    return found


def remove(ray: Cluster, name: str) -> None:
    ray.custom.delete_namespaced_custom_object(GROUP, VERSION, NAMESPACE, "rayjobs", name)
    wait_for(
        f"nothing is left of {name}",
        lambda: not clusters(ray, name) and not ray.batch.list_namespaced_job(NAMESPACE).items,
    )


def test_job_runs_on_a_dedicated_cluster_that_is_shut_down(ray: Cluster) -> None:
    submit(ray, "well", workers=2, shutdownAfterJobFinishes=True)
    state = reached(ray, "well", "Complete")
    assert (state["jobStatus"], state["succeeded"]) == ("SUCCEEDED", 1)
    assert state["rayClusterName"].startswith("well-raycluster-")
    assert state["startTime"] <= state["endTime"]
    assert state["rayClusterStatus"]["state"] == "ready"
    assert state["rayClusterStatus"]["desiredGPU"] == "12"
    wait_for("the cluster is gone", lambda: not clusters(ray, "well") and not members(ray, "well"))
    assert ray.batch.read_namespaced_job("well", NAMESPACE).status.succeeded == 1, "the submitter stays"
    remove(ray, "well")


def test_job_with_a_failing_program_fails_and_keeps_its_cluster(ray: Cluster) -> None:
    submit(ray, "fails", annotations={"exit-code": "3"})
    state = reached(ray, "fails", "Failed")
    assert (state["jobStatus"], state["reason"]) == ("FAILED", "AppFailed")
    assert len(members(ray, "fails")) == 2
    remove(ray, "fails")
    wait_for("its pods are gone", lambda: not ray.core.list_namespaced_pod(NAMESPACE).items)


@pytest.mark.deep
def test_cluster_without_gpus_keeps_its_job_waiting_to_the_deadline(ray: Cluster) -> None:
    submit(ray, "waits", gpus=9, activeDeadlineSeconds=2)
    state = reached(ray, "waits", "Failed")
    assert (state["reason"], state.get("jobStatus")) == ("DeadlineExceeded", None)
    remove(ray, "waits")


@pytest.mark.deep
def test_job_losing_a_worker_fails_while_another_is_created(ray: Cluster) -> None:
    submit(ray, "loses", annotations={"duration": "1h"})
    wait_for("it runs", lambda: status(ray, "loses").get("jobStatus") == "RUNNING")
    lost = next(pod for pod in members(ray, "loses") if pod.metadata.labels["ray.io/node-type"] == "worker")
    ray.core.delete_namespaced_pod(lost.metadata.name, NAMESPACE)
    state = reached(ray, "loses", "Failed")
    assert (state["jobStatus"], state["reason"]) == ("FAILED", "AppFailed")
    wait_for(
        "another worker runs",
        lambda: (
            [pod.metadata.uid for pod in members(ray, "loses") if pod.status.phase == "Running"].count(
                lost.metadata.uid
            )
            == 0
            and len(members(ray, "loses")) == 2
        ),
    )
    remove(ray, "loses")


@pytest.mark.deep
def test_suspended_job_has_no_cluster_and_can_continue(ray: Cluster) -> None:
    # a job that keeps its cluster cannot be suspended
    submit(ray, "stops", annotations={"duration": "1h"}, suspend=True, shutdownAfterJobFinishes=True)
    reached(ray, "stops", "Suspended")
    assert clusters(ray, "stops") == []
    change(ray, "stops", suspend=False)
    wait_for("it runs", lambda: status(ray, "stops").get("jobStatus") == "RUNNING")
    change(ray, "stops", suspend=True)
    reached(ray, "stops", "Suspended")
    wait_for("its cluster is gone", lambda: not clusters(ray, "stops"))
    remove(ray, "stops")
