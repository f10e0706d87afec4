"""The fields of a simulated node."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from perflab.cluster import nodes
from perflab.errors import UsageError
from perflab.processes.state import Lab, Options


def lab(options: Options | None = None) -> Lab:
    return Lab(
        Path("/nowhere"),
        options or Options(),
        ports={"kubelet": 1234},
        versions={"kubernetes": "v1.36.3", "kwok": "v0.8.0"},
    )


def test_node_follows_the_contract() -> None:
    node = nodes.numbered(nodes.shared_document(lab(), {}), 7)
    assert node["metadata"]["name"] == "node-0007"
    assert node["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    assert node["metadata"]["labels"] == {
        "type": "kwok",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": "node-0007",
        "kubernetes.io/os": "linux",
        "node-role.kubernetes.io/worker": "",
        "nvidia.com/gpu.present": "true",
        "nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3",
        "nvidia.com/gpu.count": "8",
        "feature.node.kubernetes.io/pci-10de.present": "true",
        "feature.node.kubernetes.io/system-os_release.ID": "rhel",
    }
    allocatable = node["status"]["allocatable"]
    assert (allocatable["cpu"], allocatable["memory"], allocatable["pods"]) == ("128", "1Ti", "250")
    assert allocatable["nvidia.com/gpu"] == "8"
    assert "taints" not in node["spec"]
    assert node["status"]["daemonEndpoints"]["kubeletEndpoint"]["Port"] == 1234


def test_bare_node_has_hardware_annotations_only() -> None:
    node = nodes.shared_document(lab(Options(profile="openshift", gpus_per_node=4, gpu_product="A100")), {})
    assert node["metadata"]["annotations"] == {
        "kwok.x-k8s.io/node": "fake",
        "lab.psap.perf/gpus": "4",
        "lab.psap.perf/gpu-product": "A100",
    }
    assert set(node["metadata"]["labels"]) == {
        "type",
        "kubernetes.io/arch",
        "kubernetes.io/os",
        "node-role.kubernetes.io/worker",
    }
    assert set(node["status"]["capacity"]) == {"cpu", "memory", "ephemeral-storage", "pods"}


def test_nodes_without_gpus_have_no_gpu_fields() -> None:
    node = nodes.shared_document(lab(Options(gpus_per_node=0)), {})
    assert "nvidia.com/gpu" not in node["status"]["allocatable"]
    assert not [label for label in node["metadata"]["labels"] if label.startswith("nvidia.com")]


def test_node_with_devices_allocates_no_gpus() -> None:
    node = nodes.shared_document(lab(Options(dra=True)), {})
    assert "nvidia.com/gpu" not in node["status"]["allocatable"]
    assert node["metadata"]["labels"]["nvidia.com/gpu.count"] == "8"


def test_template_is_merged_over_the_defaults() -> None:
    template: dict[str, Any] = {
        "kind": "Node",
        "metadata": {"name": "ignored", "labels": {"pool": "gold"}},
        "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
        "status": {"allocatable": {"cpu": "64"}},
    }
    node = nodes.numbered(nodes.shared_document(lab(), template), 0)
    assert node["metadata"]["name"] == "node-0000"
    assert node["metadata"]["labels"]["pool"] == "gold"
    assert node["metadata"]["labels"]["type"] == "kwok"
    assert node["spec"]["taints"] == template["spec"]["taints"]
    assert node["status"]["allocatable"]["cpu"] == "64"
    assert node["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert node["status"]["capacity"]["cpu"] == "128"


def test_merge_modifies_neither_input() -> None:
    base, changes = {"a": {"b": 1}}, {"a": {"c": [1]}}
    merged = nodes.merge(base, changes)
    merged["a"]["c"].append(2)
    assert merged["a"]["b"] == 1
    assert base == {"a": {"b": 1}}
    assert changes == {"a": {"c": [1]}}


@pytest.mark.parametrize("text", ["kind: Pod", "- a", "a: [", "a: 1\n---\nb: 2\n", "a: &a [*a]", "[" * 200])
def test_invalid_template_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "node.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"node template .*node\.yaml"):
        nodes.read_template(path)
