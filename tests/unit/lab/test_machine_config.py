"""Pools of nodes, their configuration, and updates of the version, on an API server in memory."""

from __future__ import annotations

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import pytest
from perflab.cluster.api import Document

from .memory_api import MemoryApi, found, settle, with_kind

NODES = "/api/v1/nodes"
BASE = "/apis/machineconfiguration.openshift.io/v1"
VERSIONS = "/apis/config.openshift.io/v1/clusterversions"
GROUP = "machineconfiguration.openshift.io"
WORKERS = {"matchLabels": {"pools.operator.machineconfiguration.openshift.io/worker": ""}}


def cluster(tmp_path: Path, nodes: int = 3) -> MemoryApi:
    api = MemoryApi()
    with_kind(api, *(f"{kind}.{GROUP}/v1" for kind in ("machineconfigs", "machineconfigpools", "kubeletconfigs")))
    for number in range(nodes):
        metadata = {"name": f"node-{number}", "labels": {"node-role.kubernetes.io/worker": ""}}
        resources = {"cpu": "8", "pods": "250"}
        status = {"capacity": resources, "conditions": [{"type": "Ready", "status": "True"}]}
        api.put(NODES, {"metadata": metadata, "status": status})
    asyncio.run(settle(api, "machine_config", tmp_path))
    return api


def steps(api: MemoryApi, **values: str) -> None:
    data = {key.replace("__", "."): value for key, value in values.items()}
    api.put("/api/v1/namespaces/kube-system/configmaps", {"metadata": {"name": "perflab-steps"}, "data": data})


def limit(api: MemoryApi, **settings: Any) -> None:
    spec = {"machineConfigPoolSelector": WORKERS, "kubeletConfig": settings}
    api.put(f"{BASE}/kubeletconfigs", {"metadata": {"name": "limit"}, "spec": spec})


def conditions(document: Document) -> dict[str, tuple[str, str]]:
    return {each["type"]: (each["status"], each["message"]) for each in document["status"]["conditions"]}


def states(api: MemoryApi) -> list[str]:
    nodes = [document for key, document in sorted(api.objects.items()) if key[2] == "nodes"]
    return [node["metadata"]["annotations"][f"{GROUP}/state"] for node in nodes]


def pods(api: MemoryApi, name: str) -> str:
    return str(found(api, f"{NODES}/{name}")["status"]["capacity"]["pods"])


def test_kubelet_config_rolls_out_to_all_nodes(tmp_path: Path) -> None:
    api = cluster(tmp_path)
    limit(api, maxPods=500, podsPerCore=10)
    asyncio.run(settle(api, "machine_config", tmp_path))
    pool = found(api, f"{BASE}/machineconfigpools/worker")
    name = pool["spec"]["configuration"]["name"]
    assert pool["status"]["configuration"]["name"] == name
    assert pool["status"]["updatedMachineCount"] == 3
    [file] = found(api, f"{BASE}/machineconfigs/{name}")["spec"]["config"]["storage"]["files"]
    settings = json.loads(base64.b64decode(file["contents"]["source"].rpartition(",")[2]))
    assert settings == {"maxPods": 500, "podsPerCore": 10}
    assert (states(api), pods(api, "node-2")) == (["Done"] * 3, "80")
    master = found(api, f"{BASE}/machineconfigpools/master")
    assert [each["name"] for each in master["spec"]["configuration"]["source"]] == ["00-master"]


def test_nodes_update_one_by_one_and_a_failure_stops_the_rest(tmp_path: Path) -> None:
    api = cluster(tmp_path)
    steps(api, machine_config__node="never")
    limit(api, maxPods=500)
    asyncio.run(settle(api, "machine_config", tmp_path))
    assert states(api) == ["Working", "Done", "Done"]
    assert found(api, f"{NODES}/node-0")["spec"] == {"unschedulable": True}
    assert conditions(found(api, f"{BASE}/machineconfigpools/worker"))["Updating"][0] == "True"
    steps(api, machine_config__node="fail: no disk")
    asyncio.run(settle(api, "machine_config", tmp_path))
    assert states(api) == ["Degraded", "Done", "Done"]
    by_type = conditions(found(api, f"{BASE}/machineconfigpools/worker"))
    assert by_type["NodeDegraded"] == ("True", 'Node node-0 is reporting: "no disk"')
    assert by_type["Degraded"][0] == "True"
    steps(api)
    asyncio.run(settle(api, "machine_config", tmp_path))
    assert states(api) == ["Done"] * 3
    assert pods(api, "node-0") == "500"
    assert found(api, f"{NODES}/node-0")["spec"] == {}


def test_removed_config_rolls_out(tmp_path: Path) -> None:
    api = cluster(tmp_path)
    limit(api, maxPods=500)
    asyncio.run(settle(api, "machine_config", tmp_path))
    for path in ("kubeletconfigs/limit", "machineconfigs/99-worker-generated-kubelet"):
        asyncio.run(api.delete(f"{BASE}/{path}"))
    asyncio.run(settle(api, "machine_config", tmp_path))
    assert pods(api, "node-1") == "250"


def test_paused_pool_waits(tmp_path: Path) -> None:
    api = cluster(tmp_path)
    pool = found(api, f"{BASE}/machineconfigpools/worker")
    api.put(f"{BASE}/machineconfigpools", {**pool, "spec": {**pool["spec"], "paused": True}})
    limit(api, maxPods=500)
    asyncio.run(settle(api, "machine_config", tmp_path))
    assert pods(api, "node-0") == "250"
    assert conditions(found(api, f"{BASE}/machineconfigpools/worker"))["Updated"][0] == "False"


def test_forbidden_setting_and_unknown_ignition_are_refused(tmp_path: Path) -> None:
    api = cluster(tmp_path)
    limit(api, clusterDomain="example.com")
    asyncio.run(settle(api, "machine_config", tmp_path))
    [condition] = found(api, f"{BASE}/kubeletconfigs/limit")["status"]["conditions"]
    assert condition["type"] == "Failure"
    assert "setting clusterDomain is not allowed" in condition["message"]
    metadata = {"name": "50-new", "labels": {f"{GROUP}/role": "worker"}}
    spec = {"config": {"ignition": {"version": "4.0.0"}}}
    document = {"apiVersion": f"{GROUP}/v1", "kind": "MachineConfig", "metadata": metadata, "spec": spec}
    api.put(f"{BASE}/machineconfigs", document)
    asyncio.run(settle(api, "machine_config", tmp_path))
    by_type = conditions(found(api, f"{BASE}/machineconfigpools/worker"))
    assert by_type["RenderDegraded"][0] == "True"
    assert "50-new: parsing Ignition config failed: unknown version 4.0.0" in by_type["RenderDegraded"][1]


def ask(api: MemoryApi, **update: Any) -> None:
    document = found(api, f"{VERSIONS}/version")
    api.put(VERSIONS, {**document, "spec": {**document["spec"], "desiredUpdate": update}})


@pytest.mark.parametrize("digest", [False, True])
def test_update_is_accepted_and_completed(digest: bool, tmp_path: Path) -> None:
    api = MemoryApi()
    with_kind(api, "clusterversions.config.openshift.io/v1", "clusteroperators.config.openshift.io/v1")
    asyncio.run(settle(api, "openshift", tmp_path))
    image = "registry.example/release:4.18.20-x86_64" + (f"@sha256:{'a' * 64}" if digest else "")
    ask(api, image=image)
    steps(api, openshift__update="fail: dns is degraded")
    asyncio.run(settle(api, "openshift", tmp_path))
    by_type = conditions(found(api, f"{VERSIONS}/version"))
    if not digest:
        assert by_type["ReleaseAccepted"][0] == "False"
        assert image in by_type["ReleaseAccepted"][1]
        ask(api, image=image, force=True)
        asyncio.run(settle(api, "openshift", tmp_path))
    status = found(api, f"{VERSIONS}/version")["status"]
    assert [(each["version"], each["state"]) for each in status["history"]] == [
        ("4.18.20", "Partial"),
        ("4.18.14", "Completed"),
    ]
    assert status["history"][0]["completionTime"] is None
    assert conditions(found(api, f"{VERSIONS}/version"))["Failing"] == ("True", "dns is degraded")
    steps(api)
    asyncio.run(settle(api, "openshift", tmp_path))
    status = found(api, f"{VERSIONS}/version")["status"]
    assert status["history"][0]["state"] == "Completed"
    operator = found(api, "/apis/config.openshift.io/v1/clusteroperators/dns")
    assert operator["status"]["versions"] == [{"name": "operator", "version": "4.18.20"}]
