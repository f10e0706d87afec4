"""The ResourceSlices of simulated nodes."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from perflab.cluster import devices
from perflab.cluster.topology import domain_labels, parse_topology
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


class Server:
    """Slices by name, as an API server has them."""

    def __init__(self, *present: dict[str, Any]) -> None:
        self.slices = {each["metadata"]["name"]: each for each in present}

    async def list(self, _path: str) -> list[dict[str, Any]]:
        return list(self.slices.values())

    async def delete(self, path: str) -> None:
        del self.slices[path.rpartition("/")[2]]

    async def create(self, _path: str, body: dict[str, Any]) -> None:
        assert self.slices.setdefault(body["metadata"]["name"], body) is body


def node(number: int, uid: str) -> dict[str, Any]:
    labels = domain_labels(parse_topology("nvlink=2"), number)
    return {"metadata": {"name": f"node-000{number}", "uid": uid, "labels": labels}}


def owners(server: Server) -> dict[str, str | None]:
    return {name: devices._owner_of(each) for name, each in server.slices.items()}


def test_missing_and_stale_slices_of_nodes_are_published() -> None:
    options = Options(dra=True)
    kept, old = (next(devices.resource_slices(node(number, f"u{number}"), options)) for number in (0, 1))
    server = Server(kept, old)
    asyncio.run(devices.publish(server, [node(0, "u0"), node(1, "new"), node(2, "u2")], options))  # type: ignore[arg-type]
    assert owners(server) == {
        "node-0000-gpu.nvidia.com-0": "u0",
        "node-0001-gpu.nvidia.com-0": "new",
        "node-0002-gpu.nvidia.com-0": "u2",
    }
    assert server.slices[kept["metadata"]["name"]] is kept


def test_nodes_of_an_nvlink_domain_share_its_channels() -> None:
    options = Options(dra=True, topology="nvlink=2")
    server = Server()
    nodes = [node(number, f"u{number}") for number in range(4)]
    for _call in range(2):
        asyncio.run(devices.publish(server, nodes, options))  # type: ignore[arg-type]
    shared = server.slices["nvlink-1-compute-domain.nvidia.com"]["spec"]
    (term,) = shared["nodeSelector"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "lab.psap.perf/nvlink", "operator": "In", "values": ["nvlink-1"]}]
    attribute = {each["attributes"]["gpu.nvidia.com/nvlinkDomain"]["string"] for each in shared["devices"]}
    gpus = server.slices["node-0003-gpu.nvidia.com-0"]["spec"]["devices"]
    assert attribute == {each["attributes"]["nvlinkDomain"]["string"] for each in gpus} == {"nvlink-1"}
    assert len(server.slices) == 4 + 2
