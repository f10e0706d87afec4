"""Runs on clusters claimed from a pool: the lab emulates Hive, and each claimed cluster is the lab itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import Lab, perflab
from tests.integration.driver.killing import check_undamaged, kill_all, wait_until_all_have_ended
from tests.polling import PATIENCE_S, wait_until

HIVE, HUB = "hive.openshift.io/v1", "tests-hive"
CLUSTERS = ("tests-0", "tests-1")
KEPT = Query("v1", "ConfigMap", namespace="default", name="keep-cluster")
SETTINGS = {
    "clusters_create_method": "hive",
    "clusters_create_hive_pool": "tests",
    "clusters_create_hive_namespace": HUB,
    "clusters_create_hive_timeout": "3m",
    "report_enabled": "false",
}


@dataclass(frozen=True)
class Pool:
    """A pool of two clusters, and the folder of runs on them."""

    lab: Lab
    cluster: Cluster
    runs: Path
    folder: Path

    @property
    def claims(self) -> list[Manifest]:
        """The existing claims."""
        return self.cluster.list(Query(HIVE, "ClusterClaim", namespace=HUB))[0]

    def words(self, **settings: str) -> list[str]:
        """Return the arguments of a run of the smallest flow on a claimed cluster."""
        given = {**SETTINGS, "clusters_create_folder": str(self.folder), **settings}
        pairs = [word for name, value in given.items() for word in ("-s", f"{name}={value}")]
        return ["run", "skeleton", "-i", "lab", *pairs]

    def record(self, host: str = "sutest") -> dict[str, Any]:
        """Return the record of the only run's cluster."""
        (path,) = self.runs.glob(f"*/clusters/{host}.json")
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return document

    def check_nothing_left(self) -> None:
        """Check that no claim and no file of a cluster is left."""
        assert self.claims == []
        assert not list(self.folder.glob("*"))


def _delete_all(cluster: Cluster, kind: str, namespace: str) -> None:
    query = Query(HIVE, kind, namespace=namespace)
    for each in cluster.list(query)[0]:
        cluster.delete(Query(HIVE, kind, namespace=namespace, name=each["metadata"]["name"]))
    wait_until(lambda: not cluster.list(query)[0])


@pytest.fixture(scope="module")
def hub(openshift_lab: Lab) -> Iterator[Cluster]:
    """Emulate Hive; delete the namespaces of its clusters after the last test."""
    cluster = Cluster(Access(str(openshift_lab.kubeconfig)))
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": HUB}})
    yield cluster
    for namespace in (HUB, *CLUSTERS):
        cluster.delete(Query("v1", "Namespace", name=namespace))
    cluster.close()


@pytest.fixture
def pool(openshift_lab: Lab, hub: Cluster, tmp_path: Path) -> Iterator[Pool]:
    """Create the pool; delete it and its claims after the test."""
    spec = {"baseDomain": "lab.invalid", "imageSetRef": {"name": "ocp"}, "platform": {}, "size": 1, "maxSize": 2}
    metadata = {"name": "tests", "namespace": HUB}
    hub.apply({"apiVersion": HIVE, "kind": "ClusterPool", "metadata": metadata, "spec": spec})
    yield Pool(openshift_lab, hub, tmp_path / "runs", tmp_path / "clusters")
    perflab("step", "--name", openshift_lab.name, "hive.resume=")
    hub.delete(KEPT)
    hub.delete(Query(HIVE, "ClusterPool", namespace=HUB, name="tests"))
    _delete_all(hub, "ClusterClaim", HUB)
    for namespace in CLUSTERS:
        _delete_all(hub, "ClusterDeployment", namespace)


@pytest.mark.deep
def test_two_clusters_are_claimed_concurrently_used_and_released(pool: Pool) -> None:
    driver = {
        "clusters_create_driver_method": "hive",
        "clusters_create_driver_arguments": "{time_to_live: 1h, owner: driver}",
    }
    ended = pool.lab.run(pool.runs, "perfdrv", *pool.words(**driver))

    assert ended.returncode == 0, ended.stdout + ended.stderr
    (run,) = pool.runs.iterdir()
    records = {host: pool.record(host) for host in ("sutest", "driver")}
    assert {each["phase"] for each in records.values()} == {"destroyed"}
    assert records["driver"]["owner"] == "driver"
    # everything that acts on the cluster uses the cluster's own kubeconfig
    used = [path.read_text(encoding="utf-8") for path in run.glob("*__*/**/command.txt")]
    on_it = [text for text in used if "cluster_create" not in text and "cluster_destroy" not in text]
    assert on_it
    assert all(records["sutest"]["kubeconfig"] in text for text in on_it)
    texts = (path.read_bytes() for path in run.rglob("*") if path.is_file())
    assert not any(b"client-key-data" in text for text in texts)
    pool.check_nothing_left()


@pytest.mark.deep
def test_run_killed_while_waiting_returns_its_cluster(pool: Pool) -> None:
    perflab("step", "--name", pool.lab.name, "hive.resume=never")
    run = pool.lab.start(pool.runs, "perfdrv", *pool.words())
    wait_until(lambda: pool.claims, during=run)
    kill_all(pool.runs)
    run.communicate(timeout=PATIENCE_S)
    wait_until_all_have_ended(pool.runs)
    check_undamaged(pool.runs)
    assert len(pool.claims) == 1

    finalized = pool.lab.run(pool.runs, "perfdrv", "runs", "finalize", "latest")

    assert finalized.returncode == 0, finalized.stdout + finalized.stderr
    assert pool.record()["phase"] == "destroyed"
    pool.check_nothing_left()


@pytest.mark.deep
def test_lease_that_ends_during_the_wait_is_reported_immediately(pool: Pool) -> None:
    perflab("step", "--name", pool.lab.name, "hive.resume=never")
    ended = pool.lab.run(pool.runs, "perfdrv", *pool.words(clusters_create_time_to_live="2s"))

    assert ended.returncode == 3
    assert "was deleted while its cluster was awaited" in ended.stdout or "its lifetime is over" in ended.stdout
    pool.check_nothing_left()


@pytest.mark.deep
def test_kept_cluster_stays_until_destroyed(pool: Pool) -> None:
    kept = pool.lab.run(pool.runs, "perfdrv", *pool.words(clusters_create_keep="true"))
    assert kept.returncode == 0, kept.stdout + kept.stderr
    assert len(pool.claims) == 1
    (record,) = pool.runs.glob("*/clusters/sutest.json")
    words = ("toolbox", "cluster", "destroy", "-i", "lab", "--record", str(record))

    refused = pool.lab.run(pool.runs, "perfdrv", *words)
    assert refused.returncode == 1
    assert "is kept by" in refused.stdout
    assert len(pool.claims) == 1

    destroyed = pool.lab.run(pool.runs, "perfdrv", *words, "--kept", "destroy")
    assert destroyed.returncode == 0, destroyed.stdout + destroyed.stderr
    pool.check_nothing_left()
