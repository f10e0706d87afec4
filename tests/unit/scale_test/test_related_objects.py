"""Objects related to workloads: discovered if the cluster serves the kind, recorded if they concern the test."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.endpoint import ApiEndpoint
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.kinds import ResourceKind
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.attribution import Attribution
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_lifecycles import related_lifecycle
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_objects import (
    CLAIMS,
    discover_related,
)
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.related_objects import NODES as NODE_KIND
from ansible_collections.psap.perf.plugins.module_utils.scale_test.recording.transitions import Tracker

from .fake_api import CREATED_AT, NODES, FakeApi, fake_api
from .sessions import JOBS, SUBMISSION, Scene, eventually

pytestmark = pytest.mark.slow

CLAIM_PATH = "/api/v1/namespaces/test/persistentvolumeclaims"
GROUPS = ResourceKind("scheduling.run.ai/v2alpha2", "PodGroup", "podgroups")
GROUP_PATH = GROUPS.collection("test")
FIRST, SECOND = SUBMISSION.name(0), SUBMISSION.name(1)


def words(kind: str, *states: dict[str, Any]) -> list[list[str]]:
    """Return the transitions to each state of one object."""
    tracker = Tracker(kind, related_lifecycle(kind))
    metadata = {"name": "x", "namespace": "test", "uid": "u", "creationTimestamp": CREATED_AT}
    return [[found.transition for found in tracker.observe({"metadata": metadata, **state}, 1.0)] for state in states]


def status(*conditions: str, **fields: Any) -> dict[str, Any]:
    """Return a status with these conditions, those after a `-` false."""
    listed = [
        {"type": name.lstrip("-"), "status": "False" if name.startswith("-") else "True", "lastTransitionTime": None}
        for name in conditions
    ]
    return {"status": {"conditions": listed, **fields}}


@pytest.mark.parametrize(
    "states",
    [
        (status(), status("-PodGroupScheduled"), status("PodGroupScheduled")),
        (status(), status("-PodGroupInitiallyScheduled"), status("PodGroupInitiallyScheduled")),
        (status(phase="Pending"), status(phase="Inqueue"), status("Scheduled", phase="Inqueue")),
        (status(phase="Pending"), status(phase="Scheduling"), status(phase="Scheduled")),
    ],
)
def test_pod_group_of_either_api_is_scheduled(states: tuple[dict[str, Any], ...]) -> None:
    assert words("PodGroup", *states) == [["created"], [], ["scheduled"]]


def test_pod_group_run_and_end_are_reported_once() -> None:
    states = (status(phase="Running"), status(phase="Running"), status(phase="Finished"))
    assert words("PodGroup", *states) == [["created", "running"], [], ["completed"]]


def test_queued_workload_may_be_evicted_and_readmitted() -> None:
    states = (
        status(),
        status("QuotaReserved", "Admitted"),
        status("-QuotaReserved", "-Admitted", "Evicted"),
        status("QuotaReserved", "Admitted", "-Evicted"),
        status("QuotaReserved", "Admitted", "Finished"),
    )
    again = ["quota_reserved", "admitted"]
    assert words("Workload", *states) == [["created"], again, ["evicted"], again, ["completed"]]


def test_dispatched_workload_has_its_cluster_and_kueues_time() -> None:
    checks = [
        {"name": "budget", "state": "Ready", "lastTransitionTime": "2026-11-21T00:00:01Z"},
        {"name": "dispatch", "state": "Ready", "lastTransitionTime": "2026-11-21T00:00:03Z"},
    ]
    states = (
        status("QuotaReserved"),
        status("QuotaReserved", "Admitted", clusterName=f"{SUBMISSION.identity}-east", admissionChecks=checks),
        status("-QuotaReserved", "-Admitted", "Evicted"),
        status("QuotaReserved", "Admitted", "-Evicted", clusterName="west", admissionChecks=checks),
    )
    assert words("Workload", *states)[1:] == [
        ["dispatched", "admitted"],
        ["evicted"],
        ["quota_reserved", "dispatched", "admitted"],
    ]
    tracker = Tracker("Workload", related_lifecycle("Workload"))
    metadata = {"name": "x", "namespace": "test", "uid": "u", "creationTimestamp": CREATED_AT}
    rows = [found.row() for state in states for found in tracker.observe({"metadata": metadata, **state}, 1.0)]
    dispatched = [row for row in rows if row["transition"] == "dispatched"]
    assert [(row["cluster"], row["resolution_s"]) for row in dispatched] == [("east", 1.0), ("west", 1.0)]
    assert dispatched[0]["server_s"] - rows[0]["server_s"] == 3.0
    assert all("cluster" not in row for row in rows if row["transition"] != "dispatched")


def test_claim_is_bound_or_lost() -> None:
    states = (status(phase="Pending"), status(phase="Bound"), status(phase="Lost"))
    assert words("PersistentVolumeClaim", *states) == [["created"], ["bound"], ["failed"]]


def test_device_claim_is_allocated_reserved_and_released() -> None:
    held = {"allocation": {"devices": {"results": [{}, {"adminAccess": True}]}}}
    states: tuple[dict[str, Any], ...] = (
        {},
        {"status": held},
        {"status": {**held, "reservedFor": [{"name": "a"}]}},
        {"status": {}},
    )
    expected = [["created"], ["allocated"], ["reserved"], ["released"]]
    assert words("ResourceClaim", *states) == expected
    assert words("ResourceClaim", *states, *states[1:]) == [*expected, ["allocated"], ["reserved"], ["released"]]


def test_allocation_has_its_node_and_devices() -> None:
    field = {"key": "metadata.name", "operator": "In", "values": ["node-1"]}
    allocation = {
        "devices": {"results": [{}, {}, {"adminAccess": True}]},
        "nodeSelector": {"nodeSelectorTerms": [{"matchFields": [field]}]},
        "allocationTimestamp": CREATED_AT,
    }
    tracker = Tracker("ResourceClaim", related_lifecycle("ResourceClaim"))
    metadata = {"name": "x", "namespace": "test", "uid": "u", "creationTimestamp": CREATED_AT}
    claim = {"metadata": metadata, "status": {"allocation": allocation}}
    first, row = (each.row() for each in tracker.observe(claim, 1.0))
    assert (row["node"], row["devices"], row["resolution_s"]) == ("node-1", 2, 1.0)
    assert "devices" not in first
    # any node can use it
    del allocation["nodeSelector"]
    metadata["uid"] = "v"
    assert tracker.observe(claim, 1.0)[-1].row()["node"] is None


def test_node_changes_are_reported_without_initial_state() -> None:
    cordoned = {"spec": {"unschedulable": True}}
    states = (status("-Ready"), status("Ready"), status("Ready") | cordoned, status("Ready"), status("-Ready"))
    expected = [["created", "not_ready"], ["ready"], ["cordoned"], ["uncordoned"], ["not_ready"]]
    assert words("Node", *states) == expected


def found_for(*workloads: str, serves: dict[str, list[tuple[str, str]]]) -> list[str]:
    async def scene() -> list[str]:
        async with fake_api() as api:
            api.more = serves
            async with ApiClient(ApiEndpoint(server=api.server)) as client:
                found = await discover_related(client, workloads)
        return [f"{resource.api_version} {resource.kind}" for resource in found]

    return asyncio.run(scene())


def test_only_served_and_relevant_kinds_are_watched() -> None:
    everywhere = ["v1 PersistentVolumeClaim", "v1 Node"]
    assert found_for("Job", serves={}) == everywhere
    groups = {
        "/apis/scheduling.k8s.io/v1": [("priorityclasses", "PriorityClass")],
        "/apis/scheduling.k8s.io/v1alpha2": [("podgroups/status", "PodGroup"), ("podgroups", "PodGroup")],
        "/apis/scheduling.run.ai/v2alpha2": [("podgroups", "PodGroup")],
        "/apis/kueue.x-k8s.io/v1beta1": [("workloads", "Workload")],
        "/apis/run.ai/v1": [("runaijobs", "RunaiJob")],
    }
    own, native = "scheduling.run.ai/v2alpha2 PodGroup", "scheduling.k8s.io/v1alpha2 PodGroup"
    queued = "kueue.x-k8s.io/v1beta1 Workload"
    assert found_for("Job", serves=groups) == [own, native, queued, *everywhere]
    assert found_for("TrainingWorkload", serves=groups) == [own, "run.ai/v1 RunaiJob", queued, *everywhere]
    assert native in found_for("TrainingWorkload", "Job", serves=groups)
    assert "kubeflow.org/v1 PyTorchJob" in found_for("DistributedWorkload", serves=groups)
    assert "kubeflow.org/v1 PyTorchJob" not in found_for("DistributedWorkload", "PyTorchJob", serves=groups)


def workload_of(metadata: dict[str, Any], *, closed: bool, known: dict[str, str] | None = None) -> str | None:
    attribution = Attribution(SUBMISSION.workload_in, frozenset({"Job"}), closed=closed)
    return attribution.of(metadata, (known or {}).get)


def owned_by(kind: str, name: str, uid: str = "o") -> dict[str, Any]:
    return {"name": "x", "ownerReferences": [{"kind": kind, "name": name, "uid": uid}]}


def test_workload_is_found_by_label_owner_and_name() -> None:
    for closed in (True, False):
        assert workload_of({"name": "x", "labels": {"psap.perf/workload": FIRST}}, closed=closed) == FIRST
        assert workload_of(owned_by("Job", FIRST), closed=closed) == FIRST
        assert workload_of(owned_by("Pod", f"{FIRST}-abc"), closed=closed) == FIRST
        assert workload_of(owned_by("RunaiJob", "any", "r"), closed=closed, known={"r": FIRST}) == FIRST
        assert workload_of({"name": f"{FIRST}-abc-data"}, closed=closed) == FIRST
        assert workload_of({"name": "somebodys"}, closed=closed) is None


def test_submission_ignores_foreign_workloads_and_watch_trusts_owners() -> None:
    assert workload_of(owned_by("Job", "theirs"), closed=True) is None
    # A label with another meaning hides no owner.
    assert workload_of({**owned_by("Job", FIRST), "labels": {"release": "chart"}}, closed=True) == FIRST
    assert workload_of(owned_by("Job", "theirs"), closed=False) == "theirs"


def claim(name: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": "test"}, "status": {"phase": "Pending"}}


def related_rows(scene: Scene) -> list[tuple[str, str, str | None]]:
    rows = [row for row in scene.rows("transitions") if row["kind"] not in ("Job", "Pod")]
    return [(row["kind"], row["transition"], row["workload"]) for row in rows]


def test_related_changes_are_recorded_across_a_lost_version(tmp_path: Path) -> None:
    async def meanwhile(api: FakeApi) -> None:
        await eventually(lambda: len(api.objects.get(JOBS, {})) == 2)
        await api.create(CLAIM_PATH, claim(f"{FIRST}-abc-data"))
        await api.create(CLAIM_PATH, claim("somebodys"))
        await api.create(GROUP_PATH, {"metadata": {**owned_by("Job", SECOND), "namespace": "test"}})
        await api.update(NODES, "node-0000", conditions=[{"type": "Ready", "status": "False", "reason": "Gone"}])
        await asyncio.sleep(0.1)
        # changes during the loss of the history are reported from the new list
        await api.update(CLAIM_PATH, f"{FIRST}-abc-data", phase="Bound")
        await api.delete(GROUP_PATH, "x")
        await api.compact()
        await api.disconnect()
        await asyncio.sleep(0.2)
        for name in (FIRST, SECOND):
            await api.complete(JOBS, name)

    scene = Scene(tmp_path, count=2, meanwhile=meanwhile, related=(GROUPS, CLAIMS, NODE_KIND))
    assert scene.play().accounting.completed == 2
    assert sorted(related_rows(scene), key=str) == [
        ("Node", "not_ready", None),
        ("PersistentVolumeClaim", "bound", FIRST),
        ("PersistentVolumeClaim", "created", FIRST),
        ("PodGroup", "created", SECOND),
        ("PodGroup", "deleted", SECOND),
    ]
    node = next(row for row in scene.rows("transitions") if row["kind"] == "Node")
    assert (node["node"], node["namespace"], node["reason"]) == ("node-0000", "", "Gone")
    kinds = ["Job", "Pod", "Event", "PodGroup", "PersistentVolumeClaim", "Node"]
    assert [row["kind"] for row in scene.document("recording")["resources"]] == kinds
    assert scene.document("recording")["not_watched"] == []


def test_unwatchable_kind_is_named_and_no_error(tmp_path: Path) -> None:
    scene = Scene(tmp_path, count=2, related=(CLAIMS, NODE_KIND))

    def forbid(api: FakeApi) -> None:
        api.complete_jobs = True
        api.forbidden.update({NODES, CLAIM_PATH})

    assert scene.play(forbid).accounting.completed == 2
    recording = scene.document("recording")
    assert [row["kind"] for row in recording["resources"]] == ["Job", "Pod", "Event"]
    assert [row["kind"] for row in recording["not_watched"]] == ["PersistentVolumeClaim", "Node"]
    assert all("403" in row["reason"] and "is forbidden" in row["reason"] for row in recording["not_watched"])


def test_objects_of_earlier_workloads_are_left_out(tmp_path: Path) -> None:
    async def others(api: FakeApi) -> None:
        await eventually(lambda: api.watches_opened >= 4)
        for name in ("old", "new"):
            await api.update(CLAIM_PATH, f"{name}-data", phase="Bound")
        await api.complete(JOBS, "new")

    async def before(api: FakeApi) -> None:
        for name in ("old", "new"):
            await api.create(JOBS, {"metadata": {"name": name, "namespace": "test"}})
            metadata = {**owned_by("Job", name), "name": f"{name}-data", "namespace": "test"}
            await api.create(CLAIM_PATH, {"metadata": metadata, "status": {"phase": "Pending"}})
        await api.complete(JOBS, "old")

    scene = Scene(tmp_path, count=0, meanwhile=others, related=(CLAIMS,))

    async def played() -> None:
        async with fake_api() as api:
            await before(api)
            await scene.run(api)

    asyncio.run(played())
    assert related_rows(scene) == [("PersistentVolumeClaim", "bound", "new")]
