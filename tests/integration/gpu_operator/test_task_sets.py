"""The preparation and removal of GPUs that pods can use, on an emulated OpenShift."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.prometheus.awaiting import Expected, await_series
from ansible_collections.psap.perf.plugins.module_utils.prometheus.client import Address, Prometheus

from tests.integration.settling import read_stable, read_until_expected
from tests.integration.task_sets import TaskSets

NAMESPACE = "nvidia-gpu-operator"
POLICY = ("nvidia.com/v1", "ClusterPolicy")
WISHES: dict[str, Any] = {
    "clusters_sutest_compute_dedicated": True,
    "gpu_operator_time_sharing_replicas": 2,
    "gpu_operator_well_known_metrics": True,
    "gpu_operator_wait_metrics": True,
    "gpu_operator_timeout": "3m",
}


def objects(sets: TaskSets, api_version: str, kind: str, **selected: Any) -> list[Manifest]:
    if not sets.cluster.serves(api_version, kind):
        return []
    return sets.cluster.list(Query(api_version, kind, **selected))[0]


def traces(sets: TaskSets) -> dict[str, Any]:
    """Return all objects that a GPU operator and Node Feature Discovery can leave."""
    nodes = objects(sets, "v1", "Node")
    foreign = ("nvidia.com/", "feature.node.kubernetes.io/", "nfd.node.kubernetes.io/")
    definitions = objects(sets, "apiextensions.k8s.io/v1", "CustomResourceDefinition")
    return {
        "nodes": {
            node["metadata"]["name"]: sorted(
                name
                for names in (node["metadata"]["labels"], node["metadata"]["annotations"], node["status"]["capacity"])
                for name in names
                if name.startswith(foreign)
            )
            for node in nodes
        },
        "namespaces": sorted(each["metadata"]["name"] for each in objects(sets, "v1", "Namespace")),
        "kinds": sorted(each["metadata"]["name"] for each in definitions),
        "operators": [
            each["metadata"]["name"] for each in objects(sets, "operators.coreos.com/v1alpha1", "Subscription")
        ],
    }


def gpus(sets: TaskSets) -> set[str]:
    return {node["status"]["allocatable"].get("nvidia.com/gpu", "none") for node in objects(sets, "v1", "Node")}


def prometheus(sets: TaskSets) -> Prometheus:
    lab = sets.cluster.lab()
    assert lab is not None
    return Prometheus(Address(lab["prometheus-url"], "of the lab"))


def never_stop() -> None:
    """Do nothing: no stop is requested."""


def busy_pod(name: str, usage: dict[str, Any]) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "default",
            "annotations": {"lab.psap.perf/training": json.dumps(usage)},
        },
        "spec": {
            "containers": [{"name": "main", "image": "none", "resources": {"limits": {"nvidia.com/gpu": "1"}}}],
        },
    }


def test_gpu_nodes_of_a_cluster_without_olm_are_unchanged(on_kubernetes: TaskSets) -> None:
    done = on_kubernetes.play("prepare_gpu_operator", **WISHES)
    assert done.exit_code == 0, done.output
    assert (done.changed, done.commands) == (0, [])


@pytest.mark.deep
def test_check_mode_changes_nothing(on_openshift: TaskSets) -> None:
    before = traces(on_openshift)
    done = on_openshift.play("prepare_gpu_operator", "--check", **WISHES)
    assert done.exit_code == 0, done.output
    assert traces(on_openshift) == before


@pytest.mark.deep
def test_operator_is_prepared_once_and_removed_completely(on_openshift: TaskSets) -> None:
    look = partial(traces, on_openshift)
    before = read_stable(look)
    assert gpus(on_openshift) == {"none"}
    first = on_openshift.play("prepare_gpu_operator", **WISHES)
    assert first.exit_code == 0, first.output
    assert "gpu_operator__enable_time_sharing" in first.commands
    assert gpus(on_openshift) == {"16"}
    (policy,) = objects(on_openshift, *POLICY)
    assert {each["key"] for each in policy["spec"]["daemonsets"]["tolerations"]} == {
        "nvidia.com/gpu",
        "only-workload-pods",
    }

    second = on_openshift.play("prepare_gpu_operator", **WISHES)
    assert second.exit_code == 0, second.output
    assert second.changed == 0

    kept = on_openshift.play("cleanup_gpus")
    assert kept.exit_code == 0, kept.output
    assert (kept.changed, kept.commands) == (0, [])

    removed = on_openshift.play("cleanup_gpus", gpu_operator_remove=True)
    assert removed.exit_code == 0, removed.output
    # a node's capacity changes when its kubelet notices that its device plugin is gone
    assert read_until_expected(look, before.__eq__, attempts=60) == before


def test_gpu_usage_follows_the_pods(on_openshift: TaskSets) -> None:
    done = on_openshift.play("prepare_gpu_operator", gpu_operator_wait_metrics=True)
    assert done.exit_code == 0, done.output
    usage = {"gpu_utilization": 0.25, "gpu_memory_bytes": 8 << 30}
    on_openshift.cluster.apply(busy_pod("trains", usage))
    try:
        with prometheus(on_openshift) as asked:
            expected = [
                Expected("use", 'DCGM_FI_DEV_GPU_UTIL{exported_pod="trains", exported_namespace="default"} == 25'),
                Expected("memory", 'DCGM_FI_DEV_FB_USED{exported_pod="trains", exported_container="main"} == 8192'),
                Expected("idle", "DCGM_FI_DEV_GPU_UTIL == 0", 4 * 8 - 1),
            ]
            await_series(asked, expected, 60, never_stop)
    finally:
        on_openshift.cluster.delete(Query("v1", "Pod", "default", "trains"))
