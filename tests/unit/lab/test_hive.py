"""Pools, claims and deployments of Hive, on an API server in memory."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from perflab.cluster.api import Document

from .memory_api import MemoryApi, settle, with_kind

POOLS = "/apis/hive.openshift.io/v1/namespaces/hub/clusterpools"
CLAIMS = "/apis/hive.openshift.io/v1/namespaces/hub/clusterclaims"
DEPLOYMENTS = "/apis/hive.openshift.io/v1/namespaces/{}/clusterdeployments"
SECRETS = "/api/v1/namespaces/{}/secrets"


def hub(**pool: Any) -> MemoryApi:
    api = MemoryApi()
    for plural in ("clusterpools", "clusterclaims", "clusterdeployments"):
        with_kind(api, f"{plural}.hive.openshift.io/v1")
    spec = {"baseDomain": "example.com", "imageSetRef": {"name": "ocp"}, "platform": {}, "size": 1, **pool}
    api.put(POOLS, {"metadata": {"name": "small"}, "spec": spec})
    return api


def claim(api: MemoryApi, name: str, **spec: Any) -> None:
    api.put(CLAIMS, {"metadata": {"name": name}, "spec": {"clusterPoolName": "small", **spec}})


def reasons(api: MemoryApi, path: str) -> dict[str, tuple[str, str]]:
    document = api.find(path)
    assert document is not None, path
    return {each["type"]: (each["status"], each["reason"]) for each in document["status"]["conditions"]}


def deployments(api: MemoryApi) -> dict[str, Document]:
    found = {key[3]: document for key, document in api.objects.items() if key[2] == "clusterdeployments"}
    return dict(sorted(found.items()))


def test_claim_gets_a_cluster_of_the_pool_with_its_secrets(tmp_path: Path) -> None:
    api = hub(maxSize=2)
    claim(api, "one")
    asyncio.run(settle(api, "hive", tmp_path))
    claimed_reasons = {"Pending": ("False", "ClusterClaimed"), "ClusterRunning": ("True", "Running")}
    assert reasons(api, f"{CLAIMS}/one") == claimed_reasons
    claimed = api.find(f"{CLAIMS}/one")
    assert claimed is not None
    assert claimed["spec"]["namespace"] == "small-0"
    assert {name: each["status"]["powerState"] for name, each in deployments(api).items()} == {
        "small-0": "Running",
        "small-1": "Hibernating",
    }
    metadata = deployments(api)["small-0"]["spec"]["clusterMetadata"]
    for kind, key in (("Kubeconfig", "kubeconfig"), ("Password", "password")):
        secret = api.find(f"{SECRETS.format('small-0')}/{metadata[f'admin{kind}SecretRef']['name']}")
        assert secret is not None
        assert key in secret["data"]


def test_claims_are_served_in_order_and_excess_ones_wait(tmp_path: Path) -> None:
    api = hub(maxSize=1)
    claim(api, "a")
    claim(api, "b")
    asyncio.run(settle(api, "hive", tmp_path))
    assert reasons(api, f"{CLAIMS}/a")["Pending"] == ("False", "ClusterClaimed")
    assert reasons(api, f"{CLAIMS}/b") == {"Pending": ("True", "NoClusters"), "ClusterRunning": ("False", "NoCluster")}
    assert reasons(api, f"{POOLS}/small")["CapacityAvailable"] == ("False", "MaxCapacity")
    asyncio.run(api.delete(f"{CLAIMS}/a"))
    # In memory, the next cluster of a name has the same uid; a store that saw the deletion ignores it for one pass.
    for _ in range(2):
        asyncio.run(settle(api, "hive", tmp_path))
    assert api.find(f"{CLAIMS}/a") is None
    assert reasons(api, f"{CLAIMS}/b")["ClusterRunning"] == ("True", "Running")


def test_claim_of_a_cluster_that_another_claim_has_gets_the_next_one(tmp_path: Path) -> None:
    api = hub(maxSize=2)
    claim(api, "b")
    asyncio.run(settle(api, "hive", tmp_path))
    claim(api, "a", namespace="small-0")
    asyncio.run(settle(api, "hive", tmp_path))
    clusters = {name: (api.find(f"{CLAIMS}/{name}") or {})["spec"]["namespace"] for name in "ab"}
    assert clusters == {"a": "small-1", "b": "small-0"}
    assert reasons(api, f"{CLAIMS}/a")["ClusterRunning"] == ("True", "Running")


def test_new_cluster_does_not_belong_to_a_claim_that_is_leaving(tmp_path: Path) -> None:
    api = hub(maxSize=1)
    metadata = {"name": "old", "deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["tests/keep"]}
    api.put(CLAIMS, {"metadata": metadata, "spec": {"clusterPoolName": "small", "namespace": "small-0"}})
    claim(api, "new")
    asyncio.run(settle(api, "hive", tmp_path))
    assert "claimName" not in deployments(api)["small-0"]["spec"]["clusterPoolRef"]


def test_claim_with_a_deleted_cluster_reports_it(tmp_path: Path) -> None:
    api = hub(maxSize=1)
    claim(api, "one")
    asyncio.run(settle(api, "hive", tmp_path))
    pool = api.find(f"{POOLS}/small") or {}
    api.put(POOLS, {**pool, "spec": {**pool["spec"], "size": 0}})
    asyncio.run(api.delete(f"{DEPLOYMENTS.format('small-0')}/small-0"))
    asyncio.run(settle(api, "hive", tmp_path))
    assert reasons(api, f"{CLAIMS}/one")["ClusterRunning"] == ("False", "ClusterDeleted")
    asyncio.run(api.delete(f"{CLAIMS}/one"))
    asyncio.run(settle(api, "hive", tmp_path))
    assert api.find(f"{CLAIMS}/one") is None


def test_lifetime_comes_from_claim_or_pool_and_deletes_the_claim(tmp_path: Path) -> None:
    api = hub(maxSize=3, size=3, claimLifetime={"default": "30m", "maximum": "1h"})
    claim(api, "long", lifetime="2h")
    claim(api, "default")
    claim(api, "over", lifetime="0s")
    asyncio.run(settle(api, "hive", tmp_path))
    lifetimes = {name: (api.find(f"{CLAIMS}/{name}") or {})["status"]["lifetime"] for name in ("long", "default")}
    assert lifetimes == {"long": "1h", "default": "30m"}
    assert api.find(f"{CLAIMS}/over") is None
    assert len(deployments(api)) == 3


def test_claimed_cluster_does_not_run_early(tmp_path: Path) -> None:
    api = hub(maxSize=1)
    asyncio.run(settle(api, "hive", tmp_path))
    data = {"hive.resume": "never"}
    api.put("/api/v1/namespaces/kube-system/configmaps", {"metadata": {"name": "perflab-steps"}, "data": data})
    claim(api, "one")
    asyncio.run(settle(api, "hive", tmp_path))
    assert reasons(api, f"{CLAIMS}/one")["ClusterRunning"] == ("False", "Resuming")
    assert deployments(api)["small-0"]["status"]["powerState"] == "WaitingForMachines"
