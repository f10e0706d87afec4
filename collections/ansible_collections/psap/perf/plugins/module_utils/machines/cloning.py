"""Clone a MachineSet, or update an existing one, for a requested shape of machines."""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.machines.clouds import Cloud, value_of
from ansible_collections.psap.perf.plugins.module_utils.machines.taints import Taint

SET_LABEL = "machine.openshift.io/cluster-api-machineset"
# the machines have the name as the value of a label
_LONGEST_NAME = 63


@dataclass(frozen=True, slots=True)
class Shape:
    """The requested shape of a set's machines; *disk_gb* None leaves the size of the root volume unchanged."""

    instance_type: str
    taints: tuple[Taint, ...] = ()
    spot: bool = False
    disk_gb: int | None = None


def default_name(base: str, instance_type: str) -> str:
    """Return the name of a clone, such as ``worker-a--g4dn-xlarge``; a long *base* is truncated."""
    kind = re.sub(r"[^a-z0-9]+", "-", instance_type.lower()).strip("-")
    return f"{base[: _LONGEST_NAME - len(kind) - 2]}--{kind}"


def clone(base: Manifest, cloud: Cloud, name: str, shape: Shape, replicas: int) -> Manifest:
    """Return a copy of *base* called *name*, of the given *shape*.

    The selector and the machines' label name the clone, since *base* would otherwise adopt its machines. Annotations,
    which describe the other instance type to autoscalers, and fields of the server are not copied.

    Raises:
        UsageError: If the provider does not support spot instances, or the size of a volume.
    """
    metadata = base["metadata"]
    spec = copy.deepcopy(base["spec"])
    spec["replicas"] = replicas
    spec["selector"].setdefault("matchLabels", {})[SET_LABEL] = name
    template = spec["template"]
    template.setdefault("metadata", {}).setdefault("labels", {})[SET_LABEL] = name
    value = cloud.with_spot(cloud.with_type(value_of(base), shape.instance_type), shape.spot)
    template["spec"]["providerSpec"]["value"] = cloud.with_disk(value, shape.disk_gb)
    _taint(template, shape.taints)
    return {
        "apiVersion": base["apiVersion"],
        "kind": base["kind"],
        "metadata": {"name": name, "namespace": metadata["namespace"], "labels": dict(metadata.get("labels") or {})},
        "spec": spec,
    }


def differences(machine_set: Manifest, cloud: Cloud, shape: Shape) -> list[str]:
    """Return texts with the differences of *machine_set* from the fields that *shape* sets."""
    value = value_of(machine_set)
    found: list[str] = []
    if shape.spot and not cloud.is_spot(value):
        found.append("is not of spot instances")
    size = cloud.disk_gb(value)
    if shape.disk_gb is not None and size != shape.disk_gb:
        found.append(f"has disks of {size or 'unknown'} GB instead of {shape.disk_gb}")
    present = machine_set["spec"]["template"]["spec"].get("taints") or []
    missing = [taint for taint in shape.taints if taint.entry() not in present]
    return found + [f"does not taint its nodes with {taint}" for taint in missing]


def updated_template(machine_set: Manifest, cloud: Cloud, shape: Shape) -> dict[str, Any]:
    """Return ``spec.template`` of *machine_set*, changed to *shape*.

    Raises:
        UsageError: If the provider does not support spot instances, or the size of a volume.
    """
    template = copy.deepcopy(machine_set["spec"]["template"])
    value = cloud.with_disk(value_of(machine_set), shape.disk_gb)
    template["spec"]["providerSpec"]["value"] = cloud.with_spot(value, True) if shape.spot else value
    _taint(template, shape.taints)
    return dict(template)


def _taint(template: Manifest, taints: tuple[Taint, ...]) -> None:
    if not taints:
        return
    spec = template["spec"]
    keys = {taint.key for taint in taints}
    others = [entry for entry in spec.get("taints") or [] if entry["key"] not in keys]
    spec["taints"] = [*others, *(taint.entry() for taint in taints)]
    labels = {taint.key: taint.value for taint in taints}
    spec["metadata"] = {**(spec.get("metadata") or {})}
    spec["metadata"]["labels"] = {**(spec["metadata"].get("labels") or {}), **labels}
    metadata = template.setdefault("metadata", {})
    metadata["labels"] = {**(metadata.get("labels") or {}), **labels}
