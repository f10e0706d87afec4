"""Runs of pipelines from Workflows, and their states over time."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.base.errors import WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.kube_api.query import Query
from ansible_collections.psap.perf.plugins.module_utils.pipelines.collecting import complete
from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import PipelineRun, StateSample
from ansible_collections.psap.perf.plugins.module_utils.pipelines.runs import (
    RUN_NAME,
    Requested,
    all_ended,
    by_run_name,
    failures,
    pipeline_runs,
    progress,
    states,
)
from ansible_collections.psap.perf.plugins.module_utils.pipelines.waiting import wait_for_runs

# 2026-11-28T19:00:00Z
T = 1795892400.0


def workflow(run: str, phase: str = "", start: int | None = None, end: int | None = None, **status: Any) -> Any:
    moments = {"startedAt": start, "finishedAt": end}
    times = {name: f"2026-11-28T19:00:{second:02}Z" for name, second in moments.items() if second is not None}
    nodes = {
        "dag": {"type": "DAG", "displayName": run},
        "pod": {"type": "Pod", "displayName": "say-hello", "phase": phase, **times},
    }
    metadata = {"name": f"w-{run}", "uid": run, "annotations": {RUN_NAME: run}}
    return {
        "metadata": {**metadata, "creationTimestamp": "2026-11-28T19:00:00Z"},
        "status": {"phase": phase, "nodes": nodes, **times, **status} if phase else {},
    }


def evaluated(requested: list[Requested], *workflows: Any) -> tuple[PipelineRun, ...]:
    names = [each.name for each in requested]
    return pipeline_runs(requested, by_run_name(workflows, names), 1, "n0", 4)


def test_workflows_are_found_by_exact_run_names() -> None:
    others = [workflow("user1-run1"), workflow("user11-run1"), {"metadata": {"name": "of others"}}]
    assert list(by_run_name(others, ["user1-run1"])) == ["user1-run1"]


def test_run_has_times_and_steps_of_its_workflow() -> None:
    (run,) = evaluated([Requested("a", T + 0.5)], workflow("a", "Succeeded", 2, 9))
    assert (run.number, run.created_s, run.started_s, run.finished_s) == (4, T + 0.5, T + 2, T + 9)
    assert [(step.name, step.end_s) for step in run.steps] == [("say-hello", T + 9)]
    assert run.workflow == "w-a"


def test_start_in_the_second_of_the_request_is_not_before_it() -> None:
    (run,) = evaluated([Requested("a", T + 0.7)], workflow("a", "Succeeded", 0, 0))
    assert (run.started_s, run.finished_s) == (T + 0.7, T + 0.7)


def test_request_without_a_time_counts_from_the_workflow() -> None:
    (run,) = evaluated([Requested("a")], workflow("a", "Running", 2))
    assert run.created_s == T


@pytest.mark.parametrize(("error", "phase"), [("", "Pending"), ("quota exceeded", "Error")])
def test_run_without_a_workflow(error: str, phase: str) -> None:
    (run,) = evaluated([Requested("a", T, error)])
    assert (run.phase, run.workflow, run.message) == (phase, None, error or None)


def test_error_of_a_workflow_is_a_failure() -> None:
    runs = evaluated(
        [Requested("a", T), Requested("b", T)],
        workflow("a", "Error", 1, 2, message="no executor"),
        workflow("b", "Succeeded", 1, 2),
    )
    assert all_ended(runs)
    assert failures(runs) == "1 of 2 runs failed: a: Error in step say-hello, no executor"


def test_progress_names_the_runs_that_have_not_ended() -> None:
    runs = evaluated([Requested(name, T) for name in "abcde"], workflow("a", "Succeeded", 1, 2), workflow("b"))
    assert progress(runs) == ("1 of 5 runs have ended: b is Pending, c has no Workflow, d has no Workflow and 1 more")
    assert failures(runs) == ""


def test_states_follow_the_times_of_the_runs() -> None:
    runs = evaluated(
        [Requested("a", T), Requested("b", T + 1), Requested("c", T + 3, "refused"), Requested("d")],
        workflow("a", "Succeeded", 1, 3),
        workflow("b", "Failed", 2, 4),
    )
    assert states(runs) == (
        StateSample(T, 0, 1, 0, 0),
        StateSample(T + 1, 1, 1, 0, 0),
        StateSample(T + 2, 2, 0, 0, 0),
        StateSample(T + 3, 1, 0, 1, 1),
        StateSample(T + 4, 0, 0, 1, 2),
    )


def test_runs_that_a_user_did_not_request_are_failed() -> None:
    known = evaluated([Requested("a", T)], workflow("a", "Succeeded", 1, 2))
    runs = complete(known, ["n0", "n0"], 4)
    assert [(run.user, run.number) for run in runs] == [(user, number) for user in (0, 1) for number in (1, 2, 3, 4)]
    assert [run.phase for run in runs] == ["Error"] * 7 + ["Succeeded"]


class Source:
    """Returns one list of Workflows, and no changes."""

    def __init__(self, *items: Any) -> None:
        self.items = list(items)

    def list(self, query: Query) -> tuple[list[Any], str]:
        del query
        return self.items, "1"

    def watch(self, query: Query, resource_version: str, timeout_s: int) -> Any:
        del query, resource_version, timeout_s
        return iter(())


def waited(source: Source, timeout_s: float) -> None:
    requested = [Requested("a", T)]

    def evaluate(found: Any) -> tuple[PipelineRun, ...]:
        return pipeline_runs(requested, found, 0, "n0", 1)

    wait_for_runs(source, Query("argoproj.io", "Workflow", "n0"), ["a"], evaluate, timeout_s, lambda: None)


def test_wait_ends_when_all_runs_have_failed_or_succeeded() -> None:
    waited(Source(workflow("a", "Error", 1, 2), workflow("of others", "Running", 1)), 60)


def test_wait_reports_only_its_own_runs_after_the_timeout() -> None:
    source = Source(workflow("a", "Running", 1), workflow("of others", "Running", 1))
    with pytest.raises(WaitTimeoutError, match=r"within 0 s: 0 of 1 runs have ended: a is Running$"):
        waited(source, 0)
