"""What a Machine's `providerSpec` asks of its cloud: AWS or IBM Cloud, told by the field that names the type."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from perflab.cluster.api import Document

_DISK_GIB = 120


@dataclass(frozen=True, slots=True)
class Wanted:
    """The instance that a Machine asks for; *disk_gib* is the root volume's size."""

    cloud: str
    type: str
    region: str
    zone: str
    disk_gib: int
    spot: bool


def read(machine: Document) -> Wanted:
    """What *machine* wants; its type is empty when the field that tells is of a cloud that is not emulated."""
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
    """The name that the cloud gave to the instance, the same at every look."""
    return "i-0" + hashlib.sha256(machine["metadata"]["uid"].encode()).hexdigest()[:16]


def provider_id(machine: Document) -> str:
    """How Machine and Node name the instance."""
    wanted = read(machine)
    if wanted.cloud == "ibm":
        return f"ibm://lab///{wanted.region}/{instance_id(machine)}"
    return f"aws:///{wanted.zone}/{instance_id(machine)}"


def _disk_gib(value: Document) -> int:
    devices = value.get("blockDevices") or [{}]
    return int((devices[0].get("ebs") or {}).get("volumeSize", _DISK_GIB))
