"""Occupation of nodes, computed by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.nodes import COLUMNS, MOST_ROWS, Occupation, occupation
from perfanalysis.workloads.scale_test.pods import PODS
from perfanalysis.workloads.scale_test.tables import NODES

from tests.unit.analysis.hand_made import frame

WIDTH = 2.0
WINDOW = Window(100.0, 100.0 + WIDTH * COLUMNS)


def pod(node: str | None, start: float, end: float | None, gpus: float = 1.0) -> dict[str, Any]:
    """Return a pod bound so many intervals after the beginning, and ended."""
    times = {"scheduled_s": 100.0 + WIDTH * start, "ended_s": None if end is None else 100.0 + WIDTH * end}
    return {"pod": "p", "workload": "w", "node": node, "gpus": gpus, **times}


def occupation_of(pods: list[dict[str, Any]], gpus: dict[str, float]) -> Occupation:
    nodes = frame(NODES, [{"name": name, "gpus": number} for name, number in gpus.items()])
    found = occupation(frame(PODS, pods), nodes, WINDOW)
    assert found is not None
    return found


def test_cell_is_the_exact_mean() -> None:
    found = occupation_of([pod("a", 0.25, 2.5, gpus=2), pod("a", 1.0, None)], {"a": 4, "b": 4})
    # 2 of 4 GPUs for three quarters of the first interval; then one more; then 2 for a half of the third
    assert found.values[0, :4] == pytest.approx([37.5, 75.0, 50.0, 25.0])
    assert found.values[0, -1] == pytest.approx(25.0)
    assert found.values[1] == pytest.approx(0.0)
    assert (found.rows, found.nodes_per_row, found.elsewhere) == (("a", "b"), 1, 0)
    assert (found.edges[0], found.edges[1], found.edges[-1]) == (0.0, WIDTH, WIDTH * COLUMNS)


def test_pod_within_one_interval_counts_its_time() -> None:
    found = occupation_of([pod("a", 3.1, 3.6)], {"a": 1})
    assert found.values[0, 2:5] == pytest.approx([0.0, 50.0, 0.0])


def test_pod_running_before_the_window_fills_it() -> None:
    found = occupation_of([pod("a", -5.0, 1.5)], {"a": 1})
    assert found.values[0, :3] == pytest.approx([100.0, 50.0, 0.0])


def test_many_nodes_are_grouped_into_rows() -> None:
    names = {f"node-{number}": 2.0 for number in range(MOST_ROWS + 2)}
    found = occupation_of([pod("node-2", 0, None, gpus=2), pod("node-10", 0, None)], names)
    assert (found.nodes_per_row, len(found.rows)) == (2, (MOST_ROWS + 2) // 2)
    # Sorted by their numbers: node-2 precedes node-10.
    assert found.rows[1] == "node-2 \u2026 node-3"
    assert found.values[1] == pytest.approx(50.0)
    assert found.values[5] == pytest.approx(25.0)


def test_rows_of_unequal_nodes_are_weighted_by_gpus() -> None:
    names = {f"node-{number:03d}": 1.0 for number in range(MOST_ROWS + 1)} | {"node-001": 3.0}
    assert occupation_of([pod("node-001", 0, None, gpus=3)], names).values[0, 0] == pytest.approx(75.0)


def test_pods_on_other_nodes_are_counted() -> None:
    found = occupation_of(
        [pod("a", 0, None), pod("new", 0, None), pod(None, 0, None), pod("cpu", 0, None)], {"a": 1, "cpu": 0}
    )
    assert (found.rows, found.elsewhere) == (("a",), 2)


def test_pods_are_shown_if_no_workload_requests_gpus() -> None:
    found = occupation_of([pod("a", 0, None, gpus=0), pod("a", 0, None, gpus=0)], {"a": 0, "b": 8})
    assert not found.of_gpus
    assert np.all(found.values[0] == pytest.approx(2.0))
    assert found.rows == ("a", "b")


@pytest.mark.parametrize("gpus", [[], [{"name": "a", "gpus": 1.0}]])
def test_run_without_nodes_shows_no_occupation(gpus: list[dict[str, Any]]) -> None:
    pods: pd.DataFrame = frame(PODS, [pod("a", 0, None)] if not gpus else [])
    assert occupation(pods, frame(NODES, gpus), WINDOW) is None
