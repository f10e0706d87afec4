"""Ray's clusters and jobs: what is made of their objects."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.emulators.operators.ray import pods

MARK = {"lab.psap.perf/emulated": "ray"}


def template(gpus: int = 0, **metadata: Any) -> dict[str, Any]:
    resources = {"limits": {"nvidia.com/gpu": gpus}, "requests": {"cpu": "500m", "memory": "1Gi"}}
    return {"metadata": metadata, "spec": {"containers": [{"name": "ray", "image": "i:1", "resources": resources}]}}


def group(replicas: int, least: int = 0, most: int = 100, hosts: int = 1) -> dict[str, Any]:
    counts = {"replicas": replicas, "minReplicas": least, "maxReplicas": most, "numOfHosts": hosts}
    return {"groupName": "workers", **counts, "rayStartParams": {}, "template": template(4)}


def cluster(*groups: dict[str, Any]) -> dict[str, Any]:
    head = {"rayStartParams": {}, "template": template(2, labels={"team": "a"}, annotations={"note": "b"})}
    return {
        "metadata": {"name": "c", "namespace": "x", "uid": "u", "generation": 1},
        "spec": {"headGroupSpec": head, "workerGroupSpecs": list(groups)},
    }


def job(**spec: Any) -> dict[str, Any]:
    status = {"rayClusterName": "j-raycluster-1", "jobId": "j-1", "dashboardURL": "c-head-svc.x.svc.cluster.local:8265"}
    metadata = {"name": "j", "namespace": "x", "uid": "u", "labels": {"team": "a"}}
    return {
        "metadata": metadata,
        "spec": {"entrypoint": "python a.py", "rayClusterSpec": cluster()["spec"], **spec},
        "status": status,
    }


@pytest.mark.parametrize(
    ("asked", "count"), [(group(3), 3), (group(0, least=2), 2), (group(9, most=4), 4), (group(2, hosts=3), 6)]
)
def test_a_group_has_as_many_workers_as_its_limits_allow(asked: dict[str, Any], count: int) -> None:
    assert pods.replicas_of(asked) == count
    assert len(pods.members(cluster(asked))) == 1 + count


def test_names_of_pods_are_all_different_and_the_same_each_time() -> None:
    names = [member.name for member in pods.members(cluster(group(3)))]
    assert len(set(names)) == 4
    assert names == [member.name for member in pods.members(cluster(group(3)))]
    assert names[0].startswith("c-head-")
    assert names[1].startswith("c-workers-worker-")


def test_the_heads_pod_carries_its_templates_labels_and_kuberays() -> None:
    owner = cluster()
    made = pods.pod_of(owner, pods.members(owner)[0], MARK)
    assert made["metadata"]["labels"]["team"] == "a"
    assert made["metadata"]["labels"]["ray.io/node-type"] == "head"
    assert made["metadata"]["annotations"] == {"note": "b", **MARK}
    assert "initContainers" not in made["spec"]


def test_a_worker_waits_for_its_head() -> None:
    owner = cluster(group(1))
    made = pods.pod_of(owner, pods.members(owner)[1], MARK)
    assert [each["name"] for each in made["spec"]["initContainers"]] == ["wait-gcs-ready"]
    assert made["metadata"]["ownerReferences"][0]["kind"] == "RayCluster"


def test_a_clusters_resources_are_those_of_all_its_pods() -> None:
    whole = cluster(group(3))
    assert [pods.amount(whole, name) for name in ("nvidia.com/gpu", "cpu")] == ["14", "2"]


def test_a_jobs_cluster_has_its_labels_and_a_name_that_fits() -> None:
    long = {**job(), "metadata": {**job()["metadata"], "name": "n" * 60}}
    assert len(pods.cluster_name(long)) == 50
    made = pods.cluster_of(job(), "c", MARK)
    assert made["metadata"]["labels"]["team"] == "a"
    assert made["metadata"]["labels"]["ray.io/originated-from-cr-name"] == "j"


def test_the_submitter_runs_the_entrypoint_on_the_dashboard() -> None:
    made = pods.submitter_of(job(), MARK)
    container = made["spec"]["template"]["spec"]["containers"][0]
    address = "--address=http://c-head-svc.x.svc.cluster.local:8265"
    assert container["command"] == ["ray", "job", "submit", address, "--submission-id=j-1", "--", "python", "a.py"]
    assert (container["image"], made["spec"]["backoffLimit"]) == ("i:1", 2)


def test_a_submitters_own_template_and_limit_are_kept() -> None:
    own = {"metadata": {"labels": {"mine": "yes"}}, "spec": {"containers": [{"name": "s", "command": ["true"]}]}}
    made = pods.submitter_of(job(submitterPodTemplate=own, submitterConfig={"backoffLimit": 0}), MARK)
    assert made["spec"]["template"]["spec"]["containers"][0]["command"] == ["true"]
    assert made["spec"]["template"]["metadata"]["labels"]["mine"] == "yes"
    assert made["spec"]["backoffLimit"] == 0
