"""Pods of fine-tuning jobs train by the lab's configured model and write progress to their logs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from perflab.processes.state import Lab

from .labs import Cluster, Labs, wait_for
from .workloads import PREFIX

NAMESPACE = "default"
CONFIGURATION = {
    "model_name_or_path": "/mnt/storage/model/granite-8b",
    "peft_method": "lora",
    "per_device_train_batch_size": 8,
}


def describe(cluster: Cluster, job: str) -> None:
    """Create the ConfigMap of a job."""
    facts = {"name": job, "pods": 1, "gpus_per_pod": 2, "dataset": {"name": "gsm8k.json", "replication": 1}}
    data = {"job.json": json.dumps(facts), "config.json": json.dumps(CONFIGURATION)}
    cluster.core.create_namespaced_config_map(NAMESPACE, {"metadata": {"name": f"{job}-config"}, "data": data})


def start(cluster: Cluster, name: str, job: str, trainer: str = "fms", gpus: int = 2, **annotations: str) -> Any:
    """Create the pod of a job; return it as stored by the API server."""
    labels = {f"{PREFIX}trainer": trainer} if trainer else {}
    metadata = {
        "name": name,
        "labels": {**labels, "psap.perf/fine-tuning-job": job},
        "annotations": {f"{PREFIX}{key.replace('_', '-')}": value for key, value in annotations.items()},
    }
    resources = {"limits": {"nvidia.com/gpu": str(gpus)}} if gpus else {}
    container = {"name": "pytorch", "image": "none", "resources": resources}
    spec = {"restartPolicy": "Never", "containers": [container]}
    return cluster.core.create_namespaced_pod(NAMESPACE, {"metadata": metadata, "spec": spec})


def training(pod: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(pod.metadata.annotations[f"{PREFIX}training"])
    return found


def phase(cluster: Cluster, name: str) -> str:
    return str(cluster.core.read_namespaced_pod(name, NAMESPACE).status.phase)


def log(cluster: Cluster, name: str) -> str:
    # the client would show non-ASCII bytes as their representation
    answer = cluster.core.read_namespaced_pod_log(name, NAMESPACE, _preload_content=False)
    return str(answer.data.decode())


def test_pod_trains_as_its_job_and_gpus_determine(cluster: Cluster) -> None:
    describe(cluster, "lora")
    pod = start(cluster, "lora-master-0", "lora")
    facts = training(pod)
    assert (facts["gpus"], facts["gpu_product"], facts["speed"]) == (2, "NVIDIA-H100-80GB-HBM3", 600)
    assert facts["simulated"] is True
    assert 0 < facts["gpu_utilization"] < 1
    duration_s = facts["start_s"] + facts["steps"] * facts["step_s"]
    assert pod.metadata.annotations[f"{PREFIX}duration"] == f"{1000 * duration_s / 600:.0f}ms"
    wait_for("the pod succeeded", lambda: phase(cluster, "lora-master-0") == "Succeeded")
    text = log(cluster, "lora-master-0")
    assert text.startswith("simulated by the lab: no program runs here")
    assert text.count("'loss'") == facts["steps"]
    assert "'train_runtime'" in text


def test_log_grows_while_the_pod_runs(cluster: Cluster) -> None:
    describe(cluster, "slow")
    start(cluster, "slow-master-0", "slow", duration="30s")
    first = wait_for("some records", lambda: log_if_running(cluster, "slow-master-0", 1))
    later = wait_for("more of them", lambda: log_if_running(cluster, "slow-master-0", first.count("'loss'") + 1))
    assert later.startswith(first)
    assert "'train_runtime'" not in later
    cluster.core.delete_namespaced_pod("slow-master-0", NAMESPACE)


def log_if_running(cluster: Cluster, name: str, records: int) -> str:
    """Return the log once it has this many records, else an empty text."""
    if phase(cluster, name) != "Running":
        return ""
    text = log(cluster, name)
    return text if text.count("'loss'") >= records else ""


def test_model_that_does_not_fit_runs_out_of_memory(cluster: Cluster) -> None:
    describe(cluster, "large")
    large = {**CONFIGURATION, "model_name_or_path": "llama-405b"}
    cluster.core.patch_namespaced_config_map("large-config", NAMESPACE, {"data": {"config.json": json.dumps(large)}})
    start(cluster, "large-master-0", "large")
    wait_for("the pod failed", lambda: phase(cluster, "large-master-0") == "Failed")
    assert "torch.OutOfMemoryError: CUDA out of memory" in log(cluster, "large-master-0")
    ended = cluster.core.read_namespaced_pod("large-master-0", NAMESPACE).status.container_statuses[0].state.terminated
    assert ended.exit_code == 1


@pytest.mark.parametrize(
    ("name", "trainer", "gpus", "job"),
    [("no-label", "", 2, "lora"), ("no-gpu", "fms", 0, "lora"), ("no-description", "fms", 2, "nobody")],
)
def test_other_pods_get_no_log(cluster: Cluster, name: str, trainer: str, gpus: int, job: str) -> None:
    pod = start(cluster, name, job, trainer, gpus)
    assert not pod.metadata.annotations
    wait_for("the pod succeeded", lambda: phase(cluster, name) == "Succeeded")
    assert "is simulated: no program ran" in log(cluster, name)


@pytest.mark.deep
def test_time_factor_is_set_and_survives_a_restart(labs: Labs, lab: Lab, cluster: Cluster) -> None:
    describe(cluster, "fast")
    assert labs.run("step", "--name", lab.name, "trainers.speed=60000").returncode == 0
    pod = start(cluster, "fast-0", "fast")
    assert training(pod)["speed"] == 60_000
    assert training(start(cluster, "fast-1", "fast", training_speed="5")) | {"speed": 0} == training(pod) | {"speed": 0}
    # it then listens on another port, and the API server's webhook is updated
    assert labs.run("restart", "--name", lab.name, "emulators").returncode == 0
    again = wait_for("the webhook is back", lambda: start_again(cluster))
    assert training(again)["speed"] == 60_000
    assert labs.run("step", "--name", lab.name, "--clear").returncode == 0


def start_again(cluster: Cluster) -> Any:
    """Create the pod again; return None while the API server still calls the former webhook."""
    from kubernetes.client import ApiException

    try:
        return start(cluster, "fast-2", "fast")
    except ApiException:
        return None
