"""Rounds of churn and changes of nodes, by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
from perfanalysis.workloads.scale_test.activity import Window
from perfanalysis.workloads.scale_test.nodes import lost_nodes, lost_text, node_changes_table
from perfanalysis.workloads.scale_test.pods import rounds_table
from perfanalysis.workloads.scale_test.steps import latencies_table
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import life, submission, tables, transition


def deletion(name: str, number: int, outcome: str = "deleted") -> dict[str, Any]:
    return {"round": number, "index": 0, "namespace": "ns", "name": name, "sent_s": 5.0, "outcome": outcome}


def test_churn_rounds_match_hand_computation() -> None:
    sent = [submission("a", 1.0, round=0), submission("b", 1.0, round=0)]
    sent += [submission("c", 6.0, round=1, replaces=0), submission("d", 6.0, round=1, replaces=1)]
    seen = [*life("a", scheduled=2.0), *life("b", scheduled=3.0)]
    seen += [*life("c", scheduled=6.5, completed=9.0), *life("d", scheduled=7.5)]
    recorded = tables(sent, seen, churn=[deletion("a", 1), deletion("b", 1, "failed"), deletion("c", 2)])
    workloads = workloads_table(recorded)
    table = rounds_table(recorded, workloads, latencies_table(workloads), "linear")
    columns = ["round", "submitted", "deleted", "failed_deletions", "completed"]
    assert table[columns].astype("object").to_numpy().tolist() == [[0, 2, 0, 0, 0], [1, 2, 1, 1, 1], [2, 0, 1, 0, 0]]
    assert table["time_to_scheduled_p50_s"].tolist()[:2] == [1.5, 1.0]
    assert pd.isna(table["time_to_scheduled_p99_s"]).all()


def test_run_without_churn_has_no_rounds() -> None:
    recorded = tables([submission("a", 1.0)], [])
    workloads = workloads_table(recorded)
    assert len(rounds_table(recorded, workloads, latencies_table(workloads), "linear")) == 0


def node(name: str, word: str, seen: float) -> dict[str, Any]:
    return transition("Node", name, word, seen, workload=None, namespace="", node=name)


def test_lost_nodes_are_named() -> None:
    seen = [node("n7", "not_ready", 12.0), node("n3", "deleted", 11.0), node("n7", "ready", 20.0)]
    changes = node_changes_table(tables([], [*seen, node("n9", "cordoned", 15.0)]), Window(10.0, 30.0))
    assert changes[["time_s", "node", "change"]].to_numpy().tolist() == [
        [1.0, "n3", "deleted"],
        [2.0, "n7", "not_ready"],
        [5.0, "n9", "cordoned"],
        [10.0, "n7", "ready"],
    ]
    assert lost_nodes(changes) == ("n3", "n7")
    assert lost_text(changes) == "2 nodes were lost during the test (1 of them until the end): n3, n7"


def test_many_lost_nodes_are_counted() -> None:
    seen = [node(f"n{number}", word, at) for number in range(7) for word, at in (("not_ready", 1.0), ("ready", 2.0))]
    text = lost_text(node_changes_table(tables([], seen), None))
    assert text == "7 nodes were lost during the test (all of them returned): n0, n1, n2, n3, n4 and 2 more"


def test_node_without_a_name_is_not_reported() -> None:
    changes = node_changes_table(tables([], [{**node("n1", "deleted", 1.0), "name": None}]), None)
    assert lost_nodes(changes) == ()


def test_run_without_nodes_has_no_node_changes() -> None:
    assert lost_nodes(node_changes_table(tables([], []), None)) == ()
