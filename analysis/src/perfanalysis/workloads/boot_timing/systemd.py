"""Parse the output of `systemd-analyze`, its phases, units and chains, and of `systemctl show`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from perfanalysis.units import DURATION, read_duration

PHASES = ("firmware", "loader", "kernel", "initrd", "userspace", "total")
_PHASE = re.compile(rf"({DURATION}) \((\w+)\)")
_TOTAL = re.compile(rf"= ({DURATION})")
_BLAME = re.compile(rf"\s*({DURATION}) (\S+)\s*")
_MICROSECONDS = re.compile(r"[0-9]{1,18}")
# two characters for each level, since a unit's name may be -.mount
_TREE = r"(?:│ |├─|└─|\| |\|-|`-|  )*"
_LINK = re.compile(rf"(?P<tree>{_TREE})(?P<unit>\S+)(?: @(?P<at>{DURATION}))?(?: \+(?P<took>{DURATION}))?\s*")


@dataclass(frozen=True)
class Link:
    """A unit of a critical chain.

    Attributes:
        depth: 0 for the requested unit, 1 for the unit it waited for, and so on.
        active_after_s: Seconds from the start of userspace until it was active, or began to start; None for a unit that
            was active before.
        took_s: Seconds that it took to start; None for a unit that starts nothing, such as a target.
    """

    depth: int
    unit: str
    active_after_s: float | None
    took_s: float | None


def phases(text: str) -> dict[str, float]:
    """Return the seconds of each phase that ``systemd-analyze time`` prints, such as ``kernel``, and of their
    ``total``.

    Empty if it prints none.
    """
    found = {name: read_duration(took) for took, name in _PHASE.findall(text)}
    total = _TOTAL.search(text)
    return {**found, "total": read_duration(total[1])} if total else found


def blamed(text: str) -> Iterator[tuple[str, float]]:
    """Return each unit of ``systemd-analyze blame`` with the seconds that it took; skip other lines."""
    for line in text.splitlines():
        if found := _BLAME.fullmatch(line):
            yield found[2], read_duration(found[1])


def activated(text: str) -> Iterator[tuple[str, float | None]]:
    """Return each unit of ``systemctl show --property=Id,ActiveEnterTimestampMonotonic`` and the seconds to its
    activation.

    They count from the start of the kernel; None for a unit that never was active. Units without both are left out.
    """
    for block in text.split("\n\n"):
        values = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        unit, at = values.get("Id", ""), values.get("ActiveEnterTimestampMonotonic", "")
        if unit and _MICROSECONDS.fullmatch(at):
            yield unit, int(at) * 1e-6 if int(at) else None


@dataclass(frozen=True)
class Start:
    """The last start of a unit, in seconds from the start of the kernel."""

    unit: str
    begin_s: float
    end_s: float


def starts(text: str) -> Iterator[Start]:
    """Return the units that started, in the order of their begin, of ``systemctl show`` with three timestamps.

    A start ends when the unit is active; for a unit that only runs a program, when the program has ended.
    """
    found = []
    for block in text.split("\n\n"):
        values = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        begin, active, inactive = (
            int(at) * 1e-6 if _MICROSECONDS.fullmatch(at := values.get(f"{name}TimestampMonotonic", "")) else 0.0
            for name in ("InactiveExit", "ActiveEnter", "InactiveEnter")
        )
        end = active if active >= begin else inactive
        if values.get("Id") and 0 < begin <= end:
            found.append(Start(values["Id"], begin, end))
    yield from sorted(found, key=lambda start: start.begin_s)


def chain(text: str) -> Iterator[Link]:
    """Return the units of ``systemd-analyze critical-chain``, the requested one first."""
    for line in text.splitlines():
        if found := _LINK.fullmatch(line):
            at, took = (read_duration(found[name]) if found[name] else None for name in ("at", "took"))
            yield Link(len(found["tree"]) // 2, found["unit"], at, took)
