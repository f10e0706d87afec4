"""The objects related to workloads in a recording, on a real control plane."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.scale_test.connection.api import ApiClient
from ansible_collections.psap.perf.plugins.module_utils.scale_test.session.session import SessionEnd

from .conftest import Lab, Submission

pytestmark = pytest.mark.lab

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "beside", "annotations": {"kwok.x-k8s.io/node": "fake"}},
}


KUEUE = "/apis/kueue.x-k8s.io/v1beta1"


def transitions(submission: Submission, kind: str) -> dict[str, list[str]]:
    """Return the transitions of a kind's objects in the order seen, by workload."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for row in submission.rows("transitions"):
        if row["kind"] == kind:
            found[row["workload"]].append(row["transition"])
    return found


async def until_submitted(submission: Submission) -> None:
    path = submission.folder / "artifacts" / "submissions.jsonl"
    while not path.exists() or len(path.read_text().splitlines()) < submission.count:
        await asyncio.sleep(0.05)


async def cordon(client: ApiClient, path: str, *, cordoned: bool) -> None:
    """Set whether a node accepts pods; its controllers may change it at the same time."""
    while True:
        node = (await client.request("GET", path)).document()
        node["spec"]["unschedulable"] = cordoned
        put = await client.request("PUT", path, body=json.dumps(node).encode())
        if put.status != 409:
            assert put.succeeded, put.message()
            return


def test_node_addition_cordon_and_removal_are_recorded(submission: Submission, lab: Lab) -> None:
    # as long as the node exists, even on a busy machine
    submission.count, submission.duration_s = 3, 10.0

    async def change() -> None:
        async with lab.client() as client:
            path = "/api/v1/nodes"
            made = await client.request("POST", path, body=json.dumps(NODE).encode())
            assert made.succeeded, made.message()
            while True:
                node = (await client.request("GET", f"{path}/beside")).document()
                conditions = {row["type"]: row["status"] for row in node.get("status", {}).get("conditions", ())}
                if conditions.get("Ready") == "True":
                    break
                await asyncio.sleep(0.1)
            for cordoned in (True, False):
                await cordon(client, f"{path}/beside", cordoned=cordoned)
            assert (await client.request("DELETE", f"{path}/beside")).succeeded

    async def scene() -> SessionEnd:
        running = asyncio.create_task(submission.run())
        await until_submitted(submission)
        await change()
        return await running

    assert asyncio.run(scene()).accounting.completed == 3
    nodes = [row for row in submission.rows("transitions") if row["kind"] == "Node"]
    # the 20 initial nodes are in nodes.json and have no transition
    assert {row["node"] for row in nodes} == {"beside"}
    seen = [row["transition"] for row in nodes if row["transition"] != "not_ready"]
    assert seen == ["created", "ready", "cordoned", "uncordoned", "deleted"]
    watched = {row["kind"] for row in submission.document("recording")["resources"]}
    assert watched >= {"Job", "Pod", "Event", "PersistentVolumeClaim", "Node"}
    assert submission.document("recording")["not_watched"] == []


@pytest.mark.deep
def test_claim_is_recorded_from_creation_to_its_volume(submission: Submission) -> None:
    submission.count, submission.pvc_size = 4, "1Gi"
    assert submission.submit().accounting.completed == 4
    names = {row["name"] for row in submission.rows("submissions")}
    claims = transitions(submission, "PersistentVolumeClaim")
    assert claims.keys() == names
    assert all(found[:2] == ["created", "bound"] for found in claims.values())


async def make_queue(lab: Lab, namespace: str, gpus: int) -> None:
    """Create a queue with this many GPUs."""

    def thing(kind: str, name: str, **fields: Any) -> bytes:
        body = {"apiVersion": KUEUE.removeprefix("/apis/"), "kind": kind, "metadata": {"name": name}, **fields}
        return json.dumps(body).encode()

    quotas = {"cpu": "1000", "memory": "1Ti", "nvidia.com/gpu": str(gpus)}
    resources = [{"name": name, "nominalQuota": quota} for name, quota in quotas.items()]
    group = {"coveredResources": list(quotas), "flavors": [{"name": "plain", "resources": resources}]}
    spaces = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
    async with lab.client() as client:
        for path, body in (
            ("/api/v1/namespaces", json.dumps(spaces).encode()),
            (f"{KUEUE}/resourceflavors", thing("ResourceFlavor", "plain", spec={})),
            (
                f"{KUEUE}/clusterqueues",
                thing("ClusterQueue", "all", spec={"namespaceSelector": {}, "resourceGroups": [group]}),
            ),
            (f"{KUEUE}/namespaces/{namespace}/localqueues", thing("LocalQueue", "local", spec={"clusterQueue": "all"})),
        ):
            made = await client.request("POST", path, body=body)
            assert made.succeeded, made.message()


async def delete_queue(lab: Lab) -> None:
    """Delete the cluster-wide objects of make_queue: other tests of the lab list its queues."""
    async with lab.client() as client:
        for path in (f"{KUEUE}/clusterqueues/all", f"{KUEUE}/resourceflavors/plain"):
            gone = await client.request("DELETE", path)
            assert gone.succeeded, gone.message()


@pytest.fixture(name="in_queue")
def _in_queue(submission: Submission) -> Iterator[Submission]:
    """Return a submission to a queue with room for two GPUs."""
    asyncio.run(make_queue(submission.lab, submission.namespace, 2))
    submission.queue = "local"
    yield submission
    asyncio.run(delete_queue(submission.lab))


def test_queue_admission_of_each_workload_is_recorded(in_queue: Submission) -> None:
    submission = replace(in_queue, count=6)
    assert submission.submit().accounting.completed == 6
    names = {row["name"] for row in submission.rows("submissions")}
    queued = transitions(submission, "Workload")
    assert queued.keys() == names
    assert all(found[:4] == ["created", "quota_reserved", "admitted", "completed"] for found in queued.values())
    admitted = {
        row["workload"]: row["seen_s"]
        for row in submission.rows("transitions")
        if (row["kind"], row["transition"]) == ("Workload", "admitted")
    }
    started = {
        row["name"]: row["seen_s"]
        for row in submission.rows("transitions")
        if (row["kind"], row["transition"]) == ("Job", "started")
    }
    # two at a time: the last ones wait for two that run for a second each
    assert max(admitted.values()) - min(admitted.values()) > 1.0
    assert admitted.keys() == started.keys()
