"""The pods of Kubernetes that result from a workload of Run:ai."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from perflab.cluster.api import Document
from perflab.emulators.queues.runai import specs

from .memory_api import MemoryApi, found, settle, with_kind


def workload(labels: dict[str, str] | None = None, **fields: Any) -> Document:
    metadata = {"name": "w", "namespace": "runai-team", "uid": "0123456789abcdef", "labels": labels or {}}
    return {"metadata": metadata, "spec": {name: {"value": each} for name, each in fields.items()}}


def test_resources_and_commands_reach_the_container() -> None:
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
def test_gpu_share_takes_a_full_gpu(asked: Any, gpus: str | None) -> None:
    container = specs.pod_template(workload(gpu=asked), "main", "Never")["spec"]["containers"][0]
    assert container["resources"]["limits"].get("nvidia.com/gpu") == gpus


def test_labels_and_annotations_are_inherited() -> None:
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


def test_volumes_and_mounts_reach_the_pod() -> None:
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
def test_job_fields_follow_from_the_workload(fields: dict[str, Any], expected: tuple[int, int, int, bool]) -> None:
    spec = specs.job_spec(workload(**fields), "Never")
    assert (spec["parallelism"], spec["completions"], spec["backoffLimit"], spec["suspend"]) == expected


def test_distributed_workload_is_one_gang() -> None:
    asked = workload(workers=3, gpu="8")
    asked["spec"]["runPolicy"] = {"values": {"backoffLimit": {"value": 0}}}
    spec = specs.pytorch_spec(asked)
    replicas = spec["pytorchReplicaSpecs"]
    assert {name: each["replicas"] for name, each in replicas.items()} == {"Master": 1, "Worker": 3}
    labels = replicas["Worker"]["template"]["metadata"]["labels"]
    assert labels["lab.psap.perf/pod-group"] == specs.gang_name(asked) == "w-01234567"
    assert spec["runPolicy"] == {"cleanPodPolicy": "None", "backoffLimit": 0}


def test_distributed_workload_of_one_pod_is_no_gang() -> None:
    replicas = specs.pytorch_spec(workload(workers=0))["pytorchReplicaSpecs"]
    assert list(replicas) == ["Master"]
    assert "lab.psap.perf/pod-group" not in replicas["Master"]["template"]["metadata"]["labels"]


def test_gang_name_fits_a_label() -> None:
    long = workload()
    long["metadata"]["name"] = "n" * 100
    assert len(specs.gang_name(long)) == 63


RUNAI = "/apis/run.ai/v2alpha1/namespaces/runai-team"
PODS = "/api/v1/namespaces/runai-team/pods"
GROUPS = "/apis/scheduling.run.ai/v2alpha2/namespaces/runai-team/podgroups"


def cluster() -> MemoryApi:
    api = MemoryApi()
    workloads = ("trainingworkloads", "interactiveworkloads", "distributedworkloads")
    with_kind(api, *(f"{each}.run.ai/v2alpha1" for each in workloads), "runaijobs.run.ai/v1")
    with_kind(api, "pytorchjobs.kubeflow.org/v1", "podgroups.scheduling.run.ai/v2alpha2")
    return api


async def end(api: MemoryApi, phase: str) -> None:
    """End all running pods."""
    for pod in await api.list(PODS):
        if "phase" not in (pod.get("status") or {}):
            await api.patch(f"{PODS}/{pod['metadata']['name']}/status", {"status": {"phase": phase}})


def submit(api: MemoryApi, **fields: Any) -> None:
    asked = workload(**fields)
    asked["metadata"].pop("uid")
    api.put(f"{RUNAI}/trainingworkloads", asked)


def test_pods_wait_for_their_group_and_the_workload_follows_them(tmp_path: Path) -> None:
    api = cluster()
    submit(api, parallelism=2)
    asyncio.run(settle(api, "runai", tmp_path, lambda: end(api, "Succeeded")))
    job = found(api, "/apis/run.ai/v1/namespaces/runai-team/runaijobs/w")
    assert {name: job["status"][name] for name in ("active", "ready", "succeeded", "failed")} == {
        "active": 0,
        "ready": 0,
        "succeeded": 2,
        "failed": 0,
    }
    for name in ("w-0", "w-1"):
        pod = found(api, f"{PODS}/{name}-0")
        group = f"pg-{name}-{job['metadata']['uid']}"
        assert pod["metadata"]["annotations"]["pod-group-name"] == group
        assert "schedulingGates" not in pod["spec"]
        assert found(api, f"{GROUPS}/{group}")["status"]["phase"] == "Succeeded"
    # The groups exist before a pod may start.
    assert len(api.writes) - api.writes[::-1].index(f"POST {GROUPS}") <= api.writes.index(f"PATCH {PODS}/w-0-0")
    assert found(api, f"{RUNAI}/trainingworkloads/w")["status"]["phase"] == "Completed"


def test_failed_pod_is_retried_until_the_limit_ends_the_others(tmp_path: Path) -> None:
    api = cluster()
    submit(api, parallelism=2, backoffLimit=1)

    async def fail() -> None:
        await api.patch(f"{PODS}/w-0-0/status", {"status": {"phase": "Failed"}})
        await api.patch(f"{PODS}/w-1-0/status", {"status": {"phase": "Running"}})

    async def fail_again() -> None:
        await api.patch(f"{PODS}/w-0-1/status", {"status": {"phase": "Failed"}})

    asyncio.run(settle(api, "runai", tmp_path, fail))
    asyncio.run(settle(api, "runai", tmp_path, fail_again))
    assert {key[3] for key in api.objects if key[2] == "pods"} == {"w-0-0", "w-0-1"}
    ended = found(api, f"{RUNAI}/trainingworkloads/w")["status"]
    assert ended["phase"] == "Failed"
    assert ended["conditions"][-1]["reason"] == "BackoffLimitExceeded"


def test_job_of_another_owner_is_left_unchanged(tmp_path: Path) -> None:
    api = cluster()
    owner = {"apiVersion": "run.ai/v2alpha1", "kind": "TrainingWorkload", "name": "w", "uid": "before"}
    metadata = {"name": "w", "ownerReferences": [{**owner, "controller": True}]}
    spec = {"parallelism": 1, "completions": 1, "backoffLimit": 9, "suspend": True, "template": {}}
    api.put("/apis/run.ai/v1/namespaces/runai-team/runaijobs", {"metadata": metadata, "spec": spec})
    submit(api)
    seen: list[Document] = []

    async def delete() -> None:
        path = "/apis/run.ai/v1/namespaces/runai-team/runaijobs/w"
        seen.append(found(api, path))
        await api.delete(path)

    asyncio.run(settle(api, "runai", tmp_path, delete))
    assert seen[0]["spec"]["backoffLimit"] == 9
    # Its end is a new event.
    assert found(api, "/apis/run.ai/v1/namespaces/runai-team/runaijobs/w")["spec"]["backoffLimit"] == 6


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
def test_group_phase_follows_from_its_pods(phases: list[str], needed: int, phase: str, tmp_path: Path) -> None:
    api = cluster()
    api.put(GROUPS, {"metadata": {"name": "g"}, "spec": {"minMember": needed}})
    for index, each in enumerate(phases):
        metadata = {"name": f"p-{index}", "labels": {"workloadName": "w"}, "annotations": {"pod-group-name": "g"}}
        api.put(PODS, {"metadata": metadata, "spec": {"nodeName": "n"}, "status": {"phase": each}})
    asyncio.run(settle(api, "runai", tmp_path))
    status = found(api, f"{GROUPS}/g")["status"]
    assert status["phase"] == phase
    assert sum(status[each.lower()] for each in ("Pending", "Running", "Succeeded", "Failed")) == len(phases)
