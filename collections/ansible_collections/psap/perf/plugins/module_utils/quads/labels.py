"""The labels of the request for self-scheduling, which no server knows, as conditions that a host's data can fulfil."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean

# a label → options of the selection; a lab adds its own, or others of the same name, by an argument
LABELS: Mapping[str, Mapping[str, Any]] = {
    "sriov_intel": {"nics": [{"vendor": "intel", "gigabits": 10}]},
    "sriov_mellanox": {"nics": [{"vendor": "mellanox", "gigabits": 10}]},
    "sriov_broadcom": {"nics": [{"vendor": "broadcom", "gigabits": 10}]},
    "nic_25g": {"nics": [{"gigabits": 25}]},
    "nic_100g": {"nics": [{"gigabits": 100}]},
    "disk_nvme": {"disks": [{"type": "nvme"}]},
    "disk_ssd": {"disks": [{"type": "ssd"}]},
    "disk_sata": {"disks": [{"type": "sata"}]},
    "dell_640": {"models": ["R640"]},
    "dell_650": {"models": ["R650"]},
    "dell_660": {"models": ["R660"]},
    "dell_740": {"models": ["R740XD", "R740"]},
    "dell_750": {"models": ["R750"]},
    "dell_760": {"models": ["R760"]},
    "gpu": {"gpus": 1},
}

# the driver that Linux uses, by a part of the vendor's name and Gbit/s from … to: QUADS does not store it
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
    """The drivers that an adapter of this vendor and speed may have."""
    return frozenset(
        name
        for word, slowest, fastest, names in DRIVERS
        if word in vendor.lower() and slowest <= gigabits <= fastest
        for name in names
    )


def options_of(names: Sequence[str], further: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The options that the labels *names* stand for; *further* are those of a lab.

    :raises UsageError: for one that nobody knows.
    """
    known = {**LABELS, **further}
    for name in names:
        if name not in known:
            raise UsageError(
                f"there is no label {name}{did_you_mean(name, known)}; known are {', '.join(sorted(known))}"
            )
    return [known[name] for name in names]
