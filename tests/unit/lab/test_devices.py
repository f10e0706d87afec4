"""The ResourceSlices of simulated nodes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from perflab.cluster import devices
from perflab.processes.state import Options

NODE: dict[str, Any] = {"metadata": {"name": "node-0001", "uid": "u1"}}


def published(options: Options) -> list[dict[str, Any]]:
    return list(devices.resource_slices(NODE, options))


def test_slice_has_each_gpu_with_its_place() -> None:
    (one,) = published(Options(dra=True))
    assert one["metadata"]["ownerReferences"][0]["uid"] == "u1"
    spec = one["spec"]
    assert (spec["driver"], spec["nodeName"]) == ("gpu.nvidia.com", "node-0001")
    assert spec["pool"] == {"name": "node-0001", "generation": 1, "resourceSliceCount": 1}
    assert [each["name"] for each in spec["devices"]] == [f"gpu-{number}" for number in range(8)]
    assert spec["devices"][0]["capacity"] == {"memory": {"value": "81920Mi"}}
    attributes = [each["attributes"] for each in spec["devices"]]
    assert attributes[0]["productName"] == {"string": "NVIDIA H100 80GB HBM3"}
    assert [each["numaNode"]["int"] for each in attributes] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert Counter(each["resource.kubernetes.io/pcieRoot"]["string"] for each in attributes) == {
        f"pci000{root}:00": 2 for root in range(4)
    }
    assert {each["nvlinkDomain"]["string"] for each in attributes} == {"node-0001"}


def test_partitions_of_a_gpu_share_its_counters() -> None:
    counters, *rest = (each["spec"] for each in published(Options(dra=True, mig=True, gpus_per_node=1)))
    assert [each["name"] for each in counters["sharedCounters"]] == ["gpu-0"]
    available = {name: int(each["value"]) for name, each in counters["sharedCounters"][0]["counters"].items()}
    found = {each["name"]: each for spec in rest for each in spec["devices"]}
    profiles = Counter(each["attributes"].get("profile", {}).get("string", "whole") for each in found.values())
    assert profiles == {"whole": 1, "1g.10gb": 7, "2g.20gb": 3, "3g.40gb": 2, "4g.40gb": 1, "7g.80gb": 1}

    def used(*names: str) -> dict[str, int]:
        total: Counter[str] = Counter()
        for name in names:
            (consumed,) = found[name]["consumesCounters"]
            total.update({counter: int(each["value"]) for counter, each in consumed["counters"].items()})
        return total

    assert used("gpu-0") == available
    assert used(*(f"gpu-0-mig-1g10gb-{place}" for place in range(7)))["multiprocessors"] == 7
    # these two overlap in memory
    assert used("gpu-0-mig-2g20gb-0", "gpu-0-mig-1g10gb-1")["memory-slice-1"] > available["memory-slice-1"]


@pytest.mark.parametrize(("gpus", "mig", "slices"), [(8, False, 1), (0, False, 0), (8, True, 3), (16, True, 6)])
def test_slices_are_within_the_limits_of_kubernetes(gpus: int, mig: bool, slices: int) -> None:
    found = published(Options(dra=True, mig=mig, gpus_per_node=gpus))
    assert len(found) == slices
    assert {each["spec"]["pool"]["resourceSliceCount"] for each in found} <= {slices}
    assert len({each["metadata"]["name"] for each in found}) == slices
    for spec in (each["spec"] for each in found):
        assert len(spec.get("devices", ())) <= (64 if mig else 128)
        assert len(spec.get("sharedCounters", ())) <= 8


def test_classes_select_whole_gpus_or_partitions() -> None:
    whole, partitions = devices.device_classes(Options(dra=True, mig=True))
    assert [whole["metadata"]["name"], partitions["metadata"]["name"]] == ["gpu.nvidia.com", "mig.nvidia.com"]
    assert "type == 'mig'" in partitions["spec"]["selectors"][0]["cel"]["expression"]
    assert len(devices.device_classes(Options(dra=True))) == 1
