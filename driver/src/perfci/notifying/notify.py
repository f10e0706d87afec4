"""Notifications about a run by its settings: targets, conditions, and lost ones, which fail nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now
from ansible_collections.psap.perf.plugins.module_utils.base.credentials import hide
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.run.directory import hold, read_run, release, update_run
from ansible_collections.psap.perf.plugins.module_utils.secrets.leaks import Redactor, credentials_of_environment
from ansible_collections.psap.perf.plugins.module_utils.secrets.references import remembered_values
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run
from perfdrv.errors import DriverError, UsageError
from perfdrv.runs.store import list_runs

from perfci.exporting.runs import value_of
from perfci.github import Access, PullRequest, pull_request_of
from perfci.jobs.job import Job
from perfci.notifying.github import comment
from perfci.notifying.message import Link, Message, message_of, refusal_of, render_message, slack_text
from perfci.notifying.slack import SlackAccess, post

PREFIX = "notify_"
FACT = "notified"
_ALWAYS, _FAILURE = "always", "failure"
_SLACK, _GITHUB = "slack", "github"


@dataclass(frozen=True, slots=True)
class NotificationResult:
    """The result of a notification.

    Attributes:
        text: The message, also in a dry run.
        to: Where it is: the channel and time stamp, or the URL of the comment.
        error: Why it was lost; empty if it was sent.
    """

    channel: str
    text: str
    to: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Notification:
    """The notifications about a run.

    Attributes:
        settings: Values of the settings `notify_…` and `github_…`.
        refusal: Why the job was refused before its run, which then has no run.json to record notifications in.
    """

    run: Path
    settings: Mapping[str, Any]
    job: Job | None = None
    dry_run: bool = False
    refusal: str = ""

    def _value(self, name: str) -> str:
        return str(self.settings.get(f"{PREFIX}{name}") or "")

    @property
    def pull(self) -> PullRequest | None:
        """The pull request of the settings, or the job's.

        Raises:
            UsageError: The settings have an invalid URL.
        """
        named = self._value("github_pull")
        return pull_request_of(named) if named else self.job.pull if self.job else None

    @property
    def channels(self) -> tuple[str, ...]:
        """The channels that the settings select."""
        slack = [_SLACK] if self._value("slack_channel") else []
        github = [_GITHUB] if self.settings.get(f"{PREFIX}github") or self._value("github_pull") else []
        return (*slack, *github)

    def message(self) -> Message:
        """Return the message."""
        pull = self.pull
        links = [Link("pull request", pull.url)] if pull else []
        if self.job and self.job.url:
            links.append(Link("job", self.job.url))
        if self.job and self.job.artifacts_url:
            links.append(Link("files of the job", self.job.artifacts_url))
        about = str(pull) if pull else f"runs of {utc_now().partition('T')[0]}"
        if self.refusal:
            return refusal_of(self.run.name, self.job.test if self.job else "", self.refusal, tuple(links), about)
        return message_of(self.run, tuple(links), about)

    def is_wanted(self, message: Message) -> bool:
        """Return whether the policy includes this message."""
        policy = self._value("policy") or _ALWAYS
        if policy == _ALWAYS or self.refusal:
            return True
        if policy == _FAILURE:
            return not message.good
        former = [
            entry.status
            for entry in list_runs(self.run.parent)
            if entry.document.get("flow") == message.flow
            and entry.id != message.run
            and str(entry.document.get("started") or "") < _started(self.run)
        ]
        moved = any(kpi.verdict != "different" for kpi in message.kpis)
        # the first run counts as a change
        return moved or not former or former[-1] != message.status

    def send(self) -> tuple[NotificationResult, ...]:
        """Send to all channels, independently of each other, and record the results in run.json.

        Errors are in the results. A dry run sends and records nothing.
        """
        try:
            message = self.message()
            if not self.channels or not self.is_wanted(message):
                return ()
        except (PerfError, DriverError) as error:
            return (NotificationResult("notification", "", error=hide(str(error))),)
        done = tuple(self._send(channel, message) for channel in self.channels)
        if not self.dry_run and not self.refusal:
            self._record(done)
        return done

    def _send(self, channel: str, message: Message) -> NotificationResult:
        redactor = Redactor(credentials_of_environment())
        text = ""
        try:
            for value in () if self.refusal else remembered_values(self.run, lambda _name: None):
                redactor.add(value)
            template = {_SLACK: "slack.md.j2", _GITHUB: "github.md.j2"}[channel]
            text = hide(redactor.redact(render_message(template, message, self._value("templates"))))
            return self._sender(channel)(message, text)
        except (PerfError, DriverError) as error:
            return NotificationResult(channel, text, error=hide(redactor.redact(str(error))))

    def _sender(self, channel: str) -> Callable[[Message, str], NotificationResult]:
        return {_SLACK: self._to_slack, _GITHUB: self._to_github}[channel]

    def _to_slack(self, message: Message, text: str) -> NotificationResult:
        channel = self._value("slack_channel")
        if self.dry_run:
            return NotificationResult(_SLACK, text, channel)
        token = self._value("slack_token")
        if not token:
            raise UsageError("notify_slack_channel needs notify_slack_token, a reference to the token of a Slack app")
        access = SlackAccess(channel, value_of(token), self._value("slack_url"))
        known, _, former = self._former(_SLACK).partition(" ")
        title = f"*{slack_text(message.about)}*"
        stamp = post(access, message.about, title, text, former if known == channel else "")
        return NotificationResult(_SLACK, text, f"{channel} {stamp}")

    def _to_github(self, message: Message, text: str) -> NotificationResult:
        pull = self.pull
        if pull is None:
            raise UsageError("no pull request to comment on: set notify_github_pull, or run the flow as a CI job")
        if self.dry_run:
            return NotificationResult(_GITHUB, text, str(pull))
        return NotificationResult(_GITHUB, text, comment(Access.of(self.settings), pull, self._subject(message), text))

    def _subject(self, message: Message) -> str:
        """Return what the comment is about: the job, whose later builds update it, or the run of no job."""
        return f"job {self.job.name}" if self.job and self.job.pull else message.run

    def _former(self, channel: str) -> str:
        """Return the place of an earlier notification about this run, or an empty string."""
        document = {} if self.refusal else read_run(self.run).document
        former = (document.get(FACT) or {}).get(channel) or {}
        return str(former.get("to") or "")

    def _record(self, done: tuple[NotificationResult, ...]) -> None:
        try:
            hold(self.run)
            try:
                update_run(self.run, {FACT: {each.channel: self._fact(each) for each in done}})
            finally:
                release(self.run)
        except PerfError:
            # another process holds the run, or the disk is full; the messages are sent nevertheless
            return

    def _fact(self, result: NotificationResult) -> dict[str, str]:
        """Return the entry of run.json; a lost notification keeps the place of an earlier one."""
        status = {"status": "failed", "why": result.error} if result.error else {"status": "ok"}
        to = result.to or self._former(result.channel)
        return {**status, "at": utc_now(), **({"to": to} if to else {})}


def _started(run: Path) -> str:
    return next(
        (str(each.document.get("started") or "") for each in list_runs(run.parent) if each.directory == run), ""
    )


def notification_of(run: Path, given: Mapping[str, Any], job: Job | None = None, dry_run: bool = False) -> Notification:
    """Return the notifications about a run, by its recorded settings and those given, which override them."""
    recorded = values_of_run(run) if (run / "settings.yml").is_file() else {}
    settings = {**recorded, **{name: value for name, value in given.items() if value}}
    return Notification(run, settings, job, dry_run or bool(settings.get(f"{PREFIX}dry_run")))
