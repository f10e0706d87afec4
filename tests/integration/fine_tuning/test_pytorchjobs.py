"""The PyTorchJobs that the command renders, compared with the training operator's own definition field by field."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query

from tests.polling import PATIENCE_S

from .conftest import COMMAND, USUAL, Commands, render

pytestmark = pytest.mark.lab

NETWORKS = {"use_secondary_nic": ["port-1", "port-2"], "rdma_resource": "nvidia.com/roce"}
PLACE = {
    "node_selector": {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"},
    "tolerations": [{"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}],
}
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "everything": {"gpu": 8, "shared_memory": 20, "ephemeral_output_pvc_size": "500Gi", **PLACE},
    "limited": {"gpu": 1, "cpu": 4, "memory": 64, "request_equals_limits": True, "metrics_port": 0},
    "networks": {"workload": "ilab", "pod_count": 4, "gpu": 8, "use_primary_nic": False, **NETWORKS},
    "host": {"workload": "ilab", "pod_count": 2, "use_host_network": True, "run_as_user": ""},
    "sleeps": {"sleep_forever": True},
    "caches": {"gpu": 8, "dataset_prepare_cache_only": True},
}


@pytest.fixture(name="rendered")
def _rendered(commands: Commands, tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Return every variant by its name; the server's dry run accepted each."""
    playbook = render(tmp_path / "render.yml", COMMAND, USUAL, VARIANTS)
    process = commands.start(playbook)
    output, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, output
    texts = {name: next(commands.runs.glob(f"*/*/src/pytorchjob_{name}.yml")).read_text() for name in VARIANTS}
    return {name: yaml.safe_load(text) for name, text in texts.items()}


def strict(schema: Any) -> Any:
    """Return *schema* without additional properties."""
    if isinstance(schema, list):
        return [strict(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and schema.get("type") == "object":
        result.setdefault("additionalProperties", False)
    return result


def of_pod(job: dict[str, Any], kind: str = "Master") -> dict[str, Any]:
    template: dict[str, Any] = job["spec"]["pytorchReplicaSpecs"][kind]["template"]
    return template


def container(job: dict[str, Any], kind: str = "Master") -> dict[str, Any]:
    found: dict[str, Any] = of_pod(job, kind)["spec"]["containers"][0]
    return found


def variables(job: dict[str, Any]) -> dict[str, str]:
    return {entry["name"]: entry["value"] for entry in container(job)["env"]}


@pytest.mark.deep
def test_every_pytorchjob_matches_the_training_operators_schema(
    commands: Commands, rendered: dict[str, dict[str, Any]]
) -> None:
    name = "pytorchjobs.kubeflow.org"
    crd = commands.cluster.get(Query("apiextensions.k8s.io/v1", "CustomResourceDefinition", name=name))
    assert crd is not None
    schema = strict(crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"])
    # the definition leaves metadata to the API server, whose dry run accepted all of them
    schema["properties"]["metadata"] = {}
    schema["properties"]["spec"]["properties"]["pytorchReplicaSpecs"]["additionalProperties"]["properties"]["template"][
        "properties"
    ]["metadata"] = {}
    for job in rendered.values():
        jsonschema.validate(job, schema)
    broken = {**rendered["plain"], "spec": {**rendered["plain"]["spec"], "backofLimit": 1}}
    with pytest.raises(jsonschema.ValidationError, match="backofLimit"):
        jsonschema.validate(broken, schema)

    assert container(rendered["plain"])["resources"]["limits"] == {}
    _volumes_place_and_limits(rendered)
    _networks(rendered)
    _other_ways(rendered)


def _volumes_place_and_limits(rendered: dict[str, dict[str, Any]]) -> None:
    everything = rendered["everything"]
    spec = of_pod(everything)["spec"]
    volumes = {volume["name"]: volume for volume in spec["volumes"]}
    claim = volumes["output"]["ephemeral"]["volumeClaimTemplate"]["spec"]
    assert claim["resources"]["requests"] == {"storage": "500Gi"}
    assert volumes["shared-memory"]["emptyDir"] == {"medium": "Memory", "sizeLimit": "20Gi"}
    assert spec["nodeSelector"] == PLACE["node_selector"]
    assert spec["tolerations"] == PLACE["tolerations"]
    assert container(everything)["resources"]["limits"] == {"nvidia.com/gpu": "8"}
    assert [port["name"] for port in container(everything)["ports"]] == ["pytorchjob-port", "metrics"]
    limited = container(rendered["limited"])
    assert limited["resources"]["limits"] == {"cpu": "4", "memory": "64Gi", "nvidia.com/gpu": "1"}
    assert limited["resources"]["limits"] == limited["resources"]["requests"]
    assert [port["name"] for port in limited["ports"]] == ["pytorchjob-port"]


def _networks(rendered: dict[str, dict[str, Any]]) -> None:
    job = rendered["networks"]
    assert job["spec"]["pytorchReplicaSpecs"]["Worker"]["replicas"] == 3
    assert job["spec"]["nprocPerNode"] == "8"
    assert of_pod(job) == of_pod(job, "Worker")
    assert of_pod(job)["metadata"]["annotations"]["k8s.v1.cni.cncf.io/networks"] == "port-1,port-2"
    assert container(job)["resources"]["limits"] == {"nvidia.com/gpu": "8", "nvidia.com/roce": "2"}
    assert container(job)["securityContext"]["capabilities"] == {"drop": ["ALL"], "add": ["IPC_LOCK"]}
    assert variables(job)["NCCL_SOCKET_IFNAME"] == "net1,net2"
    assert variables(rendered["plain"])["NCCL_SOCKET_IFNAME"] == "eth0"
    host = rendered["host"]
    assert of_pod(host)["spec"]["hostNetwork"] is True
    assert "NCCL_SOCKET_IFNAME" not in variables(host)
    assert "runAsUser" not in of_pod(host)["spec"]["securityContext"]


def _other_ways(rendered: dict[str, dict[str, Any]]) -> None:
    assert container(rendered["sleeps"])["command"] == ["sleep", "infinity"]
    caches = rendered["caches"]
    assert "nvidia.com/gpu" not in container(caches)["resources"]["requests"]
