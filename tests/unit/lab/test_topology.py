"""The declared topology of a lab's nodes."""

from __future__ import annotations

from collections import Counter

import pytest
from perflab.cluster.topology import Level, domain_labels, parse_topology
from perflab.errors import UsageError

LEVELS = (Level("block", 2), Level("rack", 3))


def test_levels_are_read_from_the_largest() -> None:
    assert parse_topology("block=2,rack=3") == LEVELS
    assert parse_topology("") == ()
    assert [level.label for level in LEVELS] == ["lab.psap.perf/block", "lab.psap.perf/rack"]


@pytest.mark.parametrize("text", ["block", "block=0", "block=2,", "block=2,block=3", "Block=2", "block=2 rack=3", "=1"])
def test_invalid_topology_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="invalid topology"):
        parse_topology(text)


def test_nodes_are_spread_evenly_over_racks_with_unique_names() -> None:
    racks = Counter(tuple(domain_labels(LEVELS, number).values()) for number in range(12))
    assert set(racks.values()) == {2}
    assert sorted(racks) == [
        (f"block-{block}", f"block-{block}-rack-{rack}") for block in range(2) for rack in range(3)
    ]


def test_node_without_levels_has_no_domain() -> None:
    assert domain_labels((), 7) == {}
