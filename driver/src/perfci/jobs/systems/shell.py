"""No CI system: a shell, in which ARTIFACT_DIR and SHARED_DIR may be set."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.processes import user_name

from perfci.jobs.job import Job, Link, folders, grace_of, kind_of

ARTIFACTS = "ci-artifacts"


class Shell:
    """A person, or a program that sets only the folders."""

    name = "shell"

    def is_here(self, environment: Mapping[str, str]) -> bool:  # noqa: ARG002
        """Return True."""
        return True

    def job(self, environment: Mapping[str, str]) -> Job:
        """Return a manual job of this user."""
        artifacts, shared = folders(environment, Path(ARTIFACTS))
        user = environment.get("USER") or user_name()
        return Job(
            system=self.name,
            kind=kind_of(environment, "manual"),
            name=environment.get("JOB_NAME", user),
            test=environment.get("TEST_NAME") or environment.get("JOB_NAME", "manual"),
            repository="",
            build=environment.get("BUILD_ID", ""),
            url="",
            artifacts=artifacts,
            artifacts_url="",
            shared=shared,
            shared_limit=None,
            grace=grace_of(environment, 30.0),
        )

    def show(self, job: Job, links: tuple[Link, ...], summary: str, environment: Mapping[str, str]) -> None:
        """Do nothing: a shell shows the output."""
