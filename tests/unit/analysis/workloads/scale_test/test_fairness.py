"""The GPUs of competing tenants, by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.fairness import Tenants, activity_table, fairness_table, jain, tenants_of
from perfanalysis.workloads.scale_test.pods import pods_table
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import life, submission, tables


def tenants(sent: list[dict[str, Any]], seen: list[dict[str, Any]], end: float = 30.0) -> Tenants:
    recorded = tables(sent, seen)
    workloads = workloads_table(recorded)
    return tenants_of(workloads, pods_table(recorded.transitions, workloads), end)


def by_tenant(table: pd.DataFrame) -> dict[str, dict[str, Any]]:
    return {str(row["tenant"]): {str(key): value for key, value in row.items()} for row in table.to_dict("records")}


# Blue runs 3 GPUs from 2 on and waits for another from 4 to 14; red runs 1 GPU and waits for 3 more from 6 to 20.
SENT = [
    submission("a", 1.0, queue="blue", gpus=3.0),
    submission("b", 1.0, queue="blue", gpus=1.0),
    submission("c", 1.0, queue="red", gpus=1.0),
    submission("d", 1.0, queue="red", gpus=3.0),
]
SEEN = [
    *life("a", created=2.0, pod_created=2.0, scheduled=2.0, succeeded=12.0, completed=12.0),
    *life("b", created=4.0, pod_created=4.0, scheduled=14.0, succeeded=24.0, completed=24.0),
    *life("c", created=2.0, pod_created=2.0, scheduled=2.0, succeeded=30.0, completed=30.0),
    *life("d", created=6.0, pod_created=6.0, scheduled=20.0, succeeded=30.0, completed=30.0),
]


def test_shares_are_measured_while_both_tenants_wait() -> None:
    # Both wait from 6 to 14: blue holds 3 GPUs until 12, then none; red holds 1 all along.
    found = by_tenant(fairness_table(tenants(SENT, SEEN)))
    blue, red = found["blue"], found["red"]
    assert (blue["contended_s"], blue["held_s"], blue["mean_held"]) == (8.0, 18.0, 2.25)
    assert (red["contended_s"], red["held_s"], red["mean_held"]) == (8.0, 8.0, 1.0)
    assert (blue["asked"], blue["demand_share"], blue["per_demand"]) == (4.0, 0.5, 4.5)
    assert blue["resource"] == "GPUs"


def test_jains_index_matches_hand_computation() -> None:
    assert jain(np.array([2.25, 1.0])) == pytest.approx(3.25**2 / (2 * (2.25**2 + 1)))
    assert jain(np.array([4.0, 4.0, 4.0])) == pytest.approx(1.0)
    assert jain(np.array([4.0, 0.0, 0.0, 0.0])) == pytest.approx(0.25)
    assert jain(np.array([0.0, 0.0])) is None
    assert jain(np.empty(0)) is None


def test_single_tenant_has_no_competition() -> None:
    table = fairness_table(tenants(SENT[:2], SEEN))
    # red was only watched: its tenant is the namespace.
    alone = by_tenant(fairness_table(tenants(SENT[:2], [row for row in SEEN if row["workload"] in ("a", "b")])))
    assert alone["blue"]["contended_s"] == 0.0
    assert pd.isna(alone["blue"]["mean_held"])
    assert set(table["tenant"]) == {"blue", "ns"}


def test_unfinished_waiting_lasts_to_the_end() -> None:
    sent = [submission("a", 1.0, queue="blue"), submission("b", 1.0, queue="red")]
    found = by_tenant(fairness_table(tenants(sent, life("a", created=5.0) + life("b", created=10.0), end=30.0)))
    assert found["red"]["contended_s"] == found["blue"]["contended_s"] == 20.0


def test_pods_are_counted_if_no_workload_requests_gpus() -> None:
    sent = [{**row, "gpus": 0.0} for row in SENT]
    found = by_tenant(fairness_table(tenants(sent, SEEN)))
    assert found["blue"]["resource"] == "pods"
    # One pod of a until 12
    assert found["blue"]["held_s"] == 6.0


def test_activity_over_time_keeps_the_areas() -> None:
    table = activity_table(tenants(SENT, SEEN), Window(0.0, 30.0))
    blue = table[table["tenant"] == "blue"]
    assert blue["held"].sum() * 30.0 / len(blue) == pytest.approx(3 * 10 + 1 * 10)
    assert blue["waiting"].sum() * 30.0 / len(blue) == pytest.approx(1 * 10)
