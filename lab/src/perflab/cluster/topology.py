"""The declared topology of simulated nodes: nested levels, such as blocks of racks, and a node label for each."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from perflab.errors import UsageError

_PREFIX = "lab.psap.perf/"
_LEVEL = re.compile(r"([a-z]([a-z0-9-]{0,18}[a-z0-9])?)=([1-9][0-9]{0,3})")


@dataclass(frozen=True, slots=True)
class Level:
    """One level, such as `rack`: the number of its domains in each domain of the level above."""

    name: str
    domains: int

    @property
    def label(self) -> str:
        """Return the label of nodes that names their domain."""
        return f"{_PREFIX}{self.name}"


def parse_topology(text: str) -> tuple[Level, ...]:
    """Return the levels of `block=4,rack=8`, the largest domains first; none for an empty text.

    Raises UsageError if it is invalid.
    """
    if not text:
        return ()
    found = [_LEVEL.fullmatch(part) for part in text.split(",")]
    levels = tuple(Level(match[1], int(match[3])) for match in found if match)
    if len(levels) < len(found) or len({level.name for level in levels}) < len(levels):
        raise UsageError(
            f"invalid topology {text!r}: list each level once with its number of domains, from 1 to 9999, the largest "
            "domains first, such as block=4,rack=8 for 4 blocks of 8 racks."
        )
    return levels


def domain_labels(levels: Sequence[Level], number: int) -> dict[str, str]:
    """Return the labels of the node with this number.

    Nodes are assigned to the smallest domains in turn, so that a node keeps its domains when the lab is scaled.
    """
    labels: dict[str, str] = {}
    place = number % math.prod(level.domains for level in levels)
    above = ""
    for depth, level in enumerate(levels):
        place, rest = divmod(place, math.prod(below.domains for below in levels[depth + 1 :]))
        # unique in the cluster, as a topologyKey requires
        above = f"{above}{level.name}-{place}"
        labels[level.label] = above
        above, place = f"{above}-", rest
    return labels
