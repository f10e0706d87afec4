"""Workloads that Kueue dispatched to other clusters: times, clusters, and measures of pods that were not seen."""

from __future__ import annotations

import pytest
from perfanalysis.workloads.kpis import evaluate
from perfanalysis.workloads.scale_test.kpis import KPIS
from perfanalysis.workloads.scale_test.measures import Measures, measure
from perfanalysis.workloads.scale_test.milestones import ELSEWHERE
from perfanalysis.workloads.scale_test.tables import ScaleTestTables

from tests.unit.analysis.hand_made import submission, tables, transition


@pytest.fixture
def dispatched() -> ScaleTestTables:
    """Return three Jobs: one at the cluster east, two at west, of which one was at east before its eviction."""
    seen = []
    for place, (name, cluster) in enumerate({"a": "east", "b": "west", "c": "west"}.items()):
        at = 10.0 * place
        job = {"created": 1.0, "suspended": 1.0, "started": 6.0, "completed": 9.0}
        seen += [transition("Job", name, word, at + moment) for word, moment in job.items()]
        queue = {"created": 2.0, "quota_reserved": 3.0, "admitted": 5.0}
        seen += [transition("Workload", f"{name}-queue", word, at + moment) for word, moment in queue.items()]
        waits = 3.5 + place / 2
        seen.append(transition("Workload", f"{name}-queue", "dispatched", at + waits, cluster=cluster))
    # it was dispatched to another cluster before
    seen.append(transition("Workload", "c-queue", "dispatched", 23.25, cluster="east"))
    sent = [submission(name, 10.0 * place, gpus=4.0) for place, name in enumerate("abc")]
    return tables(sent, seen, gpus=[8.0])


def measured(recorded: ScaleTestTables) -> Measures:
    return measure(recorded, {}, {})


def test_clusters_have_their_workloads_and_times(dispatched: ScaleTestTables) -> None:
    measures = measured(dispatched)
    assert measures.workloads["cluster"].tolist() == ["east", "west", "west"]
    columns = ["cluster", "workloads", "completed", "failed", "gpus"]
    assert measures.clusters[columns].to_numpy().tolist() == [["east", 1, 1, 0, 4.0], ["west", 2, 2, 0, 8.0]]
    # the first dispatch of c is a quarter of a second after its quota
    assert measures.latencies["dispatch_s"].tolist() == [0.5, 1.0, 0.25]
    assert measures.clusters["dispatch_p50_s"].tolist()[1] == 0.625


OF_PODS = (
    *("time_to_running_p50", "scheduling_p99", "decision_p50", "peak_running", "plateau_running", "ramp_time"),
    *("start_inversions", "fairness_jain"),
)


@pytest.mark.parametrize("name", OF_PODS)
def test_measures_of_pods_at_other_clusters_are_missing(dispatched: ScaleTestTables, name: str) -> None:
    found = {kpi.name: kpi for kpi in evaluate(KPIS, measured(dispatched), ())}
    assert (found[name].number, found[name].reason) == (None, ELSEWHERE)
    assert found["dispatch_p50"].number == 0.5
    assert found["gpu_idle_while_waiting"].number is None


def test_pods_at_the_manager_are_measured(dispatched: ScaleTestTables) -> None:
    dispatched = tables(
        [submission("a", 0.0)],
        [transition("Pod", "a-0", word, 1.0 + place) for place, word in enumerate(("created", "scheduled", "running"))],
        gpus=[8.0],
    )
    found = {kpi.name: kpi for kpi in evaluate(KPIS, measured(dispatched), ())}
    assert found["peak_running"].number == 1.0
    assert found["dispatch_p50"].number is None
    assert len(measured(dispatched).clusters) == 0
