"""Notifications, to stand-ins of Slack and GitHub on the loopback interface that limit, fail and hold threads."""

from __future__ import annotations

import http.server
import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest
from perfdrv.notifying.message import message_of, rendered
from perfdrv.notifying.notify import Notification

from tests.http_servers import Quiet, served

# starts servers, and waits as the clients do when they are told to
pytestmark = pytest.mark.slow

TOKEN = "xoxb-planted-slack-word"
FAILED = {"what": "demo_fail: Fail <!channel>", "why": "no `luck` @org/all\nat all", "where": "x.yml:3 on host sutest"}


class StandIn(Quiet, http.server.BaseHTTPRequestHandler):
    """Both APIs: what is posted stays, and *refusals* are answered first."""

    messages: ClassVar[list[dict[str, Any]]]
    comments: ClassVar[list[dict[str, Any]]]
    refusals: ClassVar[list[tuple[int, dict[str, str]]]]

    def do_GET(self) -> None:
        """GitHub: an issue, and its comments."""
        if self._refused():
            return
        address = f"http://{self.headers['Host']}{self.path.partition('?')[0]}"
        if self.path.partition("?")[0].endswith("/comments"):
            self._answer(200, self.comments)
        else:
            self._answer(200, {"number": 7, "url": address, "html_url": "https://github.com/o/r/pull/7"})

    def do_POST(self) -> None:
        """GitHub: a new comment. Slack: a message, or the history."""
        content = self.rfile.read(int(self.headers["Content-Length"] or 0)).decode()
        if self._refused():
            return
        if self.path.endswith("/comments"):
            number = len(self.comments) + 1
            address = f"http://{self.headers['Host']}/repos/o/r/issues/comments/{number}"
            html = f"https://github.com/o/r/pull/7#issuecomment-{number}"
            self.comments.append({"id": number, "url": address, "html_url": html, **json.loads(content)})
            self._answer(201, self.comments[-1])
        elif self.path.endswith("conversations.history"):
            self._answer(200, {"ok": True, "messages": list(reversed(self.messages))})
        else:
            try:
                given = json.loads(content)
            except ValueError:
                given = dict(urllib.parse.parse_qsl(content))
            metadata = given.get("metadata")
            given["metadata"] = json.loads(metadata) if isinstance(metadata, str) else metadata
            self.messages.append({**given, "ts": f"{len(self.messages) + 1}.0"})
            self._answer(200, {"ok": True, "ts": self.messages[-1]["ts"]})

    def do_PATCH(self) -> None:
        """GitHub: another text of a comment."""
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        known = self.comments[int(self.path.rpartition("/")[2]) - 1]
        known.update(content)
        self._answer(200, known)

    def _refused(self) -> bool:
        if not self.refusals:
            return False
        code, headers = self.refusals.pop(0)
        self._answer(code, {"ok": False, "error": "ratelimited", "message": "You have exceeded a rate limit"}, headers)
        return True

    def _answer(self, code: int, document: object, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(document).encode()
        self.send_response(code)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture(name="address")
def _address() -> Iterator[str]:
    StandIn.messages, StandIn.comments, StandIn.refusals = [], [], []
    with served(StandIn) as address:
        yield address


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


def _settings(address: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    monkeypatch.setenv("SLACK_WORD", TOKEN)
    return {
        "notify_slack_channel": "C1",
        "notify_slack_token": "env:SLACK_WORD",
        "notify_slack_url": f"{address}/api/",
        "notify_github_pull": "https://github.com/o/r/pull/7",
        "github_url": address,
        "github_token": "env:SLACK_WORD",
    }


def test_runs_of_one_pull_request_are_told_in_one_thread_and_a_comment_each(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = _settings(address, monkeypatch)
    first, second = _run(tmp_path), _run(tmp_path, "demo-20260102T000000Z-abcdef", status="ok", reason=None)
    # what a limit refuses is sent once more
    StandIn.refusals = [(429, {"Retry-After": "1"})]
    for run in (first, second, first):
        assert [each.error for each in Notification(run, settings).send()] == ["", ""]
    parent, *replies = StandIn.messages
    assert parent["metadata"]["event_payload"] == {"subject": "o/r#7"}
    assert [each["thread_ts"] for each in replies] == [parent["ts"]] * 3
    assert "&lt;!channel&gt;" in replies[0]["text"]
    assert "ansible.log:2: fatal:" in replies[0]["text"]
    # a run that is told again has its comment changed
    assert len(StandIn.comments) == 2
    assert "**First failure:** `demo_fail: Fail <!channel>`" in StandIn.comments[0]["body"]
    assert json.loads((first / "run.json").read_text())["notified"]["github"]["status"] == "ok"
    everything = json.dumps([StandIn.messages, StandIn.comments]) + (first / "run.json").read_text()
    assert TOKEN not in everything


def test_a_lost_message_is_told_and_the_other_one_arrives(
    address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = _run(tmp_path)
    settings = {**_settings(address, monkeypatch), "notify_slack_url": "http://127.0.0.1:9/"}
    slack, github = Notification(run, settings).send()
    assert "does not answer" in slack.error
    assert github.error == ""
    assert json.loads((run / "run.json").read_text())["notified"]["slack"]["status"] == "failed"
    assert json.loads((run / "run.json").read_text())["status"] == "failed"


def test_a_refusal_is_one_sentence(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    StandIn.refusals = [(200, {}), (401, {})]
    slack, github = Notification(_run(tmp_path), _settings(address, monkeypatch)).send()
    assert slack.error == "Slack refuses a message to C1: ratelimited"
    assert "GitHub refuses a comment on o/r#7: 401" in github.error


def test_a_dry_run_sends_and_notes_nothing(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = _run(tmp_path)
    settings = {**_settings(address, monkeypatch), "notify_slack_token": ""}
    done = Notification(run, settings, dry_run=True).send()
    assert [each.channel for each in done if "demo" in each.text] == ["slack", "github"]
    assert StandIn.messages == StandIn.comments == []
    assert "notified" not in json.loads((run / "run.json").read_text())


@pytest.mark.parametrize(
    ("policy", "former", "status", "told"),
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
def test_the_policy_decides(policy: str, former: str | None, status: str, told: bool, tmp_path: Path) -> None:
    if former:
        _run(tmp_path, "demo-20251231T000000Z-abcdef", status=former, started="2025-12-31T00:00:00.000Z")
    run = _run(tmp_path, status=status, reason=None)
    settings = {"notify_policy": policy, "notify_slack_channel": "C1"}
    assert bool(Notification(run, settings, dry_run=True).send()) is told


def test_kpis_that_moved_are_told_with_their_size_the_worst_first(tmp_path: Path) -> None:
    run = _run(tmp_path, status="ok", reason=None, exit_code=0)
    change = {"before": 2.0, "after": 2.5, "change": 0.25, "low": 0.2, "high": 0.3}
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
    text = rendered("github.md.j2", message, "")
    assert "| `pod_ready_p99` | worse | +25.0 % (95 %: +20.0 % to +30.0 %), 2 to 2.5 seconds |" in text


def test_a_template_of_ones_own_comes_first(tmp_path: Path) -> None:
    (tmp_path / "slack.md.j2").write_text("{{ message.run }} {{ message.status }}")
    message = message_of(_run(tmp_path), (), "")
    assert rendered("slack.md.j2", message, str(tmp_path)) == "demo-20260101T000000Z-abcdef failed\n"
