"""Starts out of the order of submission, counted by hand and by trying every pair."""

from __future__ import annotations

from typing import Any

import numpy as np
from perfanalysis.workloads.scale_test.fairness import counts_of_pairs, inversions_table
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import submission, tables, transition


def count_inversions(workloads: list[tuple[str, float, float, dict[str, Any]]]) -> list[list[Any]]:
    """Return workloads, pairs, overtaking and overtaken by priority; *workloads* have name, sent, bound and more."""
    sent = [submission(name, at, **more) for name, at, _, more in workloads]
    seen = [transition("Pod", f"{name}-0", "scheduled", bound) for name, _, bound, _ in workloads]
    table = inversions_table(workloads_table(tables(sent, seen)))
    columns = ["priority", "workloads", "pairs", "overtaking", "overtaken"]
    return table[columns].astype("object").to_numpy().tolist()


def test_two_overtaking_workloads_are_two_inversions() -> None:
    # a is answered at 1.01, so before b and c are sent; both start before it, b after c.
    same: dict[str, Any] = {"priority": 5}
    assert count_inversions([("a", 1.0, 9.0, same), ("b", 2.0, 8.0, same), ("c", 3.0, 7.0, same)]) == [[5, 3, 3, 2, 2]]


def test_concurrent_requests_have_no_order() -> None:
    slow = {"priority": 5, "answered_s": 2.5}
    assert count_inversions([("a", 1.0, 9.0, slow), ("b", 2.0, 8.0, {"priority": 5})]) == [[5, 2, 0, 0, 0]]


def test_only_equal_workloads_are_compared() -> None:
    found = count_inversions(
        [
            ("a", 1.0, 9.0, {"priority": 5}),
            ("b", 2.0, 8.0, {"priority": 6}),
            ("c", 3.0, 7.0, {"priority": 5, "gpus": 2.0}),
            ("d", 4.0, 6.0, {"priority": 5, "queue": "blue"}),
        ]
    )
    assert [row[1:] for row in found] == [[1, 0, 0, 0]] * 4


def test_equal_starts_and_unstarted_workloads_are_no_inversions() -> None:
    sent = [submission("a", 1.0), submission("b", 2.0), submission("c", 0.5)]
    seen = [transition("Pod", f"{name}-0", "scheduled", 5.0) for name in ("a", "b")]
    table = inversions_table(workloads_table(tables(sent, seen)))
    assert table[["workloads", "pairs"]].to_numpy().tolist() == [[2, 0]]
    assert len(inversions_table(workloads_table(tables(sent, [])))) == 0


def test_counts_equal_those_of_all_pairs() -> None:
    random = np.random.default_rng(3)
    for count in range(1, 60):
        sent = random.integers(0, 12, count).astype(float)
        answered = sent + random.integers(0, 3, count).astype(float)
        started = random.integers(0, 12, count).astype(float)
        groups = random.integers(0, 3, count)
        alike = groups[:, None] == groups[None, :]
        # Row i was submitted before column j and started after it.
        pairs = alike & (answered[:, None] < sent[None, :]) & (started[:, None] > started[None, :])
        overtakes, overtaken = counts_of_pairs(answered, sent, started, groups)
        assert overtakes.tolist() == pairs.sum(axis=0).tolist()
        assert overtaken.tolist() == pairs.sum(axis=1).tolist()
