"""Emulated GPUs: their numbers, sharing and utilization."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from perflab.cluster import hardware
from perflab.cluster.api import Document
from perflab.emulators.operators.gpu_operator import metrics, usage
from perflab.emulators.operators.gpu_operator.functions import sharing
from perflab.emulators.operators.gpu_operator.usage import Usage

H100 = "NVIDIA-H100-80GB-HBM3"


def pod(name: str, gpus: int = 1, training: str | None = None) -> Document:
    annotations = {} if training is None else {"lab.psap.perf/training": training}
    containers = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]
    metadata = {"name": name, "namespace": "team", "annotations": annotations}
    status = {"phase": "Running", "startTime": f"2025-01-01T00:00:0{len(name)}Z"}
    return {"metadata": metadata, "spec": {"containers": containers}, "status": status}


def slices(replicas: int, **more: Any) -> str:
    resource = {"name": "nvidia.com/gpu", "replicas": replicas}
    return yaml.safe_dump({"version": "v1", "sharing": {"timeSlicing": {"resources": [resource], **more}}})


@pytest.mark.parametrize(
    ("text", "replicas", "renamed"),
    [
        (slices(4), 4, False),
        (slices(1), 1, False),
        (slices(4, renameByDefault=True), 4, True),
        ("flags: {migStrategy: single}", 1, False),
        ("sharing: {timeSlicing: {resources: [{name: other, replicas: 4}]}}", 1, False),
        ("no: [yaml", 1, False),
        ("", 1, False),
        (None, 1, False),
    ],
)
def test_time_slicing_is_read_from_the_plugins_configuration(text: str | None, replicas: int, renamed: bool) -> None:
    assert sharing(json.dumps({"text": text})) == {"replicas": replicas, "renamed": renamed}


def test_plugin_without_configuration_shares_nothing() -> None:
    assert sharing(None) == {"replicas": 1, "renamed": False}


@pytest.mark.parametrize(
    ("product", "family", "memory_mib", "mig"),
    [
        (H100, "hopper", 81920, True),
        ("NVIDIA-A100-SXM4-40GB", "ampere", 40960, True),
        ("NVIDIA-A10G", "ampere", 24576, False),
        ("NVIDIA-OF-NEXT-YEAR", "undefined", 81920, False),
        ("NVIDIA-L4", "ada-lovelace", 24576, False),
        ("Tesla-T4", "turing", 16384, False),
    ],
)
def test_gpu_product_has_family_memory_and_mig(product: str, family: str, memory_mib: int, mig: bool) -> None:
    found = hardware.of_product(product)
    assert (found.family, found.memory_mib, found.mig_capable) == (family, memory_mib, mig)


def test_gpus_are_busy_by_their_pods() -> None:
    annotation = json.dumps({"gpu_utilization": 0.25, "gpu_memory_bytes": 10 << 30})
    found = usage.of_gpus(4, 80 << 10, [pod("later", 1), pod("busy", 2, annotation)])
    assert [each.utilization for each in found] == [0.25, 0.25, 1.0, 0.0]
    assert [each.memory_mib for each in found] == [10 << 10, 10 << 10, 40 << 10, 0]
    assert [each.pod and each.pod["metadata"]["name"] for each in found] == ["busy", "busy", "later", None]


def test_gpu_shares_add_up_to_one_gpu_at_most() -> None:
    third = json.dumps({"gpu_utilization": 0.4, "gpu_memory_bytes": 30 << 30})
    found = usage.of_gpus(1, 80 << 10, [pod("a", 1, third), pod("b", 1, third), pod("c", 1, third)])
    assert found[0].utilization == 1.0
    assert found[0].memory_mib == 80 << 10
    assert found[0].pod is not None
    assert found[0].pod["metadata"]["name"] == "a"


@pytest.mark.parametrize("annotation", ["[]", "nothing", '{"gpu_utilization": null}'])
def test_invalid_annotation_counts_as_absent(annotation: str) -> None:
    assert usage.of_gpus(1, 80 << 10, [pod("a", 1, annotation)])[0].utilization == 1.0


def test_list_of_metrics_is_parsed() -> None:
    found = metrics.read_list("# mine\n\nDCGM_FI_DEV_GPU_UTIL, gauge, Use, in %.\nDCGM_FI_DRIVER_VERSION, label, V\n")
    assert [(each.name, each.kind, each.help) for each in found] == [
        ("DCGM_FI_DEV_GPU_UTIL", "gauge", "Use, in %."),
        ("DCGM_FI_DRIVER_VERSION", "label", "V"),
    ]
    with pytest.raises(ValueError, match="NAME, type, help"):
        metrics.read_list("DCGM_FI_DEV_GPU_UTIL gauge\n")


def test_exporter_page_has_its_metrics() -> None:
    chosen = metrics.read_list("DCGM_FI_DEV_GPU_UTIL, gauge, Use.\nDCGM_FI_DEV_NOBODY_KNOWS, counter, X.\n")
    busy = Usage(0.5, 1024, pod("trains"))
    page = metrics.dcgm_page("n", hardware.of_product(H100), [(busy, 0.0), (Usage(), 0.0)], chosen)
    lines = page.splitlines()
    assert lines[:2] == ["# HELP DCGM_FI_DEV_GPU_UTIL Use.", "# TYPE DCGM_FI_DEV_GPU_UTIL gauge"]
    assert lines[2].endswith('container="main",namespace="team",pod="trains"} 50')
    assert 'gpu="1"' in lines[3]
    assert "pod=" not in lines[3]
    assert lines[3].endswith("} 0")
    assert lines[5] == "# TYPE DCGM_FI_DEV_NOBODY_KNOWS counter"


def test_exporters_default_list_has_a_number_per_gpu() -> None:
    chosen = metrics.read_list(metrics.DEFAULTS)
    found = metrics.values(hardware.of_product(H100), Usage(0.5, 1024), 2.0)
    assert found["DCGM_FI_DEV_FB_USED"] + found["DCGM_FI_DEV_FB_FREE"] == 81920
    assert found["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == 2000
    assert {each.name for each in chosen} >= {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE"}
