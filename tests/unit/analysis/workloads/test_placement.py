"""The fewest domains for a gang: against all choices of domains, and by hand over time."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from perfanalysis.workloads.placement import Gangs, Holdings, fewest_at_admission, fewest_domains

INFINITE = float("inf")


def by_all_choices(fitting: list[int], pods: int) -> int | None:
    for size in range(1, len(fitting) + 1):
        if any(sum(chosen) >= pods for chosen in combinations(fitting, size)):
            return size
    return None


@pytest.mark.parametrize("seed", range(40))
def test_fewest_domains_is_the_best_of_all_choices(seed: int) -> None:
    random = np.random.default_rng(seed)
    fitting = random.integers(0, 7, size=random.integers(1, 9))
    for pods in range(1, int(fitting.sum()) + 3):
        assert fewest_domains(fitting, pods) == by_all_choices(fitting.tolist(), pods)


def holdings(*rows: tuple[int, int, float, float, float]) -> Holdings:
    workload, node, amount, start, end = zip(*rows, strict=True)
    return Holdings(np.array(workload), np.array(node), np.array(amount), np.array(start), np.array(end))


# Two racks of two nodes with 8 each.
LEVELS = np.array([[0, 0, 1, 1], [0, 1, 2, 3]])
CAPACITY = np.full(4, 8.0)


def test_capacity_of_earlier_pods_counts_until_they_end() -> None:
    held = holdings((0, 0, 8.0, 1.0, 5.0), (1, 2, 8.0, 2.0, INFINITE))
    # pods of 4: two fit on each free node; both racks have one free node at 3, the first has two at 5
    gangs = Gangs(np.array([2, 3]), np.array([3.0, 5.0]), np.array([4, 4]), np.array([4.0, 4.0]))
    found = fewest_at_admission(held, gangs, CAPACITY, LEVELS)
    assert found.tolist() == [[2, 2], [1, 2]]


def test_gang_admitted_at_the_same_time_takes_its_part_first() -> None:
    # each needs a whole rack; the first has three nodes, and leaves one
    held = holdings(*((0, node, 8.0, 1.0, INFINITE) for node in (0, 1, 2)), (1, 3, 8.0, 1.0, INFINITE))
    gangs = Gangs(np.array([0, 1]), np.array([1.0, 1.0]), np.array([3, 2]), np.array([8.0, 8.0]))
    found = fewest_at_admission(held, gangs, CAPACITY, LEVELS)
    assert found[0].tolist() == [2, 3]
    assert np.isnan(found[1]).all()


def test_node_without_a_domain_holds_no_pod_at_that_level() -> None:
    levels = np.array([[-1, -1, 0, 0]])
    gangs = Gangs(np.array([0, 1]), np.array([1.0, 2.0]), np.array([2, 3]), np.array([8.0, 8.0]))
    nothing = holdings((9, 0, 0.0, 9.0, 9.0))
    found = fewest_at_admission(nothing, gangs, CAPACITY, levels)
    assert found[0].tolist() == [1]
    assert np.isnan(found[1]).all()
