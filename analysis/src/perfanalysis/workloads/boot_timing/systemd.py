"""What `systemd-analyze` prints, as numbers: its durations, phases, units and chains; and `systemctl show`."""

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
# two characters for each level, as a unit may be called -.mount
_TREE = r"(?:│ |├─|└─|\| |\|-|`-|  )*"
_LINK = re.compile(rf"(?P<tree>{_TREE})(?P<unit>\S+)(?: @(?P<at>{DURATION}))?(?: \+(?P<took>{DURATION}))?\s*")


@dataclass(frozen=True)
class Link:
    """A unit of a critical chain.

    :param depth: 0 for the unit that was asked about, 1 for what it waited for.
    :param active_after_s: seconds from the start of userspace until it was active, or began to start; None for a unit
        that was there before.
    :param took_s: seconds that it took to start; None for a unit that starts nothing, such as a target.
    """

    depth: int
    unit: str
    active_after_s: float | None
    took_s: float | None


def phases(text: str) -> dict[str, float]:
    """Seconds of each phase that ``systemd-analyze time`` prints, such as ``kernel``, and of their ``total``.

    Empty when it says none.
    """
    found = {name: read_duration(took) for took, name in _PHASE.findall(text)}
    total = _TOTAL.search(text)
    return {**found, "total": read_duration(total[1])} if total else found


def blamed(text: str) -> Iterator[tuple[str, float]]:
    """Each unit of ``systemd-analyze blame`` with the seconds that it took; lines that are none are left out."""
    for line in text.splitlines():
        if found := _BLAME.fullmatch(line):
            yield found[2], read_duration(found[1])


def activated(text: str) -> Iterator[tuple[str, float | None]]:
    """Each unit of ``systemctl show --property=Id,ActiveEnterTimestampMonotonic``, and seconds until it was activated.

    They count from the start of the kernel; None for a unit that never was active. Units without both are left out.
    """
    for block in text.split("\n\n"):
        values = dict(line.split("=", 1) for line in block.splitlines() if "=" in line)
        unit, at = values.get("Id", ""), values.get("ActiveEnterTimestampMonotonic", "")
        if unit and _MICROSECONDS.fullmatch(at):
            yield unit, int(at) * 1e-6 if int(at) else None


def chain(text: str) -> Iterator[Link]:
    """The units of ``systemd-analyze critical-chain``, the one that was asked about first."""
    for line in text.splitlines():
        if found := _LINK.fullmatch(line):
            at, took = (read_duration(found[name]) if found[name] else None for name in ("at", "took"))
            yield Link(len(found["tree"]) // 2, found["unit"], at, took)
