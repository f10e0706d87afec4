"""Workloads of Run:ai: their manifests, size, and end."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import discover
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.lifecycles import lifecycle_of
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Tracker
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session import requests
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads import runai
from ansible_collections.psap.perf.plugins.module_utils.scale_test.workloads.manifests import Size

from tests.data.loads import load

from .fake_api import CREATED_AT, RESOURCES, fake_api
from .test_workloads import TEMPLATES, shipped_workloads

KINDS = {
    "trainingworkload": "TrainingWorkload",
    "distributedworkload": "DistributedWorkload",
    "interactiveworkload": "InteractiveWorkload",
}
GIVEN: dict[str, Any] = {"node_selector": {}, "pods": 1}


@pytest.mark.parametrize("name", KINDS)
def test_each_field_is_an_object_with_a_value(name: str) -> None:
    made = shipped_workloads(name, plan_pods=1, **GIVEN)
    manifest = made.manifest(5)
    spec = manifest["spec"]
    assert (manifest["apiVersion"], manifest["kind"]) == ("run.ai/v2alpha1", KINDS[name])
    assert spec["name"] == {"value": made.name(5)}
    assert spec["image"] == {"value": "registry.example/sleeper:1"}
    assert spec["gpu"] == {"value": "2"}
    assert (spec["cpu"], spec["memory"]) == ({"value": "50m"}, {"value": "32Mi"})
    assert spec["command"] == {"value": "sleep infinity" if name == "interactiveworkload" else "sleep 30"}
    assert (spec["runAsUser"], spec["runAsUid"]) == ({"value": True}, {"value": 1000})
    assert spec["tolerations"]["items"] == {"toleration-0": {"value": {"operator": "Exists"}}}
    assert made.size == Size(pods=1, gpus=2)


def test_omitted_fields_are_left_out() -> None:
    without: dict[str, Any] = {"tolerations": [], "run_as_user": None, "gpus": 0}
    spec = shipped_workloads("trainingworkload", plan_pods=1, **{**GIVEN, **without}).manifest(0)["spec"]
    assert not spec.keys() & {"tolerations", "runAsUser", "runAsUid", "gpu", "pvcs", "parallelism"}
    assert "runAsUid" not in shipped_workloads("trainingworkload", **{**GIVEN, "openshift": True}).manifest(0)["spec"]


def test_pods_and_gpus_are_counted_as_run_ai_creates_them() -> None:
    training = shipped_workloads("trainingworkload", **{**GIVEN, "pods": 4})
    assert training.size == Size(pods=4, gpus=8)
    distributed = shipped_workloads("distributedworkload", **{**GIVEN, "pods": 4})
    assert distributed.manifest(0)["spec"]["workers"] == {"value": 3}
    assert distributed.size == Size(pods=4, gpus=8)
    half = shipped_workloads("trainingworkload", patch={"spec": {"gpu": {"value": "0.5"}}}, **GIVEN)
    assert half.size == Size(pods=1, gpus=1)


def test_object_and_pods_have_own_labels_and_lab_annotations() -> None:
    made = shipped_workloads("trainingworkload", **GIVEN)
    manifest = made.manifest(3)
    labels = made.submission.labels(3, made.name(3))
    assert manifest["metadata"]["labels"] == labels
    assert manifest["metadata"]["annotations"] == {"lab.psap.perf/duration": "30s"}
    assert manifest["spec"]["labels"] == {"items": {key: {"value": text} for key, text in labels.items()}}
    assert manifest["spec"]["annotations"] == {"items": {"lab.psap.perf/duration": {"value": "30s"}}}


def test_interactive_workload_gets_no_duration() -> None:
    manifest = shipped_workloads("interactiveworkload", **GIVEN).manifest(0)
    assert "annotations" not in manifest["metadata"]
    assert "annotations" not in manifest["spec"]


def test_labels_of_a_patch_are_kept() -> None:
    patch = {"spec": {"labels": {"items": {"team": {"value": "a"}}}}}
    items = shipped_workloads("trainingworkload", patch=patch, **GIVEN).manifest(0)["spec"]["labels"]["items"]
    assert items["team"] == {"value": "a"}
    assert "psap.perf/run" in items


def test_priority_and_volume_are_set_for_run_ai() -> None:
    manifest = shipped_workloads("distributedworkload", priority_class="p1-high", pvc_size="1Gi", **GIVEN).manifest(0)
    assert manifest["metadata"]["labels"]["priorityClassName"] == "p1-high"
    volume = manifest["spec"]["pvcs"]["items"]["data"]["value"]
    assert (volume["ephemeral"], volume["path"], volume["size"]) == (True, "/data", "1Gi")
    assert (volume["readWriteOnce"], volume["readWriteMany"]) == (True, False)


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("trainingworkload", {"queue": "team-a"}, "a queue is Kueue's"),
        ("distributedworkload", {"node_selector": {"a": "b"}}, "Run:ai has no node selector"),
        ("interactiveworkload", {"pods": 2}, "pods is 2, but an InteractiveWorkload is one pod"),
    ],
)
def test_unsupported_options_are_refused(name: str, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        shipped_workloads(name, **{**GIVEN, **changes})


def test_queue_is_the_project_of_the_namespace() -> None:
    assert runai.project_of("runai-project-0") == "project-0"
    assert runai.project_of("test") is None
    assert shipped_workloads("trainingworkload", **GIVEN).queue is None


@pytest.mark.parametrize(
    ("kind", "status", "expected"),
    [
        ("TrainingWorkload", {"phase": "Pending"}, ["created"]),
        ("TrainingWorkload", {"phase": "Running"}, ["created", "started"]),
        ("TrainingWorkload", {"phase": "Completed"}, ["created", "completed"]),
        ("DistributedWorkload", {"phase": "Failed", "reason": "Lost"}, ["created", "failed"]),
        ("DistributedWorkload", {"conditions": [("Running", "True")]}, ["created", "started"]),
        (
            "DistributedWorkload",
            {"conditions": [("Running", "False"), ("Succeeded", "True")]},
            ["created", "completed"],
        ),
        ("InteractiveWorkload", {"phase": "Pending", "conditions": [("Ready", "False")]}, ["created"]),
        ("InteractiveWorkload", {"phase": "Running"}, ["created", "completed"]),
        ("InteractiveWorkload", {"conditions": [("Running", "True")]}, ["created", "completed"]),
        ("InteractiveWorkload", {"phase": "Failed"}, ["created", "failed"]),
    ],
)
def test_workload_state_follows_its_status(kind: str, status: dict[str, Any], expected: list[str]) -> None:
    conditions = [
        {"type": name, "status": value, "lastTransitionTime": CREATED_AT}
        for name, value in status.get("conditions", ())
    ]
    metadata = {"name": "w", "namespace": "runai-a", "uid": "1", "creationTimestamp": CREATED_AT}
    found = Tracker(kind, lifecycle_of(kind)).observe(
        {"metadata": metadata, "status": {**status, "conditions": conditions}}, 1.0
    )
    assert [transition.transition for transition in found] == expected


def test_cluster_without_the_kind_names_what_installs_it() -> None:
    async def scene() -> None:
        async with fake_api() as api, ApiClient(ApiEndpoint(api.server)) as client:
            await discover(client, "run.ai/v2alpha1", "TrainingWorkload")

    with pytest.raises(ClusterError, match=r"no kind TrainingWorkload of run\.ai/v2alpha1: install Run:ai \(a lab"):
        asyncio.run(scene())


def test_missing_project_is_reported_and_not_created(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(RESOURCES, "/apis/run.ai/v2alpha1", [("trainingworkloads", "TrainingWorkload")])
    (tmp_path / "src").mkdir()
    request = requests.SubmitRequest(
        place=requests.Place("run", "001__a", tmp_path / "src", tmp_path),
        template=TEMPLATES / "trainingworkload.yml.j2",
        load=load(count=1, connections=1, namespace="runai-project-0", timeout=5.0),
    )

    async def scene() -> None:
        async with fake_api() as api:
            await requests.submit(ApiEndpoint(api.server), request, lambda: False)

    with pytest.raises(ClusterError, match=r"no namespace runai-project-0 at .*; create its project in Run:ai first"):
        asyncio.run(scene())
