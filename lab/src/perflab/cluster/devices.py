"""The GPUs of simulated nodes as devices for dynamic resource allocation, as NVIDIA's driver would publish them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from perflab.cluster.api import Api, Document, in_bulk
from perflab.cluster.hardware import Hardware, of_product
from perflab.cluster.topology import parse_topology
from perflab.errors import UsageError
from perflab.processes.state import Options
from perflab.profiles import KUBERNETES

DRIVER = "gpu.nvidia.com"
MIG_CLASS = "mig.nvidia.com"
DOMAIN_DRIVER = "compute-domain.nvidia.com"
CHANNEL_CLASS = "compute-domain-default-channel.nvidia.com"
NVLINK_LEVEL = "nvlink"
"""The level of the topology whose domains are NVLink domains of several nodes."""
_VERSION = "resource.k8s.io/v1"
SLICES = f"/apis/{_VERSION}/resourceslices"
_NVLINK_DOMAIN = "nvlinkDomain"
_PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
_GPUS_PER_ROOT = 2
_NUMA_NODES = 2
# Kubernetes' limits of one slice: of devices, of devices that consume counters, of counter sets
_MOST_DEVICES, _MOST_PARTITIONS, _MOST_COUNTER_SETS = 128, 64, 8
# a GPU with MIG has eight slices of memory and seven of multiprocessors
_MEMORY_SLICES, _COMPUTE_SLICES = 8, 7


@dataclass(frozen=True, slots=True)
class _Profile:
    """A MIG profile: its slices of multiprocessors, and the slices of memory at each possible place."""

    compute: int
    memory: int
    places: tuple[int, ...]

    def name(self, memory_gib: int) -> str:
        return f"{self.compute}g.{memory_gib * self.memory // _MEMORY_SLICES}gb"


# the placements of A100, H100, H200 and B200
_PROFILES = (
    _Profile(1, 1, (0, 1, 2, 3, 4, 5, 6)),
    _Profile(2, 2, (0, 2, 4)),
    _Profile(3, 4, (0, 4)),
    _Profile(4, 4, (0,)),
    _Profile(7, 8, (0,)),
)


def check(profile: str, gpu_product: str, *, mig: bool) -> None:
    """Check that a lab can offer its GPUs as devices. Raises UsageError if it cannot."""
    if profile != KUBERNETES:
        raise UsageError(
            f"--dra needs the profile {KUBERNETES}: the GPU operator of {profile} offers GPUs as nvidia.com/gpu."
        )
    if mig and not of_product(gpu_product).mig_capable:
        raise UsageError(f"--mig: a {gpu_product} has no MIG partitions; choose another --gpu-product, such as A100.")


def device_classes(options: Options) -> list[Document]:
    """Return the classes that claims name: whole GPUs, and partitions if the lab has them."""
    expressions = {DRIVER: _of_type(DRIVER, "gpu")}
    if options.mig:
        expressions[MIG_CLASS] = _of_type(DRIVER, "mig")
    if _nvlink_label(options):
        expressions[CHANNEL_CLASS] = _of_type(DOMAIN_DRIVER, "channel")
    return [
        {
            "apiVersion": _VERSION,
            "kind": "DeviceClass",
            "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}]},
        }
        for name, expression in expressions.items()
    ]


def _of_type(driver: str, kind: str) -> str:
    return f"device.driver == '{driver}' && device.attributes['{driver}'].type == '{kind}'"


def _nvlink_label(options: Options) -> str | None:
    """Return the label of nodes that names their NVLink domain; None if each node is one."""
    return next((level.label for level in parse_topology(options.topology) if level.name == NVLINK_LEVEL), None)


async def publish(api: Api, nodes: Sequence[Document], options: Options) -> None:
    """Create the slices that *nodes* and their NVLink domains do not have yet.

    Slices of deleted nodes of the same names are deleted first; Kubernetes would delete them later.
    """
    owners = {each["metadata"]["name"]: _owner_of(each) for each in await api.list(SLICES)}
    wanted = [each for node in nodes for each in resource_slices(node, options)]
    label = _nvlink_label(options)
    if label:
        domains = sorted({node["metadata"]["labels"][label] for node in nodes})
        wanted += [_channels(label, domain) for domain in domains]

    async def create(one: Document) -> None:
        name = one["metadata"]["name"]
        if name in owners:
            await api.delete(f"{SLICES}/{name}")
        await api.create(SLICES, one)

    await in_bulk([each for each in wanted if owners.get(each["metadata"]["name"], "") != _owner_of(each)], create)


def _owner_of(one: Document) -> str | None:
    """Return the UID of the node that a slice belongs to; None for the slice of a domain."""
    return next((str(owner["uid"]) for owner in one["metadata"].get("ownerReferences", ())), None)


def _channels(label: str, domain: str) -> Document:
    """Return the slice of the channels of one NVLink domain: devices that each of its nodes can use."""
    expression = {"key": label, "operator": "In", "values": [domain]}
    attributes = {"type": {"string": "channel"}, f"{DRIVER}/{_NVLINK_DOMAIN}": {"string": domain}}
    devices = [
        {"name": f"channel-{number}", "attributes": {**attributes, "id": {"int": number}}}
        for number in range(_MOST_DEVICES)
    ]
    return {
        "apiVersion": _VERSION,
        "kind": "ResourceSlice",
        "metadata": {"name": f"{domain}-{DOMAIN_DRIVER}"},
        "spec": {
            "driver": DOMAIN_DRIVER,
            "nodeSelector": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]},
            "pool": {"name": domain, "generation": 1, "resourceSliceCount": 1},
            "devices": devices,
        },
    }


def resource_slices(node: Document, options: Options) -> Iterator[Document]:
    """Yield the slices of one pool with the devices of a created *node*; they are deleted with it."""
    name = node["metadata"]["name"]
    hardware = of_product(options.gpu_product)
    label = _nvlink_label(options)
    domain = node["metadata"]["labels"][label] if label else name
    gpus = [_gpu(name, domain, number, options.gpus_per_node, hardware) for number in range(options.gpus_per_node)]
    contents: list[Document] = []
    if options.mig:
        counters = [_counter_set(number) for number in range(len(gpus))]
        partitions = [each for number, gpu in enumerate(gpus) for each in _partitioned(number, gpu, hardware)]
        contents += [{"sharedCounters": part} for part in _parts(counters, _MOST_COUNTER_SETS)]
        contents += [{"devices": part} for part in _parts(partitions, _MOST_PARTITIONS)]
    else:
        contents += [{"devices": part} for part in _parts(gpus, _MOST_DEVICES)]
    pool = {"name": name, "generation": 1, "resourceSliceCount": len(contents)}
    owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"], "controller": True}
    for number, content in enumerate(contents):
        yield {
            "apiVersion": _VERSION,
            "kind": "ResourceSlice",
            "metadata": {"name": f"{name}-{DRIVER}-{number}", "ownerReferences": [owner]},
            "spec": {"driver": DRIVER, "nodeName": name, "pool": pool, **content},
        }


def _parts(items: Sequence[Document], most: int) -> Iterator[list[Document]]:
    for first in range(0, len(items), most):
        yield list(items[first : first + most])


def _gpu(node: str, domain: str, number: int, count: int, hardware: Hardware) -> Document:
    root = number // _GPUS_PER_ROOT
    attributes = {
        "type": {"string": "gpu"},
        "uuid": {"string": f"GPU-{node}-{number}"},
        "productName": {"string": hardware.model},
        "architecture": {"string": hardware.family},
        "cudaComputeCapability": {"version": f"{hardware.compute_major}.{hardware.compute_minor}.0"},
        "numaNode": {"int": number * _NUMA_NODES // count},
        _NVLINK_DOMAIN: {"string": domain},
        _PCIE_ROOT: {"string": f"pci{root:04x}:00"},
    }
    return {
        "name": f"gpu-{number}",
        "attributes": attributes,
        "capacity": {"memory": {"value": f"{hardware.memory_mib}Mi"}},
    }


def _counter_set(number: int) -> Document:
    counters = {"multiprocessors": {"value": str(_COMPUTE_SLICES)}}
    counters |= {f"memory-slice-{place}": {"value": "1"} for place in range(_MEMORY_SLICES)}
    return {"name": f"gpu-{number}", "counters": counters}


def _partitioned(number: int, gpu: Document, hardware: Hardware) -> Iterator[Document]:
    """Yield a GPU and its partitions, all of which consume the counters of the GPU."""
    yield {**gpu, "consumesCounters": _consumed(number, _COMPUTE_SLICES, range(_MEMORY_SLICES))}
    for profile in _PROFILES:
        name = profile.name(hardware.memory_mib // 1024)
        size = hardware.memory_mib * profile.memory // _MEMORY_SLICES
        for place in profile.places:
            uuid = f"MIG-{gpu['attributes']['uuid']['string']}-{name}-{place}"
            attributes: dict[str, Any] = {
                **gpu["attributes"],
                "type": {"string": "mig"},
                "profile": {"string": name},
                "uuid": {"string": uuid},
                "parentUUID": gpu["attributes"]["uuid"],
            }
            yield {
                "name": f"gpu-{number}-mig-{name.replace('.', '')}-{place}",
                "attributes": attributes,
                "capacity": {"memory": {"value": f"{size}Mi"}},
                "consumesCounters": _consumed(number, profile.compute, range(place, place + profile.memory)),
            }


def _consumed(number: int, compute: int, memory: range) -> list[Document]:
    counters = {"multiprocessors": {"value": str(compute)}}
    counters |= {f"memory-slice-{place}": {"value": "1"} for place in memory}
    return [{"counterSet": f"gpu-{number}", "counters": counters}]
