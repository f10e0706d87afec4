"""Conditions on the data of a host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ansible_collections.psap.perf.plugins.module_utils.quads.objects import Disk, Interface

# The driver that Linux uses, by a part of the vendor's name and by Gbit/s from … to: QUADS does not store it.
DRIVERS: tuple[tuple[str, float, float, tuple[str, ...]], ...] = (
    ("intel", 0, 1, ("igb", "e1000e")),
    ("intel", 10, 10, ("ixgbe", "i40e", "ice")),
    ("intel", 20, 40, ("i40e", "ice")),
    ("intel", 50, 200, ("ice",)),
    ("mellanox", 1, 800, ("mlx5_core", "mlx4_core")),
    ("nvidia", 1, 800, ("mlx5_core",)),
    ("broadcom", 0, 1, ("tg3",)),
    ("broadcom", 10, 400, ("bnxt_en", "bnx2x")),
    ("qlogic", 1, 100, ("qede",)),
    ("solarflare", 1, 100, ("sfc",)),
)


def drivers(vendor: str, gigabits: float) -> frozenset[str]:
    """Return the drivers that an adapter of this vendor and speed may have."""
    return frozenset(
        name
        for word, slowest, fastest, names in DRIVERS
        if word in vendor.lower() and slowest <= gigabits <= fastest
        for name in names
    )


@dataclass(frozen=True, slots=True)
class DiskRequest:
    """At least *count* disks of at least *size_gb* each, whose type contains *type*."""

    type: str = ""
    size_gb: int = 0
    count: int = 1

    def missing(self, disks: Sequence[Disk]) -> str:
        """Return the missing part; empty if the condition is met."""
        found = sum(disk.count for disk in disks if self._fits(disk))
        wanted = " ".join(filter(None, (self.type, "disks", f"of {self.size_gb} GB" if self.size_gb else "")))
        return "" if found >= self.count else f"has {found} of {self.count} {wanted}"

    def _fits(self, disk: Disk) -> bool:
        return self.type.lower() in disk.type.lower() and disk.size_gb >= self.size_gb


@dataclass(frozen=True, slots=True)
class NicRequest:
    """At least *count* interfaces of at least *gigabits* per second, of a vendor (a part of its name) and a driver."""

    vendor: str = ""
    gigabits: float = 0
    driver: str = ""
    count: int = 1

    def missing(self, interfaces: Sequence[Interface]) -> str:
        """Return the missing part; empty if the condition is met."""
        found = sum(self._fits(each) for each in interfaces)
        speed = f"of {self.gigabits:g} Gbit/s" if self.gigabits else ""
        driver = f"with driver {self.driver}" if self.driver else ""
        wanted = " ".join(filter(None, (self.vendor, "interfaces", speed, driver)))
        return "" if found >= self.count else f"has {found} of {self.count} {wanted}"

    def _fits(self, nic: Interface) -> bool:
        return (
            self.vendor.lower() in nic.vendor.lower()
            and nic.gigabits >= self.gigabits
            and (not self.driver or self.driver in drivers(nic.vendor, nic.gigabits))
        )


@dataclass(frozen=True, slots=True)
class HostConditions:
    """Conditions of one host; the model is one of *models*, and numbers are minima."""

    models: tuple[str, ...] = ()
    disks: tuple[DiskRequest, ...] = ()
    nics: tuple[NicRequest, ...] = ()
    memory_gb: int = 0
    cores: int = 0
    threads: int = 0
    processor: str = ""
    gpus: int = 0
