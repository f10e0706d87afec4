"""Evictions, their preemptors, and their replacements, by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from perfanalysis.workloads.scale_test.evictions import (
    EVICTIONS,
    by_priority_table,
    by_tenant_table,
    evictions_table,
    preemptions_table,
    reclaimed,
)
from perfanalysis.workloads.scale_test.pods import pods_table
from perfanalysis.workloads.scale_test.tables import ScaleTestTables
from perfanalysis.workloads.scale_test.workloads import workloads_table

from tests.unit.analysis.hand_made import frame, submission, tables, transition

BY_SCHEDULER = "PreemptionByScheduler"


def pod(name: str, created: float, scheduled: float | None = None) -> list[dict[str, Any]]:
    times = {"created": created, "scheduled": scheduled}
    return [transition("Pod", name, word, at, node="n1") for word, at in times.items() if at is not None]


def preemption_event(victim: str, by: str, moment: float) -> dict[str, Any]:
    """Return the default scheduler's event; it contains the preemptor's uid, not the victim's."""
    of = {"kind": "Pod", "namespace": "ns", "name": victim, "workload": victim.split("-")[0], "count": 1}
    text = f"Preempted by {by} on node n1"
    return {**of, "seen_s": moment, "server_s": moment, "type": "Normal", "reason": "Preempted", "message": text}


# low has two pods, evicted for high and for the gang top; both return, one of them is evicted twice.
SENT = [
    submission("low", 1.0, pods=2.0, priority=10, queue="blue"),
    submission("high", 5.0, priority=100),
    submission("top", 6.0, priority=1000),
]
SEEN = [
    *(transition("Job", name, "created", at) for name, at in (("low", 1.5), ("high", 5.5), ("top", 6.5))),
    *pod("low-0", 2.0, 3.0),
    *pod("low-1", 2.0, 3.5),
    *pod("high-0", 5.75, 8.0),
    *pod("top-0", 6.75, 9.0),
    transition("PodGroup", "top-group", "created", 6.6),
    transition("Pod", "low-0", "evicted", 7.0, reason=BY_SCHEDULER, node="n1"),
    transition("Pod", "low-0", "evicted", 7.5, reason=BY_SCHEDULER, node="n1"),
    *pod("low-2", 7.25, 20.0),
    *pod("low-3", 8.5, 15.0),
    transition("Pod", "low-3", "evicted", 16.0, reason="NodeLost", node="n2"),
]
EVENTS = [preemption_event("low-0", "pod uid-high-0", 7.1), preemption_event("low-1", "podgroup uid-top-group", 8.25)]


def evictions(recorded_tables: ScaleTestTables) -> tuple[pd.DataFrame, pd.DataFrame]:
    workloads = workloads_table(recorded_tables)
    return evictions_table(recorded_tables, workloads, pods_table(recorded_tables.transitions, workloads)), workloads


@pytest.fixture
def recorded_tables() -> ScaleTestTables:
    return tables(SENT, SEEN, EVENTS)


def test_every_eviction_names_its_preemptor(recorded_tables: ScaleTestTables) -> None:
    table, _ = evictions(recorded_tables)
    rows = table[["evicted_s", "pod", "priority", "preempted", "by_workload", "by_priority"]].astype("object")
    assert rows.where(rows.notna(), None).to_numpy().tolist() == [
        [7.0, "low-0", 10, True, "high", 100],
        # No state of the pod shows it: the pod was deleted first, and only the event remains.
        [8.25, "low-1", 10, True, "top", 1000],
        [16.0, "low-3", 10, False, None, None],
    ]
    assert table["tenant"].tolist() == ["blue"] * 3
    assert table["reason"].tolist() == [BY_SCHEDULER, BY_SCHEDULER, "NodeLost"]


def test_replacements_are_the_next_pods_of_the_workload(recorded_tables: ScaleTestTables) -> None:
    table, _ = evictions(recorded_tables)
    assert table["replaced_s"].tolist()[:2] == [7.25, 8.5]
    assert table["rescheduling_s"].tolist()[:2] == [20.0 - 7.0, 15.0 - 8.25]
    assert pd.isna(table["rescheduling_s"].iloc[2])


def test_preemptions_are_counted_by_victim_and_preemptor(recorded_tables: ScaleTestTables) -> None:
    table, workloads = evictions(recorded_tables)
    rows = preemptions_table(table, workloads)[["workload", "priority", "preempted", "preempting"]]
    assert rows.astype("object").to_numpy().tolist() == [["low", 10, 2, 0], ["high", 100, 0, 1], ["top", 1000, 0, 1]]
    by_priority = by_priority_table(table).astype("object").to_numpy().tolist()
    assert by_priority == [[10, 1000, 1, 1, 1], [10, 100, 1, 1, 1]]


def test_reclaims_are_preemptions_for_another_tenant() -> None:
    """Blue lost two pods to red, one to itself, one to an unknown preemptor; red lost none by preemption."""
    pairs = [("blue", "red", True), ("blue", "red", True), ("blue", "blue", True), ("blue", None, True)]
    rows = [
        {"pod": f"p-{number}", "workload": f"w-{number}", "tenant": of, "by_tenant": by, "preempted": preempted}
        for number, (of, by, preempted) in enumerate([*pairs, ("red", "blue", False)])
    ]
    table = frame(EVICTIONS, rows)
    assert reclaimed(table) == 2
    found = by_tenant_table(table).astype("object")
    assert found.where(found.notna(), None).to_numpy().tolist() == [
        ["blue", "red", 2],
        ["blue", "blue", 1],
        ["blue", None, 1],
    ]


def test_tenant_of_a_preemptor_is_that_of_its_workload() -> None:
    sent = [{**one, "queue": "red" if one["name"] == "high" else "blue"} for one in SENT]
    table, _ = evictions(tables(sent, SEEN, EVENTS))
    assert table["by_tenant"].astype("object").where(table["by_tenant"].notna(), None).tolist() == ["red", "blue", None]
    assert reclaimed(table) == 1


def test_preemption_before_binding_is_not_an_eviction() -> None:
    event = preemption_event("low-0", "pod uid-high-0", 7.0)
    event["message"] += " (in kube-scheduler memory)."
    table, workloads = evictions(tables(SENT, SEEN[:7], [event]))
    assert len(table) == 0
    assert len(preemptions_table(table, workloads)) == 0
    assert len(by_priority_table(table)) == 0


def test_workload_evicted_by_kueue_returns_with_all_pods() -> None:
    seen = [
        transition("Job", "a", "created", 1.0),
        transition("Workload", "a-queue", "evicted", 5.0, reason="Preempted"),
    ]
    seen += [*pod("a-0", 2.0, 3.0), *pod("a-1", 2.0, 3.0), *pod("a-2", 6.0, 8.0), *pod("a-3", 6.5, 7.0)]
    table, _ = evictions(tables([submission("a", 0.5, pods=2.0)], seen))
    [row] = table.astype("object").to_dict("records")
    assert (row["kind"], row["preempted"], row["replaced_s"], row["rescheduled_s"]) == ("Workload", True, 6.0, 8.0)


def test_kueue_names_the_preempting_workload_each_time() -> None:
    def reclaimed_for(uid: str, moment: float) -> dict[str, Any]:
        message = f"Preempted to accommodate a workload (UID: {uid}) due to reclamation within the cohort"
        return {**preemption_event("a-queue", "", moment), "kind": "Workload", "message": message}

    sent = [submission(name, 0.5, queue=queue) for name, queue in (("a", "blue"), ("b", "red"), ("c", "green"))]
    seen = [transition("Job", name, "created", 1.0) for name in "abc"]
    seen += [transition("Workload", f"{name}-queue", "created", 1.0) for name in "abc"]
    seen += [transition("Workload", "a-queue", "evicted", at, reason="Preempted") for at in (5.0, 9.0, 12.0)]
    events = [reclaimed_for("uid-c-queue", 8.9), reclaimed_for("uid-b-queue", 4.9)]
    table, _ = evictions(tables(sent, seen, events))
    named = table["by_workload"].astype("object")
    assert named.where(named.notna(), None).tolist() == ["b", "c", None]
    assert table["preempted"].tolist() == [True, True, True]
    assert reclaimed(table) == 2


def test_equal_names_in_two_namespaces_are_evicted_separately() -> None:
    sent = [submission("a", 1.0), submission("a", 2.0, namespace="other")]
    seen = pod("a-0", 3.0, 4.0)
    seen += [
        transition("Pod", "a-0", word, at, namespace="other", uid="x") for word, at in (("created", 3), ("evicted", 5))
    ]
    table, _ = evictions(tables(sent, seen, [preemption_event("a-0", "pod uid-z", 6.0)]))
    assert table["workload"].tolist() == ["other/a", "ns/a"]
    assert table["preempted"].tolist() == [False, True]
