"""What the emulated GPU operator makes of a ClusterPolicy, a node, and the pods on it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from perflab.cluster.api import Document
from perflab.emulators.operators.gpu_operator import hardware, metrics, nodes, operands, sharing, usage
from perflab.emulators.operators.gpu_operator.operands import DCGM_EXPORTER, DEVICE_PLUGIN, DRIVER, HASH
from perflab.emulators.operators.gpu_operator.sharing import UNSHARED, Sharing
from perflab.emulators.operators.gpu_operator.usage import Usage

H100 = "NVIDIA-H100-80GB-HBM3"
PRESENT = "nvidia.com/gpu.present"
MARK = {"lab.psap.perf/emulated": "gpu_operator"}
EMULATOR = Path(operands.__file__).parent


def policy(**sections: Any) -> Document:
    return {"metadata": {"name": "gpu-cluster-policy"}, "spec": sections}


def node(gpus: int = 8, product: str = H100) -> Document:
    annotations = {"lab.psap.perf/gpus": str(gpus), "lab.psap.perf/gpu-product": product}
    return {"metadata": {"name": "n", "annotations": annotations}}


def pod(name: str, gpus: int = 1, training: str | None = None) -> tuple[Document, int]:
    annotations = {} if training is None else {"lab.psap.perf/training": training}
    containers = [{"name": "main", "resources": {"limits": {"nvidia.com/gpu": str(gpus)}}}]
    metadata = {"name": name, "namespace": "team", "annotations": annotations}
    return {"metadata": metadata, "spec": {"containers": containers}}, gpus


def container_of(document: Document) -> Document:
    found: Document = document["spec"]["template"]["spec"]["containers"][0]
    return found


def test_the_example_of_the_package_has_all_operands() -> None:
    example = yaml.safe_load((EMULATOR / "packages.yaml").read_text())[0]["examples"][0]
    assert list(operands.wanted(example)) == list(operands.OPERANDS)


def test_an_operand_can_be_turned_off() -> None:
    names = {operand.name for operand in operands.wanted(policy(driver={"enabled": False}, dcgm={"enabled": True}))}
    assert "nvidia-driver-daemonset" not in names
    assert {"nvidia-dcgm", "nvidia-operator-validator"} <= names


def test_an_image_is_that_of_the_policy_where_it_says_one() -> None:
    told = policy(driver={"repository": "registry.invalid/nvidia", "version": "sha256:12ab"})
    assert (
        container_of(operands.daemon_set(told, DRIVER, MARK))["image"] == "registry.invalid/nvidia/driver@sha256:12ab"
    )
    assert container_of(operands.daemon_set(policy(), DRIVER, MARK))["image"] == DRIVER.image


def test_a_change_that_matters_is_told_by_the_digest() -> None:
    def digest(**sections: Any) -> str:
        return str(operands.daemon_set(policy(**sections), DCGM_EXPORTER, MARK)["metadata"]["annotations"][HASH])

    assert digest() == digest(devicePlugin={"config": {"name": "c"}})
    assert digest() != digest(dcgmExporter={"config": {"name": "c"}})
    assert digest() != digest(daemonsets={"tolerations": []}, dcgmExporter={"env": [{"name": "A", "value": "1"}]})
    assert digest() != digest(daemonsets={"tolerations": [{"key": "dedicated", "operator": "Exists"}]})


def test_the_exporter_is_told_where_its_list_of_metrics_is() -> None:
    told = policy(dcgmExporter={"config": {"name": "mine"}, "env": [{"name": "A", "value": "1"}]})
    document = operands.daemon_set(told, DCGM_EXPORTER, MARK)
    names = [entry["name"] for entry in container_of(document)["env"]]
    assert names == ["A", "DCGM_EXPORTER_COLLECTORS"]
    assert document["spec"]["template"]["spec"]["volumes"] == [{"name": "configuration", "configMap": {"name": "mine"}}]


def test_the_plugin_is_told_which_entry_of_its_configuration_is_the_default() -> None:
    told = policy(devicePlugin={"config": {"name": "slices", "default": "four"}})
    manager = operands.daemon_set(told, DEVICE_PLUGIN, MARK)["spec"]["template"]["spec"]["containers"][1]
    assert manager["env"] == [{"name": "DEFAULT_CONFIG", "value": "four"}]


def slices(replicas: int, **more: Any) -> str:
    resource = {"name": "nvidia.com/gpu", "replicas": replicas}
    return yaml.safe_dump({"version": "v1", "sharing": {"timeSlicing": {"resources": [resource], **more}}})


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (slices(4), Sharing(4)),
        (slices(1), UNSHARED),
        (slices(4, renameByDefault=True), Sharing(4, renamed=True)),
        ("flags: {migStrategy: single}", UNSHARED),
        ("sharing: {timeSlicing: {resources: [{name: other, replicas: 4}]}}", UNSHARED),
        ("no: [yaml", UNSHARED),
        ("", UNSHARED),
    ],
)
def test_time_slicing_is_read_from_the_plugins_configuration(text: str, expected: Sharing) -> None:
    assert sharing.read({"data": {"any": text}}, "any") == expected
    assert sharing.read({"data": {"any": text}}, "other") == UNSHARED
    assert sharing.read({}, "any") == UNSHARED


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
def test_what_a_product_is(product: str, family: str, memory_mib: int, mig: bool) -> None:
    found = hardware.of_product(product)
    assert (found.family, found.memory_mib, found.mig_capable) == (family, memory_mib, mig)


def test_labels_of_a_node_whose_gpus_are_shared() -> None:
    labels = nodes.feature_labels(node(), Sharing(4))
    assert labels["nvidia.com/gpu.count"] == "8"
    assert labels["nvidia.com/gpu.replicas"] == "4"
    assert labels["nvidia.com/gpu.product"] == f"{H100}-SHARED"
    assert labels["nvidia.com/gpu.deploy.mig-manager"] == "true"
    assert nodes.feature_labels(node(), UNSHARED)["nvidia.com/gpu.product"] == H100
    assert nodes.feature_labels(node(), Sharing(4, renamed=True))["nvidia.com/gpu.product"] == H100


def test_only_the_labels_of_the_stack_are_taken_away() -> None:
    present = {"nvidia.com/gpu.count": "8", "nvidia.com/device-plugin.config": "a", "zone": "z", PRESENT: "true"}
    assert nodes.changed_labels(present, {PRESENT: "true"}) == {"nvidia.com/gpu.count": None}
    assert nodes.changed_labels(present, {PRESENT: "false", "nvidia.com/gpu.count": "8"}) == {PRESENT: "false"}


def test_gpus_come_and_go_beside_other_resources() -> None:
    assert nodes.with_gpus({"cpu": "4"}, {"nvidia.com/gpu": "8"}) == {"cpu": "4", "nvidia.com/gpu": "8"}
    shared = {"nvidia.com/gpu.shared": "16"}
    assert nodes.with_gpus({"cpu": "4", "nvidia.com/gpu": "8"}, shared) == {
        "cpu": "4",
        "nvidia.com/gpu": None,
        **shared,
    }


def test_gpus_are_busy_by_who_holds_them() -> None:
    told = json.dumps({"gpu_utilization": 0.25, "gpu_memory_bytes": 10 << 30})
    found = usage.of_gpus(4, 80 << 10, [pod("trains", 2, told), pod("burns", 1)])
    assert [each.utilization for each in found] == [0.25, 0.25, 1.0, 0.0]
    assert [each.memory_mib for each in found] == [10 << 10, 10 << 10, 40 << 10, 0]
    assert [each.pod and each.pod["metadata"]["name"] for each in found] == ["trains", "trains", "burns", None]


def test_shares_of_a_gpu_add_up_and_end_at_all_of_it() -> None:
    third = json.dumps({"gpu_utilization": 0.4, "gpu_memory_bytes": 30 << 30})
    found = usage.of_gpus(1, 80 << 10, [pod("a", 1, third), pod("b", 1, third), pod("c", 1, third)])
    assert found[0].utilization == 1.0
    assert found[0].memory_mib == 80 << 10
    assert found[0].pod is not None
    assert found[0].pod["metadata"]["name"] == "a"


@pytest.mark.parametrize("told", ["[]", "nothing", '{"gpu_utilization": null}'])
def test_an_annotation_that_says_nothing_counts_as_absent(told: str) -> None:
    assert usage.of_gpus(1, 80 << 10, [pod("a", 1, told)])[0].utilization == 1.0


def test_a_list_of_metrics() -> None:
    found = metrics.read_list("# mine\n\nDCGM_FI_DEV_GPU_UTIL, gauge, Use, in %.\nDCGM_FI_DRIVER_VERSION, label, V\n")
    assert [(each.name, each.kind, each.help) for each in found] == [
        ("DCGM_FI_DEV_GPU_UTIL", "gauge", "Use, in %."),
        ("DCGM_FI_DRIVER_VERSION", "label", "V"),
    ]
    with pytest.raises(ValueError, match="NAME, type, help"):
        metrics.read_list("DCGM_FI_DEV_GPU_UTIL gauge\n")


def test_the_page_of_the_exporter() -> None:
    chosen = metrics.read_list("DCGM_FI_DEV_GPU_UTIL, gauge, Use.\nDCGM_FI_DEV_NOBODY_KNOWS, counter, X.\n")
    busy = Usage(0.5, 1024, pod("trains")[0])
    page = metrics.dcgm_page("n", hardware.of_product(H100), [(busy, 0.0), (Usage(), 0.0)], chosen)
    lines = page.splitlines()
    assert lines[:2] == ["# HELP DCGM_FI_DEV_GPU_UTIL Use.", "# TYPE DCGM_FI_DEV_GPU_UTIL gauge"]
    assert lines[2].endswith('container="main",namespace="team",pod="trains"} 50')
    assert 'gpu="1"' in lines[3]
    assert "pod=" not in lines[3]
    assert lines[3].endswith("} 0")
    assert lines[5] == "# TYPE DCGM_FI_DEV_NOBODY_KNOWS counter"


def test_the_exporters_own_list_has_a_number_for_each_gpu() -> None:
    chosen = metrics.read_list(metrics.DEFAULTS)
    found = metrics.values(hardware.of_product(H100), Usage(0.5, 1024), 2.0)
    assert found["DCGM_FI_DEV_FB_USED"] + found["DCGM_FI_DEV_FB_FREE"] == 81920
    assert found["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == 2000
    assert {each.name for each in chosen} >= {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_POWER_USAGE"}
