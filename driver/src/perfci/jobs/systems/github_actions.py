"""GitHub Actions: its default environment variables, and the event that started the workflow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from perfdrv.errors import UsageError

from perfci.github import PullRequest
from perfci.jobs.job import Job, Kind, Link, folders, grace_of, kind_of

_KINDS: Mapping[str, Kind] = {
    "pull_request": "presubmit",
    "pull_request_target": "presubmit",
    # the comment that requests the test
    "issue_comment": "presubmit",
    "push": "postsubmit",
    "schedule": "periodic",
}
# SIGINT, 7.5 s later SIGTERM, 2.5 s later SIGKILL
_GRACE = 10.0


class GitHubActions:
    """A job of a workflow."""

    name = "github_actions"

    def is_here(self, environment: Mapping[str, str]) -> bool:
        """Return whether GITHUB_ACTIONS is set."""
        return environment.get("GITHUB_ACTIONS") == "true"

    def job(self, environment: Mapping[str, str]) -> Job:
        """Return the job of a workflow's run."""
        try:
            repository, build = environment["GITHUB_REPOSITORY"], environment["GITHUB_RUN_ID"]
            name = environment["GITHUB_JOB"]
        except KeyError as error:
            raise UsageError(f"GITHUB_ACTIONS is set, but {error} is not: unset it outside GitHub Actions") from error
        server = environment.get("GITHUB_SERVER_URL", "https://github.com")
        attempt = environment.get("GITHUB_RUN_ATTEMPT", "1")
        artifacts, shared = folders(environment, Path(environment.get("RUNNER_TEMP") or ".") / "artifacts")
        return Job(
            system=self.name,
            kind=kind_of(environment, _KINDS.get(environment.get("GITHUB_EVENT_NAME", ""), "manual")),
            name=f"{environment.get('GITHUB_WORKFLOW', '')}/{name}".lstrip("/"),
            test=environment.get("TEST_NAME") or name,
            repository=repository,
            build=build if attempt == "1" else f"{build}-{attempt}",
            url=f"{server}/{repository}/actions/runs/{build}",
            artifacts=artifacts,
            # a workflow uploads one archive, whose files have no URLs
            artifacts_url="",
            shared=shared,
            shared_limit=None,
            grace=grace_of(environment, _GRACE),
            pull=_pull_of(environment, repository, server),
        )

    def show(self, job: Job, links: tuple[Link, ...], summary: str, environment: Mapping[str, str]) -> None:  # noqa: ARG002
        """Append the summary to the page of the workflow's run."""
        path = environment.get("GITHUB_STEP_SUMMARY")
        if path:
            with Path(path).open("a", encoding="utf-8") as stream:
                stream.write(f"{summary.rstrip()}\n\n")


def _pull_of(environment: Mapping[str, str], repository: str, server: str) -> PullRequest | None:
    """Return the pull request of the event; None for an issue."""
    path = environment.get("GITHUB_EVENT_PATH")
    if not path:
        return None
    try:
        event: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        issue = event.get("issue") or {}
        found = event.get("pull_request") or (issue if issue.get("pull_request") else None)
        if not found:
            return None
        number, author = int(found["number"]), str((found.get("user") or {}).get("login", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"GITHUB_EVENT_PATH: {path} is not an event of GitHub ({type(error).__name__})") from error
    return PullRequest(repository, number, author, f"{server}/{repository}/pull/{number}")
