"""The GPUs that nodes offer as devices of ResourceSlices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Struct, field

from perfanalysis.workloads.kubernetes_objects.model import Item

KIND = "ResourceSlice"
_DRIVER = "gpu.nvidia.com"
_WHOLE = "gpu"


class _Attribute(Struct):
    string: str | None = None


class _Device(Struct):
    attributes: dict[str, _Attribute] = field(default_factory=dict)


class _Pool(Struct):
    name: str
    generation: int = 0


class _SliceSpec(Struct):
    driver: str
    pool: _Pool
    node_name: str | None = None
    devices: list[_Device] | None = None


def gpus_by_node(slices: Iterable[Item]) -> Mapping[str, int]:
    """Return the number of whole GPUs of NVIDIA by node, in the newest generation of each pool."""
    specs = [spec for spec in map(_spec_of, slices) if spec is not None and spec.driver == _DRIVER]
    newest: dict[str, int] = {}
    for spec in specs:
        newest[spec.pool.name] = max(spec.pool.generation, newest.get(spec.pool.name, 0))
    total: Counter[str] = Counter()
    for spec in specs:
        # devices of several nodes count for none
        if spec.node_name is not None and spec.pool.generation == newest[spec.pool.name]:
            total[spec.node_name] += sum(map(_is_whole, spec.devices or ()))
    return total


def _spec_of(one: Item) -> _SliceSpec | None:
    """Return the specification of a slice; None if it is invalid."""
    try:
        return msgspec.convert(one.spec, _SliceSpec, from_attributes=True)
    except msgspec.ValidationError:
        return None


def _is_whole(device: _Device) -> bool:
    kinds = (attribute.string for name, attribute in device.attributes.items() if name.rpartition("/")[2] == "type")
    return next(kinds, _WHOLE) == _WHOLE
