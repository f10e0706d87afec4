"""The RayJobs that the command renders, compared with KubeRay's fields and Kubernetes' own pods field by field."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.client import Cluster
from ansible_collections.psap.perf.plugins.module_utils.kube_api.deleting import delete_matching
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.kubeconfig.access import Access

from tests.integration.conftest import Lab

from .conftest import render
from .test_pytorchjobs import strict

pytestmark = [pytest.mark.lab, pytest.mark.deep]

NAMESPACE = "test-ray-jobs"
COMMAND = "fine_tuning_ray_fine_tuning_job"
USUAL = {"namespace": NAMESPACE, "pvc_name": "storage", "model_name": "granite", "dataset_name": "alpaca.json"}
NETWORKS = {"use_secondary_nic": ["port-1", "port-2"], "use_primary_nic": False}
PLACE = {"node_selector": {"pool": "gold"}, "node_selector_key": "zone", "node_selector_value": "a"}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "everything": {"gpu": 8, "shared_memory": 20, "ephemeral_output_pvc_size": "500Gi", "pod_count": 3, **PLACE},
    "limited": {"gpu": 1, "cpu": 4, "memory": 64, "request_equals_limits": True, "shutdown_cluster": False},
    "networks": {"gpu": 8, "pod_count": 2, "rdma_resource": "nvidia.com/roce", **NETWORKS},
    "benchmark": {"workload": "ray-benchmark", "pod_count": 2, "pvc_name": "", "model_name": "", "dataset_name": ""},
    "sleeps": {"sleep_forever": True},
    "caches": {"gpu": 8, "pod_count": 4, "dataset_prepare_cache_only": True},
}


@pytest.fixture(name="cluster")
def _cluster(openshift_lab: Lab) -> Iterator[Cluster]:
    """Return a lab with Ray, on which SCCs matter."""
    cluster = Cluster(Access(kubeconfig=str(openshift_lab.kubeconfig)))
    cluster.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    yield cluster
    namespace = Query("v1", "Namespace", name=NAMESPACE)
    # the next test of this lab may list namespaces
    delete_matching(cluster, namespace, check_mode=False, timeout_s=120, check=lambda: None)
    cluster.close()


@pytest.fixture(name="rendered")
def _rendered(openshift_lab: Lab, cluster: Cluster, tmp_path: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Return every variant by its name: kind → manifest; the server's dry run accepted each."""
    assert cluster.is_openshift()
    playbook = render(tmp_path / "render.yml", COMMAND, USUAL, VARIANTS)
    runs = tmp_path / "runs"
    runs.mkdir()
    played = openshift_lab.run(runs, "ansible-playbook", str(playbook), "-i", "inventories/lab")
    assert played.returncode == 0, played.stdout
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in VARIANTS:
        paths = runs.glob(f"*/*/src/*_{name}.yml")
        found[name] = {document["kind"]: document for path in paths for document in [yaml.safe_load(path.read_text())]}
    return found


def specs(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the pod templates of a RayJob: the submitter's, the head's, the workers'."""
    cluster = job["spec"]["rayClusterSpec"]
    workers = [group["template"] for group in cluster.get("workerGroupSpecs") or ()]
    return [job["spec"]["submitterPodTemplate"], cluster["headGroupSpec"]["template"], *workers]


def head(job: dict[str, Any]) -> dict[str, Any]:
    spec: dict[str, Any] = specs(job)[1]["spec"]
    return spec


def test_every_rayjob_matches_the_schemas_of_kuberay(
    cluster: Cluster, rendered: dict[str, dict[str, dict[str, Any]]]
) -> None:
    definitions = {
        name: cluster.get(Query("apiextensions.k8s.io/v1", "CustomResourceDefinition", name=name))
        for name in ("rayjobs.ray.io", "pytorchjobs.kubeflow.org")
    }
    schemas = {
        name: strict(found["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
        for name, found in definitions.items()
        if found is not None
    }
    of_job = schemas["rayjobs.ray.io"]["properties"]["spec"]
    # the training operator's definition has a complete pod template
    replicas = schemas["pytorchjobs.kubeflow.org"]["properties"]["spec"]["properties"]["pytorchReplicaSpecs"]
    of_pod = replicas["additionalProperties"]["properties"]["template"]["properties"]["spec"]
    jobs = {name: found["RayJob"] for name, found in rendered.items()}
    for job in jobs.values():
        jsonschema.validate(job["spec"], of_job)
        for template in specs(job):
            jsonschema.validate(template["spec"], of_pod)
    with pytest.raises(jsonschema.ValidationError, match="entrypont"):
        jsonschema.validate({**jobs["plain"]["spec"], "entrypont": "x"}, of_job)

    _sizes_and_places(jobs)
    _other_ways(jobs)
    networks = rendered["networks"]
    assert head(networks["RayJob"])["serviceAccountName"] == networks["ServiceAccount"]["metadata"]["name"]
    assert networks["RoleBinding"]["roleRef"]["name"] == "system:openshift:scc:privileged"
    assert "ServiceAccount" not in rendered["everything"], "only who pins memory needs more rights"
    assert "serviceAccountName" not in head(jobs["everything"])


def _sizes_and_places(jobs: dict[str, dict[str, Any]]) -> None:
    everything = jobs["everything"]["spec"]["rayClusterSpec"]["workerGroupSpecs"][0]
    assert [everything[name] for name in ("replicas", "minReplicas", "maxReplicas")] == [2, 2, 2]
    assert everything["template"]["spec"] == head(jobs["everything"])
    assert head(jobs["everything"])["nodeSelector"] == {"pool": "gold", "zone": "a"}
    assert "workerGroupSpecs" not in jobs["plain"]["spec"]["rayClusterSpec"]
    limited = head(jobs["limited"])["containers"][0]["resources"]
    assert limited["limits"] == limited["requests"] == {"cpu": "4", "memory": "64Gi", "nvidia.com/gpu": "1"}
    networks = head(jobs["networks"])["containers"][0]
    assert networks["resources"]["limits"] == {"nvidia.com/gpu": "8", "nvidia.com/roce": "2"}
    assert {each["name"]: each["value"] for each in networks["env"]}["NCCL_SOCKET_IFNAME"] == "net1,net2"
    annotations = specs(jobs["networks"])[1]["metadata"]["annotations"]
    assert annotations["k8s.v1.cni.cncf.io/networks"] == "port-1,port-2"


def _other_ways(jobs: dict[str, dict[str, Any]]) -> None:
    assert jobs["plain"]["spec"]["shutdownAfterJobFinishes"] is True
    assert jobs["limited"]["spec"]["shutdownAfterJobFinishes"] is False
    assert "deepspeed" in yaml.safe_load(jobs["plain"]["spec"]["runtimeEnvYAML"])["pip"][1]
    assert "runtimeEnvYAML" not in jobs["benchmark"]["spec"]
    volumes = [volume["name"] for volume in head(jobs["benchmark"])["volumes"]]
    assert volumes == ["output", "config", "entrypoint", "app"]
    assert jobs["sleeps"]["spec"]["entrypoint"] == "sleep infinity"
    assert "workerGroupSpecs" not in jobs["caches"]["spec"]["rayClusterSpec"]
    assert "nvidia.com/gpu" not in head(jobs["caches"])["containers"][0]["resources"]["requests"]
