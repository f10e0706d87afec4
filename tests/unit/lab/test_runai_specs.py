"""What a workload of Run:ai asks for becomes the pods of Kubernetes."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.cluster.api import Document
from perflab.emulators.queues.runai import groups, specs


def workload(labels: dict[str, str] | None = None, **fields: Any) -> Document:
    metadata = {"name": "w", "namespace": "runai-team", "uid": "0123456789abcdef", "labels": labels or {}}
    return {"metadata": metadata, "spec": {name: {"value": each} for name, each in fields.items()}}


def test_resources_and_commands() -> None:
    asked = workload(
        gpu="2", cpu="0.5", memory="1Gi", memoryLimit="2Gi", image="i", command="sleep 30", arguments="-v 'a b'"
    )
    container = specs.pod_template(asked, "main", "Never")["spec"]["containers"][0]
    assert container == {
        "name": "main",
        "image": "i",
        "command": ["sleep", "30"],
        "args": ["-v", "a b"],
        "resources": {
            "requests": {"cpu": "0.5", "memory": "1Gi"},
            "limits": {"memory": "2Gi", "nvidia.com/gpu": "2"},
        },
    }


@pytest.mark.parametrize(("asked", "gpus"), [("1", "1"), ("0.5", "1"), (2, "2"), ("0", None), (None, None)])
def test_a_share_of_a_gpu_takes_it_whole(asked: Any, gpus: str | None) -> None:
    container = specs.pod_template(workload(gpu=asked), "main", "Never")["spec"]["containers"][0]
    assert container["resources"]["limits"].get("nvidia.com/gpu") == gpus


def test_labels_and_annotations_go_down() -> None:
    asked = workload({"psap.perf/run": "r", "team": "own", "priorityClassName": "high"}, name="job")
    asked["metadata"]["annotations"] = {"lab.psap.perf/duration": "3s", "kubectl": "own"}
    asked["spec"]["labels"] = {"items": {"app": {"value": "x"}}}
    asked["spec"]["annotations"] = {"items": {"lab.psap.perf/log": {"value": "text"}}}
    template = specs.job_spec(asked, "Never")["template"]
    assert template["metadata"] == {
        "labels": {
            "psap.perf/run": "r",
            "priorityClassName": "high",
            "app": "x",
            "runai/queue": "team",
            "workloadName": "w",
            "release": "job",
        },
        "annotations": {"lab.psap.perf/duration": "3s", "lab.psap.perf/log": "text"},
    }
    assert template["spec"]["priorityClassName"] == "high"
    assert template["spec"]["schedulingGates"] == [{"name": "run.ai/pod-group"}]


def test_volumes() -> None:
    claim = {
        "claimName": "",
        "ephemeral": True,
        "path": "/data",
        "size": "1Gi",
        "storageClass": "",
        "readWriteMany": True,
    }
    there = {"claimName": "models", "existingPvc": True, "path": "/models"}
    asked = workload()
    asked["spec"]["pvcs"] = {"items": {"data": {"value": claim}, "models": {"value": there}}}
    spec = specs.pod_template(asked, "main", "Never")["spec"]
    made = {"accessModes": ["ReadWriteMany"], "resources": {"requests": {"storage": "1Gi"}}}
    assert spec["volumes"] == [
        {"name": "data", "ephemeral": {"volumeClaimTemplate": {"spec": made}}},
        {"name": "models", "persistentVolumeClaim": {"claimName": "models"}},
    ]
    assert [mount["mountPath"] for mount in spec["containers"][0]["volumeMounts"]] == ["/data", "/models"]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, (1, 1, 6, False)),
        ({"parallelism": 4}, (4, 4, 6, False)),
        ({"parallelism": 2, "completions": 5, "backoffLimit": 0, "active": False}, (2, 5, 0, True)),
    ],
)
def test_jobs(fields: dict[str, Any], expected: tuple[int, int, int, bool]) -> None:
    spec = specs.job_spec(workload(**fields), "Never")
    assert (spec["parallelism"], spec["completions"], spec["backoffLimit"], spec["suspend"]) == expected


def test_a_distributed_workload_is_one_gang() -> None:
    asked = workload(workers=3, gpu="8")
    asked["spec"]["runPolicy"] = {"values": {"backoffLimit": {"value": 0}}}
    spec = specs.pytorch_spec(asked)
    replicas = spec["pytorchReplicaSpecs"]
    assert {name: each["replicas"] for name, each in replicas.items()} == {"Master": 1, "Worker": 3}
    labels = replicas["Worker"]["template"]["metadata"]["labels"]
    assert labels["lab.psap.perf/pod-group"] == specs.gang_name(asked) == "w-01234567"
    assert spec["runPolicy"] == {"cleanPodPolicy": "None", "backoffLimit": 0}


def test_a_distributed_workload_of_one_pod_is_no_gang() -> None:
    replicas = specs.pytorch_spec(workload(workers=0))["pytorchReplicaSpecs"]
    assert list(replicas) == ["Master"]
    assert "lab.psap.perf/pod-group" not in replicas["Master"]["template"]["metadata"]["labels"]


def test_the_name_of_a_gang_fits_a_label() -> None:
    long = workload()
    long["metadata"]["name"] = "n" * 100
    assert len(specs.gang_name(long)) == 63


@pytest.mark.parametrize(
    ("phases", "needed", "phase"),
    [
        (["Pending", "Running"], 2, "Pending"),
        (["Running", "Running"], 2, "Running"),
        (["Running", "Succeeded"], 2, "Running"),
        (["Succeeded", "Succeeded"], 2, "Succeeded"),
        (["Failed"], 1, "Failed"),
        (["Failed", "Pending"], 1, "Pending"),
        (["Failed", "Succeeded"], 1, "Succeeded"),
    ],
)
def test_the_phase_of_a_group(phases: list[str], needed: int, phase: str) -> None:
    pods = [{"spec": {"nodeName": "n"}, "status": {"phase": each}} for each in phases]
    status = groups._status({"spec": {"minMember": needed}}, pods)
    assert status["phase"] == phase
