"""What `systemd-analyze` prints, as numbers: its durations, phases, units and chains; and `systemctl show`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

PHASES = ("firmware", "loader", "kernel", "initrd", "userspace", "total")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_PART = r"\d+(?:\.\d+)?(?:us|ms|min|s|h|d|w)"
_DURATION = rf"{_PART}(?: {_PART})*"
_PHASE = re.compile(rf"({_DURATION}) \((\w+)\)")
_TOTAL = re.compile(rf"= ({_DURATION})")
_BLAME = re.compile(rf"\s*({_DURATION}) (\S+)\s*")
_MICROSECONDS = re.compile(r"[0-9]{1,18}")
# two characters for each level, as a unit may be called -.mount
_TREE = r"(?:│ |├─|└─|\| |\|-|`-|  )*"
_LINK = re.compile(rf"(?P<tree>{_TREE})(?P<unit>\S+)(?: @(?P<at>{_DURATION}))?(?: \+(?P<took>{_DURATION}))?\s*")


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


def duration(text: str) -> float:
    """Seconds of a duration such as ``1min 2.500s``.

    :raises ValueError: when it is none.
    """
    if not re.fullmatch(_DURATION, text):
        raise ValueError(f"{text!r} is no duration of systemd")
    parts = re.findall(r"(\d+(?:\.\d+)?)([a-z]+)", text)
    return sum(float(number) * _SECONDS[unit] for number, unit in parts)


def phases(text: str) -> dict[str, float]:
    """Seconds of each phase that ``systemd-analyze time`` prints, such as ``kernel``, and of their ``total``.

    Empty when it says none.
    """
    found = {name: duration(took) for took, name in _PHASE.findall(text)}
    total = _TOTAL.search(text)
    return {**found, "total": duration(total[1])} if total else found


def blamed(text: str) -> Iterator[tuple[str, float]]:
    """Each unit of ``systemd-analyze blame`` with the seconds that it took; lines that are none are left out."""
    for line in text.splitlines():
        if found := _BLAME.fullmatch(line):
            yield found[2], duration(found[1])


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
            at, took = (duration(found[name]) if found[name] else None for name in ("at", "took"))
            yield Link(len(found["tree"]) // 2, found["unit"], at, took)
