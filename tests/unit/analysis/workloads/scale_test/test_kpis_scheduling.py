"""KPIs of scheduling, of the submitters' requests, of nodes and of the control plane, by hand."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs
from perfanalysis.workloads.kpis import KpiValue, evaluate
from perfanalysis.workloads.scale_test.kpis import KPIS, on_top
from perfanalysis.workloads.scale_test.measures import measure
from perfanalysis.workloads.scale_test.tables import ScaleTestTables

from tests.unit.analysis.hand_made import life, rising, submission, tables, transition
from tests.unit.analysis.workloads.scale_test import test_evictions, test_fairness

WATCHED = {"resources": [{"kind": kind} for kind in ("Job", "Pod", "Node")]}


def kpis(recorded: ScaleTestTables, recording: dict[str, Any] | None = None) -> dict[str, KpiValue]:
    return {value.name: value for value in evaluate(KPIS, measure(recorded, recording or {}, {}))}


def numbers(found: dict[str, KpiValue], *names: str) -> list[float | None]:
    return [found[name].number for name in names]


def test_preemption_kpis_match_hand_computation() -> None:
    found = kpis(tables(test_evictions.SENT, test_evictions.SEEN, test_evictions.EVENTS))
    assert numbers(found, "evictions", "preemptions", "rescheduled_ratio") == [3.0, 2.0, 2 / 3]
    # 13 s and 6.75 s
    assert (found["rescheduling_p50"].number, found["rescheduling_p50"].count) == (9.875, 2)
    assert found["rescheduling_p99"].reason == "needs 100 values, found 2"


def test_jain_index_kpis_match_hand_computation() -> None:
    found = kpis(tables(test_fairness.SENT, test_fairness.SEEN))
    # Equal shares of the demand: both indices are the index of 2.25 and 1 GPUs.
    index = 3.25**2 / (2 * (2.25**2 + 1))
    assert numbers(found, "fairness_jain", "fairness_jain_by_demand") == pytest.approx([index, index])
    alone = kpis(tables([submission("a", 1.0)], life("a", created=2.0)))
    assert alone["fairness_jain"].reason == "fewer than two tenants had work waiting at the same time"


# three workloads of one GPU wait 1, 2 and 8 s; of two with four GPUs, submitted at 2 and 20 s, none starts
WAITING = [
    *(submission(name, sent) for name, sent in (("a", 1.0), ("b", 2.0), ("c", 10.0))),
    *(submission(name, sent, gpus=4.0) for name, sent in (("d", 2.0), ("e", 20.0))),
]
WAITED = [
    *life("a", created=1.5, pod_created=1.5, scheduled=2.0, succeeded=4.0, completed=4.0),
    *life("b", created=2.5, pod_created=2.5, scheduled=4.0, succeeded=6.0, completed=6.0),
    *life("c", created=10.5, pod_created=10.5, scheduled=18.0, succeeded=42.0, completed=42.0),
    *life("d", created=2.5, pod_created=2.5),
    *life("e", created=20.5, pod_created=20.5),
]


def test_starvation_kpis_match_hand_computation() -> None:
    found = kpis(tables(WAITING, WAITED))
    # the waits of the large ones, 40 and 22 s to the end of the recording, are 1.3 times their median at most
    assert (found["longest_wait_ratio"].number, found["longest_wait_ratio"].count) == (4.0, 5)
    # the small workload c was submitted after d, and before e
    assert found["workloads_starved"].number == 1.0


@pytest.mark.parametrize(
    ("change", "starved"),
    [({"priority": 5}, 0.0), ({"gpus": 8.0}, 0.0), ({"outcome": "failed", "status": 403}, 1.0)],
)
def test_starved_by_a_smaller_workload_of_the_same_priority_only(change: dict[str, Any], starved: float) -> None:
    # c is the only small workload that was submitted after d
    sent = [{**row, **change} if row["name"] == ("e" if "outcome" in change else "c") else row for row in WAITING]
    assert kpis(tables(sent, WAITED))["workloads_starved"].number == starved


def test_workload_that_ended_without_a_start_is_not_starved() -> None:
    ended = transition("Job", "d", "failed", 30.0)
    assert kpis(tables(WAITING, [*WAITED, ended]))["workloads_starved"].number == 0.0


def test_single_workloads_of_each_size_have_no_longest_wait() -> None:
    found = kpis(tables([submission("a", 1.0), submission("b", 1.0, gpus=2.0)], life("a", created=2.0)))
    assert found["longest_wait_ratio"].reason == "no two workloads of the same size waited"


def test_scheduling_has_headlines_only_with_gangs_and_numbers() -> None:
    values = evaluate(KPIS, measure(tables(WAITING, WAITED), {}, {}))
    plain, of_gangs = (
        {value.name for value in on_top(values, gangs=gangs) if value.headline} for gangs in (False, True)
    )
    assert {"makespan", "completed_ratio"} <= plain
    # no topology is recorded
    assert of_gangs == plain
    known = [structs.replace(value, number=1.0) for value in values]
    assert {value.name for value in on_top(tuple(known), gangs=True) if value.headline} - plain == {
        *(
            "fairness_jain",
            "gpu_fragmentation",
            "placement_domains",
            "gangs_complete_ratio",
            "gang_admission_p50",
            "gang_admission_p99",
        ),
    }


def test_order_and_ramp_kpis_match_hand_computation() -> None:
    sent, seen = rising()
    # w0 is scheduled after w1 and w2.
    for row in seen:
        if row["name"] == "w0-0" and row["transition"] == "scheduled":
            row["seen_s"] = 4.5
    found = kpis(tables(sent, seen))
    assert numbers(found, "start_inversions", "overtaking_ratio") == [2.0, 2 / 20]
    assert numbers(found, "ramp_time", "plateau_running") == [10.0, 10.0]
    assert numbers(found, "steady_completion_rate") == [11 / 13]


def test_api_latency_kpis_match_hand_computation() -> None:
    sent = [submission("a", 1.0, attempts=4), submission("b", 2.0), submission("c", 3.0, outcome="failed", status=403)]
    found = kpis(tables(sent, []))
    assert numbers(found, "api_error_ratio", "api_retry_ratio") == [1 / 3, 3 / 6]
    watched = kpis(tables([], life("a", created=1.0)))
    assert watched["api_error_ratio"].reason == "no submission was recorded"


def test_lost_nodes_are_counted_if_nodes_were_watched() -> None:
    lost = transition("Node", "n1", "not_ready", 5.0, workload=None, namespace="", node="n1")
    sent = [submission("a", 1.0)]
    assert kpis(tables(sent, [lost]), WATCHED)["nodes_lost"].number == 1.0
    assert kpis(tables(sent, []), WATCHED)["nodes_lost"].number == 0.0
    assert kpis(tables(sent, []))["nodes_lost"].reason == "objects of kind Node were not watched"
    refused = {"not_watched": [{"kind": "Node", "api_version": "v1", "reason": "403 Forbidden"}]}
    reason = kpis(tables(sent, []), refused)["nodes_lost"].reason
    assert reason == "could not watch objects of kind Node: 403 Forbidden"


def test_absent_steps_have_a_reason() -> None:
    found = kpis(tables([submission("a", 1.0)], life("a", created=2.0)))
    reasons = {
        "podgroup_creation_p50": "no pod groups in this recording",
        "pvc_bind_p99": "no volume claims in this recording",
        "queue_wait_p50": "no workload was held back in a queue",
        "gang_completeness_p99": "no workload has several pods in this recording",
        "rescheduling_p50": "no pod was evicted in this recording",
        "etcd_fsync_p99": "the control plane was not scraped",
    }
    assert {name: found[name].reason for name in reasons} == reasons


def test_control_plane_kpis_match_hand_computation() -> None:
    def scraped(at: float, component: str, metric: str, value: float, **labels: str) -> dict[str, Any]:
        return {"at_s": at, "component": component, "metric": metric, "value": value, **labels}

    samples = [scraped(at, "etcd", "process_cpu_seconds_total", cpu) for at, cpu in ((1.0, 5.0), (9.0, 8.5))]
    for at, below, total in ((1.0, 0.0, 100.0), (9.0, 150.0, 300.0)):
        name = "etcd_disk_wal_fsync_duration_seconds_bucket"
        samples += [scraped(at, "etcd", name, below, le="0.001"), scraped(at, "etcd", name, total, le="0.004")]
    name = "scheduler_scheduling_attempt_duration_seconds_count"
    samples += [scraped(at, "kube-scheduler", name, 7.0 * at, result="scheduled") for at in (1.0, 2.0)]
    found = kpis(tables([submission("a", 1.0)], [], control_plane=samples))
    # Attempts were counted, but none with this result.
    assert found["scheduler_errors"].number == 0.0
    assert found["etcd_cpu"].number == 3.5
    # Of 200 writes 150 took less than 1 ms, the 198th is 48 of 50 into the bucket up to 4 ms.
    assert found["etcd_fsync_p99"].number == pytest.approx(0.001 + 0.003 * 48 / 50)
    assert found["etcd_memory_peak"].reason == "etcd reported none of it between the scrapes"
    assert found["apiserver_cpu"].reason == "kube-apiserver was not scraped"
