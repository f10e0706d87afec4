"""Runs judged by a history in a folder: verdicts, exit codes, and what is pushed."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from perfanalysis.results.history.folder import add, load
from perfci.judging.judge import judge
from perfci.judging.measured import find_measured
from perfci.notifying.message import message_of, render_message
from perfci.notifying.notify import Notification
from perfdrv.errors import UsageError

from tests.data.synthetic_runs import write_run
from tests.unit.perfci.judging.conftest import SHAPE, Night, change_run, nights, set_up, verdict_of

# analyses and reports of runs take seconds
pytestmark = pytest.mark.slow
NOWHERE = "http://127.0.0.1:9"


def files(tmp_path: Path) -> int:
    """Return the number of documents in the history."""
    return len(list((tmp_path / "history").glob("*.json")))


@pytest.mark.parametrize(("fails", "code"), [("worse", 0), ("unjudged", 6)])
def test_first_run_is_unjudged_and_pushed_once(fails: str, code: int, night: Night, tmp_path: Path) -> None:
    run = night(regress_fails=fails)
    first, again = judge(run, pull_request=False), judge(run, pull_request=False)
    assert (first.status, first.exit_code, first.pushed) == ("unjudged", code, "new")
    assert (again.status, again.exit_code, again.pushed) == ("unjudged", code, "already there")
    assert files(tmp_path) == 1


def test_slower_run_ends_with_4_and_every_output_shows_it(night: Night, tmp_path: Path) -> None:
    run = night(12, faster=1.5, report_enabled=True)
    verdict = judge(run, pull_request=False)
    assert (verdict.status, verdict.exit_code, verdict.runs, verdict.pushed) == ("worse", 4, 12, "new")
    recorded = verdict_of(run)
    assert recorded["exit_code"] == 4
    assert recorded["counts"]["worse"] == verdict.counts["worse"] > 0
    # the run itself is ok, so that the next nights are compared with it
    assert json.loads((run / "run.json").read_text())["status"] == "ok"
    assert load(tmp_path / "history").documents[-1]["status"] == "ok"
    page = (run / "report" / "index.html").read_text()
    assert "KPIs that moved" in page
    message = message_of(run, (), "runs of today")
    assert (message.status, message.exit_code, message.good) == ("regression", 4, False)
    comment = render_message("github.md.j2", message, "")
    assert "| KPI | verdict | before, now | change | 95 % interval | Hedges' g | since |" in comment
    assert "| worse |" in comment
    assert "compared with 12 runs of the history, worse" in comment
    assert "compared with 12 runs" in render_message("slack.md.j2", message, "")


def test_policy_change_notifies_only_when_kpis_moved(night: Night, tmp_path: Path, pattern: dict[str, Any]) -> None:
    run = night(12)
    former = write_run(run.parent, [SHAPE], run="scale_test-20260101T000000Z-5f3a1c")
    change_run(former, started="2026-01-01T00:00:00.000Z")
    settings = {"notify_policy": "change", "notify_slack_channel": "C1"}
    assert judge(run, pull_request=False).status == "ok"
    assert Notification(run, settings, dry_run=True).send() == ()
    faster = tmp_path / "faster"
    for document in nights(pattern, 12, faster=1.5):
        add(faster, document)
    assert judge(run, pull_request=False, given={"history_source": str(faster)}).status == "worse"
    assert len(Notification(run, settings, dry_run=True).send()) == 1


def test_pull_request_is_judged_and_not_pushed(night: Night, tmp_path: Path) -> None:
    run = night(12, faster=1.5)
    verdict = judge(run, pull_request=True)
    assert (verdict.status, verdict.pushed) == ("worse", "no")
    # a later judgement outside of the job knows it from run.json
    assert judge(run, pull_request=False).pushed == "no"
    assert files(tmp_path) == 12
    set_up(run, history_push_pull_requests=True)
    assert judge(run, pull_request=True).pushed == "new"


@pytest.mark.parametrize(("required", "code"), [(False, 0), (True, 1)])
def test_history_that_is_away_changes_the_result_only_if_required(
    required: bool, code: int, night: Night, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = set_up(night(), history_source=NOWHERE, history_required=required)
    verdict = judge(run, pull_request=False)
    assert (verdict.status, verdict.exit_code, verdict.pushed) == ("not judged", code, "failed")
    assert "cannot connect to http://127.0.0.1:9" in verdict_of(run)["history"]["lost"]
    assert "try again with: perfdrv judge" in capsys.readouterr().err
    # nothing is lost: the run is pushed when the history is back
    assert judge(run, pull_request=False, given={"history_source": str(tmp_path / "history")}).pushed == "new"


def test_failed_run_is_not_judged_and_pushed_only_with_always(night: Night, tmp_path: Path) -> None:
    run = change_run(night(12, faster=1.5), status="failed", exit_code=1)
    verdict = judge(run, pull_request=False)
    assert (verdict.status, verdict.exit_code, verdict.reason) == ("not judged", 0, "the run is failed")
    set_up(run, history_push="always")
    assert judge(run, pull_request=False).pushed == "new"
    assert load(tmp_path / "history").documents[-1]["status"] == "failed"


def test_acknowledged_regression_does_not_fail_until_it_expires(night: Night, tmp_path: Path) -> None:
    run = night(12, faster=1.5, report_enabled=True)
    judge(run, pull_request=False)
    moved = json.loads((run / "report" / "regression.json").read_text())["recordings"][0]["kpis"]
    path = tmp_path / "acknowledged.yml"

    def accept(expires: str) -> None:
        entries = [
            f"- {{kpi: '{kpi['name']}', run: {kpi['change']['since']}, expires: {expires}, reason: audit log is on,"
            f" link: 'https://issues.example.com/7'}}"
            for kpi in moved
            if kpi["verdict"] == "worse"
        ]
        path.write_text("\n".join(entries) + "\n")

    accept("2999-01-01")
    set_up(run, regress_acknowledged=str(path))
    verdict = judge(run, pull_request=False)
    assert (verdict.status, verdict.exit_code) == ("ok", 0)
    assert verdict.counts["acknowledged"] > 0
    assert "audit log is on (https://issues.example.com/7)" in (run / "report" / "index.html").read_text()
    accept("2026-01-01")
    assert judge(run, pull_request=False).exit_code == 4


def test_run_of_the_future_in_the_history_is_reported(
    night: Night, tmp_path: Path, pattern: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    run = night(12)
    (last,) = nights(pattern, 1)
    add(tmp_path / "history", {**last, "run": "tomorrow", "started": "2999-01-01T00:00:00.000Z"})
    assert judge(run, pull_request=False).status == "ok"
    assert "1 run of the history began in the future, such as tomorrow" in capsys.readouterr().err


def test_run_with_a_clock_of_the_past_is_unjudged_and_pushed(night: Night) -> None:
    run = change_run(night(12), started="1970-01-01T00:00:10.000Z")
    verdict = judge(run, pull_request=False)
    assert (verdict.status, verdict.exit_code, verdict.pushed) == ("unjudged", 0, "new")


def test_two_jobs_that_end_concurrently_are_both_pushed(night: Night, tmp_path: Path) -> None:
    first = night(12)
    second = write_run(tmp_path / "runs", [SHAPE], run="scale_test-20261120T093001Z-5f3a1d")
    set_up(second, history_source=str(tmp_path / "history"), report_enabled=False)
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda run: judge(run, pull_request=False), (first, second)))
    assert [each.pushed for each in found] == ["new", "new"]
    assert files(tmp_path) == 14
    assert {first.name, second.name} <= {each["run"] for each in load(tmp_path / "history").documents}


def test_known_facts_leave_nothing_to_measure(night: Night, pattern: dict[str, Any]) -> None:
    run = night(3)
    answer = find_measured(run, ["scale_test_rate", "scale_test_gpus"])
    assert answer.measured_by == "night-002"
    assert answer.why == (
        "nothing is new: night-002 of the history measured setting.scale_test_rate 40, setting.scale_test_gpus 1"
    )
    set_up(run, scale_test_rate=50)
    assert find_measured(run, ["scale_test_rate"]).measured_by == ""
    with pytest.raises(UsageError, match="has no fact scale_test_rat; did you mean scale_test_rate"):
        find_measured(run, ["scale_test_rat"])
