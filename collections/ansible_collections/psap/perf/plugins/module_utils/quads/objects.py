"""Objects of a QUADS server: hosts, assignments and rows of their schedule. The server omits empty lists."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError
from ansible_collections.psap.perf.plugins.module_utils.quads.times import server_time

Document: TypeAlias = Mapping[str, Any]

# some labs enter speeds in Mbit/s and others in Gbit/s; no adapter has 1000 Gbit/s or 999 Mbit/s
_MEGABITS = 1000
_OF_GPUS = ("nvidia", "instinct", "gpu", "tesla")


@dataclass(frozen=True, slots=True)
class Disk:
    """Disks of one kind; ``size_gb`` is the size of each."""

    type: str
    size_gb: int
    count: int


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface; ``gigabits`` per second, 0 if unknown."""

    name: str
    mac: str
    vendor: str
    gigabits: float
    pxe_boot: bool
    switch_port: str
    bios_id: str


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor, or a GPU that a lab enters as one."""

    vendor: str
    product: str
    cores: int
    threads: int
    kind: str

    @property
    def is_gpu(self) -> bool:
        """Return whether it is a GPU by the lab's data."""
        return any(word in f"{self.kind} {self.vendor} {self.product}".lower() for word in _OF_GPUS)


@dataclass(frozen=True, slots=True)
class Host:
    """A host.

    Args:
        cloud: The cloud that it is in.
        home: The cloud that it returns to.
        open: It is open to self-scheduling; None if the server has no such field.
    """

    name: str
    model: str
    type: str
    cloud: str
    home: str
    validated: bool
    broken: bool
    retired: bool
    open: bool | None
    disks: tuple[Disk, ...] = ()
    interfaces: tuple[Interface, ...] = ()
    memory_gb: int = 0
    processors: tuple[Processor, ...] = ()

    @property
    def bmc(self) -> str:
        """Return the name of its management controller, by the convention of the labs."""
        return f"mgmt-{self.name}"

    @property
    def gpus(self) -> int:
        """Return the number of GPUs in the lab's data."""
        return sum(each.is_gpu for each in self.processors)


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment; ``vlan`` is the number of its public VLAN."""

    id: int
    cloud: str
    owner: str
    description: str
    ticket: str
    active: bool
    provisioned: bool
    validated: bool
    wipe: bool
    qinq: int
    vlan: int | None
    failed: bool
    """``notification.fail``: a hint, which remains set after a success."""

    def carries(self, mark: str, owner: str) -> bool:
        """Return whether *owner* requested it with *mark*; the server adds a prefix to a description."""
        return self.owner == owner and self.description.endswith(mark)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the schedule: a host in an assignment, between two times of the server's local time."""

    id: int
    assignment: int
    host: Host
    start: datetime
    end: datetime
    stage: str
    error: str


def host_of(document: Document) -> Host:
    """Return the host of a document of the server."""
    opened = document.get("can_self_schedule")
    return Host(
        name=str(document["name"]),
        model=_text(document, "model"),
        type=_text(document, "host_type"),
        cloud=_name(document.get("cloud")),
        home=_name(document.get("default_cloud")),
        validated=document.get("validated") is True,
        broken=document.get("broken") is True,
        retired=document.get("retired") is True,
        open=None if opened is None else opened is True,
        disks=tuple(
            Disk(_text(each, "disk_type"), _number(each, "size_gb"), _number(each, "count"))
            for each in document.get("disks") or ()
        ),
        interfaces=tuple(_interface(each) for each in document.get("interfaces") or ()),
        memory_gb=sum(_number(each, "size_gb") for each in document.get("memory") or ()),
        processors=tuple(_processor(each) for each in document.get("processors") or ()),
    )


def assignment_of(document: Document) -> Assignment:
    """Return the assignment of a document of the server.

    Raises:
        DataQualityError: If it has no id.
    """
    vlan = document.get("vlan") or {}
    return Assignment(
        id=identity(document, "assignment"),
        cloud=_name(document.get("cloud")),
        owner=_text(document, "owner"),
        description=_text(document, "description"),
        ticket=_text(document, "ticket"),
        active=document.get("active") is True,
        provisioned=document.get("provisioned") is True,
        validated=document.get("validated") is True,
        wipe=document.get("wipe") is True,
        qinq=_number(document, "qinq"),
        vlan=int(vlan["vlan_id"]) if str(vlan.get("vlan_id", "")).isdecimal() else None,
        failed=(document.get("notification") or {}).get("fail") is True,
    )


def row_of(document: Document) -> Row:
    """Return the schedule row of a document of the server.

    Raises:
        DataQualityError: If it has no id.
    """
    return Row(
        id=identity(document, "schedule"),
        assignment=_number(document, "assignment_id"),
        host=host_of(document["host"]),
        start=server_time(document["start"]),
        end=server_time(document["end"]),
        stage=_text(document, "move_status"),
        error=_text(document, "move_error"),
    )


def identity(document: Document, what: str) -> int:
    """Return the id of an object of kind *what*.

    Raises:
        DataQualityError: If it has none, which is the response to a write that the database rejected.
    """
    number = document.get("id")
    if isinstance(number, bool) or not isinstance(number, int):
        raise DataQualityError(f"QUADS returned no id of the {what}: its database rejected the write")
    return number


def _interface(document: Document) -> Interface:
    speed = _number(document, "speed")
    return Interface(
        name=_text(document, "name"),
        mac=_text(document, "mac_address"),
        vendor=_text(document, "vendor"),
        gigabits=speed / _MEGABITS if speed >= _MEGABITS else float(speed),
        pxe_boot=document.get("pxe_boot") is True,
        switch_port=_text(document, "switch_port"),
        bios_id=_text(document, "bios_id"),
    )


def _processor(document: Document) -> Processor:
    return Processor(
        vendor=_text(document, "vendor"),
        product=_text(document, "product"),
        cores=_number(document, "cores"),
        threads=_number(document, "threads"),
        kind=_text(document, "processor_type"),
    )


def _text(document: Document, key: str) -> str:
    value = document.get(key)
    return "" if value is None else str(value)


def _number(document: Document, key: str) -> int:
    try:
        return int(document.get(key) or 0)
    except (TypeError, ValueError):
        return 0


def _name(document: Any) -> str:
    return str(document.get("name") or "") if isinstance(document, Mapping) else ""
