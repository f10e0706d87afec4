"""Labels of requests for hosts, as conditions on a host; the server has no labels."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.arguments import convert
from ansible_collections.psap.perf.plugins.module_utils.base.errors import UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.naming import did_you_mean
from ansible_collections.psap.perf.plugins.module_utils.quads.conditions import DiskRequest, HostConditions, NicRequest

# An argument adds labels of a lab, or replaces one of these.
LABELS: Mapping[str, HostConditions] = {
    "sriov_intel": HostConditions(nics=(NicRequest(vendor="intel", gigabits=10),)),
    "sriov_mellanox": HostConditions(nics=(NicRequest(vendor="mellanox", gigabits=10),)),
    "sriov_broadcom": HostConditions(nics=(NicRequest(vendor="broadcom", gigabits=10),)),
    "nic_25g": HostConditions(nics=(NicRequest(gigabits=25),)),
    "nic_100g": HostConditions(nics=(NicRequest(gigabits=100),)),
    "disk_nvme": HostConditions(disks=(DiskRequest(type="nvme"),)),
    "disk_ssd": HostConditions(disks=(DiskRequest(type="ssd"),)),
    "disk_sata": HostConditions(disks=(DiskRequest(type="sata"),)),
    "dell_640": HostConditions(models=("R640",)),
    "dell_650": HostConditions(models=("R650",)),
    "dell_660": HostConditions(models=("R660",)),
    "dell_740": HostConditions(models=("R740XD", "R740")),
    "dell_750": HostConditions(models=("R750",)),
    "dell_760": HostConditions(models=("R760",)),
    "gpu": HostConditions(gpus=1),
}


def conditions_of(names: Sequence[str], more_labels: Mapping[str, Mapping[str, Any]]) -> list[HostConditions]:
    """Return the conditions of each label in *names*.

    Args:
        names: Labels.
        more_labels: The labels of a lab, each with the fields of its conditions.

    Raises:
        UsageError: If a label is unknown, or a label of the lab has an invalid field.
    """
    known = {**LABELS, **{name: _conditions(name, given) for name, given in more_labels.items()}}
    for name in names:
        if name not in known:
            raise UsageError(f"unknown label {name}{did_you_mean(name, known)}; known: {', '.join(sorted(known))}")
    return [known[name] for name in names]


def _conditions(label: str, given: Mapping[str, Any]) -> HostConditions:
    try:
        conditions = convert(given, HostConditions)
    except UsageError as error:
        raise UsageError(f"label {label}: {error}") from error
    if unknown := sorted(_unknown(given, HostConditions)):
        raise UsageError(f"label {label}: unknown key {', '.join(unknown)}; use the options of quads_find_hosts")
    return conditions


def _unknown(given: Mapping[str, Any], kind: type[HostConditions | DiskRequest | NicRequest]) -> Iterator[str]:
    """Yield the keys of *given*, and of its disks and interfaces, that *kind* has no field for."""
    yield from given.keys() - {field.name for field in fields(kind)}
    for name, part in (("disks", DiskRequest), ("nics", NicRequest)):
        for each in given.get(name) or ():
            yield from (f"{name}.{key}" for key in _unknown(each, part))
