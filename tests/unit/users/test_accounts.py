"""The state of each user by its reports, its pod and the Job."""

from __future__ import annotations

from typing import Any

import pytest
from ansible_collections.psap.perf.plugins.module_utils.users.accounts import (
    Ending,
    Outcome,
    UserState,
    parse_reports,
    user_states,
)

from .objects import KEEPING, RUNNING, pod, report, terminated

ACTIVE: dict[str, Any] = {"status": {"active": 1}}


def state(
    report: dict[str, Any], found: dict[str, Any] | None, job: dict[str, Any] | None = ACTIVE, lost: str = ""
) -> UserState:
    """Return the state of user 0."""
    reports = {0: report} if report else {}
    return user_states(1, reports, [found] if found else [], job, {"users-0-abc": lost} if lost else {})[0]


@pytest.mark.parametrize(
    ("fields", "ending"),
    [
        ({"exit_code": 0}, Ending(Outcome.SUCCESS, None, 0)),
        ({"exit_code": 3}, Ending(Outcome.FAILED, "exit code 3", 3)),
        ({"exit_code": 143, "stopped": "coordinator"}, Ending(Outcome.STOPPED, "stopped", 143)),
        ({"exit_code": 0, "stopped": ""}, Ending(Outcome.SUCCESS, None, 0)),
    ],
)
def test_reported_end_counts(fields: dict[str, Any], ending: Ending) -> None:
    assert state(report(end_at_s=4.0, **fields), pod(0, RUNNING, KEEPING)).ending == ending
    # also if the pod was deleted later
    assert state(report(end_at_s=4.0, **fields), None).ending == ending


def test_failed_setup_has_another_cause() -> None:
    ended = {"setup_at_s": 1.0, "end_at_s": 2.0, "exit_code": 3}
    assert state(ended, None).ending == Ending(Outcome.FAILED, "setup: exit code 3", 3)


@pytest.mark.parametrize(
    ("found", "ending"),
    [
        (pod(0, terminated("OOMKilled", 137), KEEPING), Ending(Outcome.FAILED, "OOMKilled", 137)),
        (pod(0, terminated("Error", 137), KEEPING), Ending(Outcome.FAILED, "exit code 137", 137)),
        (pod(0, RUNNING, reason="Evicted", phase="Failed"), Ending(Outcome.LOST, "Evicted")),
        (
            pod(0, conditions=[{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]),
            Ending(Outcome.LOST, "PreemptionByScheduler"),
        ),
        (None, Ending(Outcome.LOST, "pod deleted")),
    ],
)
def test_user_that_was_killed_has_a_cause(found: dict[str, Any] | None, ending: Ending) -> None:
    assert state(report(), found).ending == ending


def test_user_that_ended_by_a_signal_lost_its_pod() -> None:
    ended = report(end_at_s=4.0, exit_code=143, stopped="signal")
    assert state(ended, pod(0, RUNNING, KEEPING)).ending == Ending(Outcome.LOST, "pod deleted")
    assert state(ended, pod(0, reason="Evicted")).ending == Ending(Outcome.LOST, "Evicted")
    assert state(ended, None).ending == Ending(Outcome.LOST, "pod deleted")


def test_lost_pod_has_the_cause_of_its_loss() -> None:
    assert state({}, pod(0), lost="node lost").ending == Ending(Outcome.LOST, "node lost")


def test_running_user_has_no_end() -> None:
    running = state(report(), pod(0, RUNNING, KEEPING))
    assert running.ending is None
    assert running.ready
    assert running.holds_artifacts


def test_user_without_pod_is_pending_until_job_ends() -> None:
    assert state({}, None).ending is None
    failed = {"status": {"conditions": [{"type": "Failed", "status": "True"}]}}
    assert state({}, None, failed).ending == Ending(Outcome.LOST, "pod deleted")
    assert state({}, None, None).ending == Ending(Outcome.LOST, "pod deleted")


def test_indices_of_job_status_are_read() -> None:
    job = {"status": {"failedIndexes": "0,2-3", "completedIndexes": "5"}}
    states = user_states(6, {}, [], job, {})
    assert [each.index for each in states if each.ending] == [0, 2, 3, 5]


def test_reports_are_parsed_by_index() -> None:
    assert parse_reports({"12": '{"setup_at_s": 1.0}'}) == {12: {"setup_at_s": 1.0}}
