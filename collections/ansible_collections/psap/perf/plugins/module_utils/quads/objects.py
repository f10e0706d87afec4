"""What a QUADS server tells of: hosts, assignments and rows of their schedule. It leaves empty lists out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeAlias

from ansible_collections.psap.perf.plugins.module_utils.base.errors import DataQualityError
from ansible_collections.psap.perf.plugins.module_utils.quads.times import server_time

Told: TypeAlias = Mapping[str, Any]

# speeds are written in Mbit/s by some labs and in Gbit/s by others; no adapter has 1000 Gbit/s or 999 Mbit/s
_MEGABITS = 1000
_OF_GPUS = ("nvidia", "instinct", "gpu", "tesla")


@dataclass(frozen=True, slots=True)
class Disk:
    """Disks of one kind: ``type`` as the lab writes it, ``size_gb`` of each, how many."""

    type: str
    size_gb: int
    count: int


@dataclass(frozen=True, slots=True)
class Interface:
    """A network interface; ``gigabits`` a second, 0 where it is not known."""

    name: str
    mac: str
    vendor: str
    gigabits: float
    pxe_boot: bool
    switch_port: str
    bios_id: str


@dataclass(frozen=True, slots=True)
class Processor:
    """A processor, or what a lab enters as one, such as a GPU."""

    vendor: str
    product: str
    cores: int
    threads: int
    kind: str

    @property
    def is_gpu(self) -> bool:
        """Whether the lab's data says that it is a GPU."""
        return any(word in f"{self.kind} {self.vendor} {self.product}".lower() for word in _OF_GPUS)


@dataclass(frozen=True, slots=True)
class Host:
    """A host.

    :param cloud: where it is now; ``home`` where it belongs.
    :param open: whether it may be self-scheduled; None where the server does not say.
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
        """The name of its management controller, by the habit of the labs."""
        return f"mgmt-{self.name}"

    @property
    def gpus(self) -> int:
        """GPUs that the lab's data names."""
        return sum(each.is_gpu for each in self.processors)


@dataclass(frozen=True, slots=True)
class Assignment:
    """An assignment; ``vlan`` is the number of its public VLAN, None without one."""

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
    """``notification.fail``: a hint, which stays even after a success."""

    def carries(self, mark: str, owner: str) -> bool:
        """Whether it is the one that *owner* asked for with *mark*: the server puts a prefix before a description."""
        return self.owner == owner and self.description.endswith(mark)


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the schedule: a host in an assignment, between two times of the server's wall clock."""

    id: int
    assignment: int
    host: Host
    start: datetime
    end: datetime
    stage: str
    error: str


def host_of(told: Told) -> Host:
    """A host as the server tells of it."""
    opened = told.get("can_self_schedule")
    return Host(
        name=str(told["name"]),
        model=_text(told, "model"),
        type=_text(told, "host_type"),
        cloud=_name(told.get("cloud")),
        home=_name(told.get("default_cloud")),
        validated=told.get("validated") is True,
        broken=told.get("broken") is True,
        retired=told.get("retired") is True,
        open=None if opened is None else opened is True,
        disks=tuple(
            Disk(_text(each, "disk_type"), _number(each, "size_gb"), _number(each, "count"))
            for each in told.get("disks") or ()
        ),
        interfaces=tuple(_interface(each) for each in told.get("interfaces") or ()),
        memory_gb=sum(_number(each, "size_gb") for each in told.get("memory") or ()),
        processors=tuple(_processor(each) for each in told.get("processors") or ()),
    )


def assignment_of(told: Told) -> Assignment:
    """An assignment as the server tells of it.

    :raises DataQualityError: when its id is no number, as after a write that the database refused.
    """
    vlan = told.get("vlan") or {}
    return Assignment(
        id=identity(told, "assignment"),
        cloud=_name(told.get("cloud")),
        owner=_text(told, "owner"),
        description=_text(told, "description"),
        ticket=_text(told, "ticket"),
        active=told.get("active") is True,
        provisioned=told.get("provisioned") is True,
        validated=told.get("validated") is True,
        wipe=told.get("wipe") is True,
        qinq=_number(told, "qinq"),
        vlan=int(vlan["vlan_id"]) if str(vlan.get("vlan_id", "")).isdecimal() else None,
        failed=(told.get("notification") or {}).get("fail") is True,
    )


def row_of(told: Told) -> Row:
    """A row of the schedule as the server tells of it.

    :raises DataQualityError: when its id is no number.
    """
    return Row(
        id=identity(told, "schedule"),
        assignment=_number(told, "assignment_id"),
        host=host_of(told["host"]),
        start=server_time(told["start"]),
        end=server_time(told["end"]),
        stage=_text(told, "move_status"),
        error=_text(told, "move_error"),
    )


def identity(told: Told, what: str) -> int:
    """The id of what was created.

    :raises DataQualityError: when there is none: the server answers so after a write that its database refused.
    """
    number = told.get("id")
    if isinstance(number, bool) or not isinstance(number, int):
        raise DataQualityError(f"QUADS answered with a {what} without an id: its database refused the write")
    return number


def _interface(told: Told) -> Interface:
    speed = _number(told, "speed")
    return Interface(
        name=_text(told, "name"),
        mac=_text(told, "mac_address"),
        vendor=_text(told, "vendor"),
        gigabits=speed / _MEGABITS if speed >= _MEGABITS else float(speed),
        pxe_boot=told.get("pxe_boot") is True,
        switch_port=_text(told, "switch_port"),
        bios_id=_text(told, "bios_id"),
    )


def _processor(told: Told) -> Processor:
    return Processor(
        vendor=_text(told, "vendor"),
        product=_text(told, "product"),
        cores=_number(told, "cores"),
        threads=_number(told, "threads"),
        kind=_text(told, "processor_type"),
    )


def _text(told: Told, key: str) -> str:
    value = told.get(key)
    return "" if value is None else str(value)


def _number(told: Told, key: str) -> int:
    try:
        return int(told.get(key) or 0)
    except (TypeError, ValueError):
        return 0


def _name(told: Any) -> str:
    return str(told.get("name") or "") if isinstance(told, Mapping) else ""
