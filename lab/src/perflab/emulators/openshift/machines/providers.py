"""The request in a Machine's `providerSpec`: AWS or IBM Cloud, distinguished by the field that names the type."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from perflab.cluster.api import Document

_DISK_GIB = 120


@dataclass(frozen=True, slots=True)
class Wanted:
    """The instance that a Machine requests; *disk_gib* is the root volume's size."""

    cloud: str
    type: str
    region: str
    zone: str
    disk_gib: int
    spot: bool


def read(machine: Document) -> Wanted:
    """Return the request of *machine*; its type is empty if the field belongs to a cloud that is not emulated."""
    value = (machine["spec"].get("providerSpec") or {}).get("value") or {}
    if "profile" in value:
        return Wanted("ibm", value["profile"], value.get("region", ""), value.get("zone", ""), _DISK_GIB, False)
    placement = value.get("placement") or {}
    return Wanted(
        "aws",
        value.get("instanceType", ""),
        placement.get("region", ""),
        placement.get("availabilityZone", ""),
        _disk_gib(value),
        "spotMarketOptions" in value,
    )


def instance_id(machine: Document) -> str:
    """Return the cloud's name of the instance, the same each time."""
    return "i-0" + hashlib.sha256(machine["metadata"]["uid"].encode()).hexdigest()[:16]


def provider_id(machine: Document) -> str:
    """Return the name of the instance in Machine and Node."""
    wanted = read(machine)
    if wanted.cloud == "ibm":
        return f"ibm://lab///{wanted.region}/{instance_id(machine)}"
    return f"aws:///{wanted.zone}/{instance_id(machine)}"


def _disk_gib(value: Document) -> int:
    devices = value.get("blockDevices") or [{}]
    return int((devices[0].get("ebs") or {}).get("volumeSize", _DISK_GIB))
