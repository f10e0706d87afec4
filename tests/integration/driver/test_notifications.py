"""Notifications at the end of runs; tests/unit/driver tests the requests to Slack and GitHub."""

from __future__ import annotations

import json

import pytest

from tests.integration.driver.conftest import Driver

PULL = "https://github.com/o/r/pull/7"
TOKEN = "xoxb-planted-slack-word"


def test_failed_run_is_notified_with_its_failure_by_policy(driver: Driver) -> None:
    settings = {
        "notify_slack_channel": "C1",
        "notify_github_pull": PULL,
        "notify_policy": "failure",
        "notify_dry_run": True,
    }
    good = driver("run", "demo", "-e", json.dumps(settings))
    assert (good.code, "notify" in good.out) == (0, False), good.out + good.err
    bad = driver("run", "demo", "-e", json.dumps({**settings, "demo_fails": True}))
    assert bad.code == 1, bad.out + bad.err
    slack, github = bad.out.partition("notify  slack, C1 (dry run):")[2].split("notify  github, o/r#7 (dry run):")
    (document,) = (
        found
        for path in driver.runs.glob("*/run.json")
        if (found := json.loads(path.read_text()))["status"] == "failed"
    )
    for text in (slack, github):
        assert document["reason"]["what"] in text
        assert "ansible.log:" in text
    assert "notified" not in document


@pytest.mark.deep
def test_lost_notification_is_reported_and_changes_no_result(driver: Driver) -> None:
    driver.variables["SLACK_WORD"] = TOKEN
    settings = {
        "notify_slack_channel": "C1",
        "notify_slack_token": "env:SLACK_WORD",
        "notify_slack_url": "http://127.0.0.1:9/",
    }
    ended = driver("run", "demo", "-e", json.dumps(settings))
    assert ended.code == 0, ended.out + ended.err
    assert "notify  slack lost: " in ended.err
    document = driver.document()
    assert (document["status"], document["notified"]["slack"]["status"]) == ("ok", "failed")
    # an explicitly requested notification that fails is a failure
    again = driver("notify", "latest")
    assert (again.code, "does not answer" in again.err) == (1, True), again.out + again.err
    files = [path for path in driver.runs.rglob("*") if path.is_file()]
    assert [path for path in files if TOKEN.encode() in path.read_bytes()] == []
    assert TOKEN not in ended.out + ended.err + again.out + again.err
