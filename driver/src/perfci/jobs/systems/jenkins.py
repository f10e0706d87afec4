"""Jenkins: its environment variables, with those of the branch source and of the pull request builder for GitHub."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from perfdrv.errors import UsageError

from perfci.github import PullRequest
from perfci.jobs.job import Job, Kind, Link, folders, grace_of, kind_of

_PULL = re.compile(r"https?://[^/]+/(?P<repository>[^/]+/[^/]+)/pull/(?P<number>\d+)/?")
_REPOSITORY = re.compile(r"(?:.*[:/])?(?P<name>[^/:]+/[^/]+?)(?:\.git)?/?")
# a durable task gets SIGTERM, and later SIGKILL from the agent
_GRACE = 20.0


class Jenkins:
    """A build of a freestyle, pipeline or multibranch job."""

    name = "jenkins"

    def is_here(self, environment: Mapping[str, str]) -> bool:
        """Return whether JENKINS_URL is set."""
        return bool(environment.get("JENKINS_URL"))

    def job(self, environment: Mapping[str, str]) -> Job:
        """Return the job of a build."""
        build, name = environment.get("BUILD_NUMBER"), environment.get("JOB_NAME")
        if not build or not name:
            raise UsageError("JENKINS_URL is set, but BUILD_NUMBER or JOB_NAME is not: unset it outside Jenkins")
        pull = _pull_of(environment)
        workspace = Path(environment.get("WORKSPACE") or ".")
        artifacts, shared = folders(environment, workspace / "artifacts" / build)
        url = environment.get("BUILD_URL", "")
        of_timer = "TimerTrigger" in environment.get("BUILD_CAUSE", "") + environment.get("ROOT_BUILD_CAUSE", "")
        found: Kind = "presubmit" if pull else "periodic" if of_timer else "manual"
        return Job(
            system=self.name,
            kind=kind_of(environment, found),
            name=name,
            test=environment.get("TEST_NAME") or _short(name, pull is not None),
            repository=pull.repository if pull else _repository(environment.get("GIT_URL", "")),
            build=build,
            url=url,
            artifacts=artifacts,
            artifacts_url=f"{url.rstrip('/')}/artifact/" if url else "",
            shared=shared,
            shared_limit=None,
            grace=grace_of(environment, _GRACE),
            pull=pull,
        )

    def show(self, job: Job, links: tuple[Link, ...], summary: str, environment: Mapping[str, str]) -> None:
        """Do nothing: Jenkins shows the files and JUnit results that the Jenkinsfile archives."""


def _pull_of(environment: Mapping[str, str]) -> PullRequest | None:
    match = _PULL.fullmatch(environment.get("CHANGE_URL") or environment.get("ghprbPullLink") or "")
    if match is None:
        return None
    author = environment.get("CHANGE_AUTHOR") or environment.get("ghprbPullAuthorLogin") or ""
    return PullRequest(match["repository"], int(match["number"]), author, match[0])


def _short(name: str, of_pull: bool) -> str:
    """Return the name without the branch or PR-123, which is the last part of a multibranch job's."""
    parts = name.split("/")
    return parts[-2] if of_pull and len(parts) > 1 and parts[-1].startswith("PR-") else parts[-1]


def _repository(address: str) -> str:
    match = _REPOSITORY.fullmatch(address)
    return match["name"] if match else ""
