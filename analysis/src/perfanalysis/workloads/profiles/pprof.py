"""Read pprof's format, https://github.com/google/pprof/blob/main/proto/profile.proto, by protobuf's own runtime.

The messages are described here, with the fields that are read, since generated code requires the version of protobuf
that it was generated for.
"""

from __future__ import annotations

import gzip
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message, message_factory

_PACKAGE = "psap.perf.pprof"
LARGEST = 256 << 20
"""Bytes of an unpacked profile; those of a busy API server have some megabytes."""
_FIELD = descriptor_pb2.FieldDescriptorProto
_NUMBER, _UNSIGNED, _TEXT, _MESSAGE = _FIELD.TYPE_INT64, _FIELD.TYPE_UINT64, _FIELD.TYPE_STRING, _FIELD.TYPE_MESSAGE
_ONE, _MANY = _FIELD.LABEL_OPTIONAL, _FIELD.LABEL_REPEATED
_MESSAGES: Mapping[str, tuple[tuple[str, int, int, Any, str], ...]] = {
    "ValueType": (("type", 1, _NUMBER, _ONE, ""), ("unit", 2, _NUMBER, _ONE, "")),
    "Sample": (("location_id", 1, _UNSIGNED, _MANY, ""), ("value", 2, _NUMBER, _MANY, "")),
    "Line": (("function_id", 1, _UNSIGNED, _ONE, ""),),
    "Location": (("id", 1, _UNSIGNED, _ONE, ""), ("line", 4, _MESSAGE, _MANY, "Line")),
    "Function": (("id", 1, _UNSIGNED, _ONE, ""), ("name", 2, _NUMBER, _ONE, "")),
    "Profile": (
        ("sample_type", 1, _MESSAGE, _MANY, "ValueType"),
        ("sample", 2, _MESSAGE, _MANY, "Sample"),
        ("location", 4, _MESSAGE, _MANY, "Location"),
        ("function", 5, _MESSAGE, _MANY, "Function"),
        ("string_table", 6, _TEXT, _MANY, ""),
        ("duration_nanos", 10, _NUMBER, _ONE, ""),
    ),
}
"""Name, number, type, label and message of each field."""


@dataclass(frozen=True, slots=True)
class FunctionCost:
    """What a function costs: `own` in itself, `total` with what it calls."""

    name: str
    own: int
    total: int


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile by its last type of values, as pprof shows it: nanoseconds, bytes, or a count."""

    what: str
    unit: str
    total: int
    samples: int
    duration_s: float | None
    functions: tuple[FunctionCost, ...]
    """The functions, the most expensive in itself first."""


@cache
def _profile_type() -> type[message.Message]:
    file = descriptor_pb2.FileDescriptorProto(name="psap_perf_pprof.proto", package=_PACKAGE, syntax="proto3")
    for name, fields in _MESSAGES.items():
        described = file.message_type.add(name=name)
        for field, number, kind, label, of in fields:
            type_name = f".{_PACKAGE}.{of}" if of else None
            described.field.add(name=field, number=number, type=kind, label=label, type_name=type_name)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.Profile"))


def read_profile(content: bytes) -> Profile:
    """Return a profile, gzipped or not. Raises ValueError if it is not one."""
    found: Any = _profile_type()()
    try:
        found.ParseFromString(_unpacked(content))
        return _profile(found)
    except (message.DecodeError, IndexError, KeyError) as error:
        raise ValueError("not a profile in the format of pprof") from error


def _unpacked(content: bytes) -> bytes:
    if not content.startswith(b"\x1f\x8b"):
        return content
    try:
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)
        unpacked = unpacker.decompress(content, LARGEST)
    except (zlib.error, gzip.BadGzipFile) as error:
        raise ValueError("damaged gzip data") from error
    if not unpacker.eof:
        raise ValueError(f"incomplete gzip data, or more than {LARGEST >> 20} MiB")
    return unpacked


def _profile(found: Any) -> Profile:
    texts = found.string_table
    if not found.sample_type or not texts:
        raise ValueError("not a profile in the format of pprof: it has no type of values")
    names = {function.id: texts[function.name] for function in found.function}
    # of inlined functions, the first line is the innermost
    frames = {each.id: tuple(names[line.function_id] for line in each.line) for each in found.location}
    own: Counter[str] = Counter()
    total: Counter[str] = Counter()
    everything = 0
    for sample in found.sample:
        value = sample.value[-1]
        everything += value
        stack = [name for location in sample.location_id for name in frames[location]]
        if stack:
            own[stack[0]] += value
        for name in set(stack):
            total[name] += value
    costs = (FunctionCost(name, own[name], cost) for name, cost in total.items())
    kind = found.sample_type[-1]
    return Profile(
        what=texts[kind.type],
        unit=texts[kind.unit],
        total=everything,
        samples=len(found.sample),
        duration_s=found.duration_nanos / 1e9 or None,
        functions=tuple(sorted(costs, key=lambda cost: (-cost.own, -cost.total, cost.name))),
    )
