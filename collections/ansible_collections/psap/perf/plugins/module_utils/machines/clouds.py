"""Fields of ``providerSpec`` by cloud provider, which is recognized by the name of the field with the type."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.errors import ClusterError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest

Value = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Cloud:
    """A provider.

    Args:
        type_field: Field of ``providerSpec.value`` with the instance type; unique for each provider.
        spot: Field that requests spot instances, and its value; None if not supported.
        disk: Path to the size of the root volume in GB; empty if not supported.
    """

    name: str
    type_field: str
    spot: tuple[str, Any] | None = None
    disk: tuple[str | int, ...] = ()

    def type_of(self, value: Mapping[str, Any]) -> str:
        """Return the instance type in *value*."""
        return str(value[self.type_field])

    def is_spot(self, value: Mapping[str, Any]) -> bool:
        """Return whether *value* requests spot instances."""
        return self.spot is not None and self.spot[0] in value

    def disk_gb(self, value: Mapping[str, Any]) -> int | None:
        """Return the size of the root volume in GB; None for the provider's default."""
        size = _walk(value, self.disk)
        return None if size is None else int(size)

    def with_type(self, value: Mapping[str, Any], instance_type: str) -> Value:
        """Return a copy of *value* with *instance_type*."""
        return {**copy.deepcopy(dict(value)), self.type_field: instance_type}

    def with_spot(self, value: Mapping[str, Any], wanted: bool) -> Value:
        """Return a copy of *value* with or without spot instances.

        Raises:
            UsageError: If the provider does not support them.
        """
        result = copy.deepcopy(dict(value))
        if self.spot is None:
            if wanted:
                raise UsageError(f"spot: the MachineSets of {self.name} have no spot instances; leave it out")
            return result
        result.pop(self.spot[0], None)
        return {**result, self.spot[0]: self.spot[1]} if wanted else result

    def with_disk(self, value: Mapping[str, Any], size_gb: int | None) -> Value:
        """Return a copy of *value* with a root volume of *size_gb*; None leaves it unchanged.

        Raises:
            UsageError: If the provider does not support the size, or *value* has no such field.
        """
        result = copy.deepcopy(dict(value))
        if size_gb is None:
            return result
        holder = _walk(result, self.disk[:-1]) if self.disk else None
        if not isinstance(holder, dict):
            raise UsageError(f"disk_size: the MachineSets of {self.name} have no field for it; leave it out")
        holder[str(self.disk[-1])] = size_gb
        return result


CLOUDS = (
    Cloud("AWS", "instanceType", ("spotMarketOptions", {}), ("blockDevices", 0, "ebs", "volumeSize")),
    Cloud("IBM Cloud", "profile"),
    Cloud("Google Cloud", "machineType", ("preemptible", True), ("disks", 0, "sizeGb")),
    Cloud("Azure", "vmSize", ("spotVMOptions", {}), ("osDisk", "diskSizeGB")),
)


def value_of(machine_set: Manifest) -> Value:
    """Return the provider's fields of *machine_set*."""
    value = machine_set["spec"]["template"]["spec"]["providerSpec"].get("value")
    return dict(value or {})


def cloud_of(machine_set: Manifest) -> Cloud:
    """Return the provider of *machine_set*'s machines.

    Raises:
        ClusterError: If it is unknown.
    """
    value = value_of(machine_set)
    found = next((cloud for cloud in CLOUDS if cloud.type_field in value), None)
    if found is None:
        name = machine_set["metadata"]["name"]
        fields = ", ".join(f"{cloud.type_field} ({cloud.name})" for cloud in CLOUDS)
        raise ClusterError(f"MachineSet {name}: no instance type in its providerSpec; expected one of {fields}")
    return found


def _walk(value: Any, path: tuple[str | int, ...]) -> Any:
    """Return the field at *path* below *value*; None if it is missing, or *path* is empty."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value if path else None
