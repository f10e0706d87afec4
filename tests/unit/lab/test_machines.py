"""The Machine's fields, and the resulting Node."""

from __future__ import annotations

from typing import Any

import pytest
from perflab.emulators.openshift.machines import instance_types, providers
from perflab.emulators.openshift.machines.instance_types import InstanceType
from perflab.emulators.openshift.machines.nodes import node_of

H100 = "NVIDIA-H100-80GB-HBM3"
AWS = {
    "instanceType": "g5.12xlarge",
    "blockDevices": [{"ebs": {"volumeSize": 500}}],
    "placement": {"region": "us-east-2", "availabilityZone": "us-east-2b"},
}


def machine(value: dict[str, Any], **spec: Any) -> dict[str, Any]:
    metadata = {"name": "gpus-abcde", "namespace": "openshift-machine-api", "uid": "7d1c"}
    return {"metadata": metadata, "spec": {"providerSpec": {"value": value}, **spec}}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("g4dn.xlarge", InstanceType(4, 16, 1, "Tesla-T4")),
        ("g4dn.metal", InstanceType(96, 384, 8, "Tesla-T4")),
        ("g5.12xlarge", InstanceType(48, 192, 4, "NVIDIA-A10G")),
        ("g6e.48xlarge", InstanceType(192, 1536, 8, "NVIDIA-L40S")),
        ("p4d.24xlarge", InstanceType(96, 1152, 8, "NVIDIA-A100-SXM4-40GB")),
        ("p5.48xlarge", InstanceType(192, 2048, 8, H100)),
        ("m6i.2xlarge", InstanceType(8, 32)),
        ("c7i.large", InstanceType(2, 4)),
        ("gx3-16x80x1l4", InstanceType(16, 80, 1, "NVIDIA-L4")),
        ("gx3d-160x1792x8h100", InstanceType(160, 1792, 8, H100)),
        ("bx2-8x32", InstanceType(8, 32)),
    ],
)
def test_machine_type_yields_its_hardware(name: str, expected: InstanceType) -> None:
    assert instance_types.find(name) == expected


@pytest.mark.parametrize("name", ["", "g5", "g5.tiny", "g4dn.48xlarge", "m6i.huge", "gx3-16x80x1quantum", "node"])
def test_unknown_machine_type_is_none(name: str) -> None:
    assert instance_types.find(name) is None


def test_bare_node_reports_its_hardware_by_annotations() -> None:
    spec = {"taints": [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}], "metadata": {"labels": {"gpu": "yes"}}}
    wanted = machine(AWS, **spec)
    hardware = instance_types.find("g5.12xlarge")
    assert hardware is not None
    node = node_of(wanted, hardware, "v1.36.3", {"lab.psap.perf/emulated": "machines"})
    metadata, status = node["metadata"], node["status"]
    assert metadata["name"] == "gpus-abcde"
    assert metadata["annotations"]["lab.psap.perf/gpus"] == "4"
    assert metadata["annotations"]["lab.psap.perf/gpu-product"] == "NVIDIA-A10G"
    assert metadata["annotations"]["machine.openshift.io/machine"] == "openshift-machine-api/gpus-abcde"
    assert metadata["labels"]["gpu"] == "yes"
    assert metadata["labels"]["topology.kubernetes.io/zone"] == "us-east-2b"
    assert not [label for label in metadata["labels"] if "nvidia" in label or "feature.node" in label]
    assert node["spec"]["taints"] == spec["taints"]
    assert status["capacity"] == {"cpu": "48", "memory": "192Gi", "ephemeral-storage": "500Gi", "pods": "250"}
    assert "conditions" not in status, "KWOK makes it Ready"


def test_node_without_gpus_has_no_gpu_annotations() -> None:
    node = node_of(machine({"profile": "bx2-8x32"}), InstanceType(8, 32), "v1.36.3", {})
    assert "lab.psap.perf/gpus" not in node["metadata"]["annotations"]
    assert node["spec"]["taints"] == []


def test_machine_and_node_share_a_stable_instance_name() -> None:
    aws, ibm = machine(AWS), machine({"profile": "bx2-8x32", "region": "us-south", "zone": "us-south-1"})
    assert providers.provider_id(aws).startswith("aws:///us-east-2b/i-0")
    assert providers.provider_id(aws) == providers.provider_id(machine(AWS))
    assert providers.provider_id(ibm).startswith("ibm://lab///us-south/")
    node = node_of(aws, InstanceType(8, 32), "v1.36.3", {})
    assert node["spec"]["providerID"] == providers.provider_id(aws)


def test_omitted_provider_fields_have_defaults() -> None:
    wanted = providers.read(machine({"instanceType": "m6i.large"}))
    assert (wanted.disk_gib, wanted.spot, wanted.zone) == (120, False, "")
    assert providers.read(machine({"instanceType": "m6i.large", "spotMarketOptions": {}})).spot
    assert providers.read(machine({"numCPUs": 4})).type == ""
