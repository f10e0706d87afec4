"""Notifications to simulated Slack and GitHub servers on loopback that limit, fail and store threads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from perfci.jobs.detection import detect
from perfci.notifying.ending import notify_refusal
from perfci.notifying.message import message_of, render_message
from perfci.notifying.notify import Notification

from tests.standins.github_api import NUMBER, PAGE, REPOSITORY, GitHubApi, github_api
from tests.standins.slack_api import SlackApi, slack_api

# Starts servers, and waits as the clients do after a rate limit
pytestmark = pytest.mark.slow

TOKEN = "xoxb-planted-slack-word"
NOWHERE = "http://127.0.0.1:9/"
FAILED = {"what": "demo_fail: Fail <!channel>", "why": "no `luck` @org/all\nat all", "where": "x.yml:3 on host sutest"}


@pytest.fixture(name="slack")
def _slack() -> Iterator[SlackApi]:
    with slack_api() as api:
        yield api


@pytest.fixture(name="github")
def _github() -> Iterator[GitHubApi]:
    with github_api() as api:
        yield api


@pytest.fixture(name="settings")
def _settings(slack: SlackApi, github: GitHubApi, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("SLACK_WORD", TOKEN)
    return {
        "notify_slack_channel": "C1",
        "notify_slack_token": "env:SLACK_WORD",
        "notify_slack_url": slack.url,
        "notify_github_pull": PAGE,
        "github_url": github.url,
        "github_token": "env:SLACK_WORD",
    }


def _run(folder: Path, name: str = "demo-20260101T000000Z-abcdef", **document: object) -> Path:
    run = folder / name
    run.mkdir(parents=True)
    known = {
        "schema": "psap.perf/run/1",
        "id": name,
        "flow": "demo",
        "status": "failed",
        "exit_code": 1,
        "reason": FAILED,
        "started": "2026-01-01T00:00:00.000Z",
        "ended": "2026-01-01T00:01:05.000Z",
        "attempts": [],
        **document,
    }
    (run / "run.json").write_text(json.dumps(known))
    (run / "ansible.log").write_text("TASK [Fail]\nfatal: [sutest]: FAILED! no luck\n")
    return run


def test_runs_of_one_pull_request_share_a_thread_with_one_comment_each(
    slack: SlackApi, github: GitHubApi, settings: dict[str, Any], tmp_path: Path
) -> None:
    first, second = _run(tmp_path), _run(tmp_path, "demo-20260102T000000Z-abcdef", status="ok", reason=None)
    # A rate-limited request is sent once more.
    slack.refusals = [(429, {"Retry-After": "1"})]
    for run in (first, second):
        assert [each.error for each in Notification(run, settings).send()] == ["", ""]
    parent, *replies = slack.messages
    assert parent["metadata"]["event_payload"] == {"subject": f"{REPOSITORY}#{NUMBER}"}
    assert [each["thread_ts"] for each in replies] == [parent["ts"]] * 2
    assert "&lt;!channel&gt;" in replies[0]["text"]
    assert "ansible.log:2: fatal:" in replies[0]["text"]
    assert len(github.comments) == 2
    assert "**First failure:** `demo_fail: Fail <!channel>`" in github.comments[0][2]
    assert json.loads((first / "run.json").read_text())["notified"]["github"]["status"] == "ok"
    everything = json.dumps([slack.messages, github.comments]) + (first / "run.json").read_text()
    assert TOKEN not in everything
    assert slack.tokens == {TOKEN}


def test_repeated_notification_updates_its_messages(
    slack: SlackApi, github: GitHubApi, settings: dict[str, Any], tmp_path: Path
) -> None:
    run = _run(tmp_path)
    Notification(run, settings).send()
    document = json.loads((run / "run.json").read_text())
    lost = {"status": "failed", "why": "the store is full"}
    (run / "run.json").write_text(json.dumps({**document, "exit_code": 3, "export": lost}))
    # A lost message does not remove the former one's place.
    slack.refusals, github.failures = [(200, {})], [401]
    assert all(each.error for each in Notification(run, settings).send())
    assert [each.error for each in Notification(run, settings).send()] == ["", ""]
    (_parent, message), (comment,) = slack.messages, github.comments
    for text in (message["text"], comment[2]):
        assert "failed: cluster unreachable or unfit" in text
        assert "ot exported: `the store is full`" in text
    # A deleted message is replaced by a new one.
    slack.messages.pop()
    Notification(run, settings).send()
    assert len(slack.messages) == 2


def test_failed_message_is_reported_and_the_other_is_sent(settings: dict[str, Any], tmp_path: Path) -> None:
    run = _run(tmp_path)
    slack, github = Notification(run, {**settings, "notify_slack_url": NOWHERE}).send()
    assert "does not answer" in slack.error
    assert github.error == ""
    assert json.loads((run / "run.json").read_text())["notified"]["slack"]["status"] == "failed"
    assert json.loads((run / "run.json").read_text())["status"] == "failed"


def test_refusal_is_one_sentence(slack: SlackApi, github: GitHubApi, settings: dict[str, Any], tmp_path: Path) -> None:
    slack.refusals, github.failures = [(200, {})], [401]
    by_slack, by_github = Notification(_run(tmp_path), settings).send()
    assert by_slack.error == "Slack refuses a message to C1: ratelimited"
    assert f"GitHub refuses a comment on {REPOSITORY}#{NUMBER}: 401" in by_github.error


def test_refused_job_is_reported_to_its_pull_request(
    slack: SlackApi, github: GitHubApi, settings: dict[str, Any], tmp_path: Path
) -> None:
    _system, job = detect({"USER": "ada", "TEST_NAME": "scale-test", "ARTIFACT_DIR": str(tmp_path)})
    for why in ("one.md:3: /vra is no directive", "two.md:3: /vra\nghp_plantedPLANTED0123456789abcdefABCDEF is none"):
        notify_refusal({**settings, "notify_policy": "failure"}, job, why)
    assert "*scale-test: refused*" in slack.messages[1]["text"]
    (comment,) = (body for _author, _association, body in github.comments)
    assert "* `two.md:3: /vra (secret) is none`" in comment
    assert list(tmp_path.iterdir()) == []


def test_dry_run_sends_and_records_nothing(
    slack: SlackApi, github: GitHubApi, settings: dict[str, Any], tmp_path: Path
) -> None:
    run = _run(tmp_path)
    done = Notification(run, {**settings, "notify_slack_token": ""}, dry_run=True).send()
    assert [each.channel for each in done if "demo" in each.text] == ["slack", "github"]
    assert not slack.messages
    assert not github.comments
    assert "notified" not in json.loads((run / "run.json").read_text())


@pytest.mark.parametrize(
    ("policy", "former", "status", "sent"),
    [
        ("always", None, "ok", True),
        ("failure", None, "ok", False),
        ("failure", None, "failed", True),
        ("change", "ok", "ok", False),
        ("change", "ok", "failed", True),
        ("change", "failed", "ok", True),
        ("change", None, "ok", True),
    ],
)
def test_policy_decides_whether_to_notify(
    policy: str, former: str | None, status: str, sent: bool, tmp_path: Path
) -> None:
    if former:
        _run(tmp_path, "demo-20251231T000000Z-abcdef", status=former, started="2025-12-31T00:00:00.000Z")
    run = _run(tmp_path, status=status, exit_code=int(status != "ok"), reason=None)
    settings = {"notify_policy": policy, "notify_slack_channel": "C1"}
    assert bool(Notification(run, settings, dry_run=True).send()) is sent


def test_changed_kpis_are_reported_with_their_size_worst_first(tmp_path: Path) -> None:
    run = _run(tmp_path, status="ok", reason=None, exit_code=0)
    change = {"before": 2.0, "after": 2.5, "change": 0.25, "low": 0.2, "high": 0.3, "hedges_g": 4.2, "since": "demo-2"}
    kpis = [
        {"name": "rate", "unit": "workloads/s", "verdict": "better", "change": {**change, "change": 0.5}},
        {"name": "pod_ready_p99", "unit": "seconds", "verdict": "worse", "change": change},
        {"name": "lost", "unit": "workloads", "verdict": "same", "change": None},
    ]
    (run / "report").mkdir()
    document = {"schema": "psap.perf/regression/1", "recordings": [{"recording": "cell_0", "kpis": kpis}]}
    (run / "report" / "regression.json").write_text(json.dumps(document))
    message = message_of(run, (), "runs of a day")
    assert (message.status, [kpi.name for kpi in message.kpis]) == ("regression", ["pod_ready_p99", "rate"])
    text = render_message("github.md.j2", message, "")
    assert "| `pod_ready_p99` | worse | 2 to 2.5 seconds | +25.0 % | +20.0 % to +30.0 % | 4.2 | `demo-2` |" in text


def test_custom_template_takes_precedence(tmp_path: Path) -> None:
    (tmp_path / "slack.md.j2").write_text("{{ message.run }} {{ message.status }}")
    message = message_of(_run(tmp_path), (), "")
    assert render_message("slack.md.j2", message, str(tmp_path)) == "demo-20260101T000000Z-abcdef failed\n"
