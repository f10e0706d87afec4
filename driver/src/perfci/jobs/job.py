"""The job that a CI system runs: its kind, pull request, build and folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, get_args, runtime_checkable

from perfdrv.errors import UsageError

from perfci.github import PullRequest

Kind = Literal["presubmit", "postsubmit", "periodic", "rehearsal", "manual"]
"""A presubmit tests a pull request; a rehearsal tests one that changes the job itself."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Job:
    """One build of a job.

    Attributes:
        system: Name of the CI system, such as `prow`; `shell` for none.
        name: Name of the job in the CI system.
        test: Its short name, which follows `/test` in a comment.
        repository: `owner/name` of the tested repository; empty if unknown.
        build: ID of the build, or empty.
        url: Page of the build, or empty.
        artifacts: Folder whose content the CI system keeps; this step's folder if each step has one.
        artifacts_url: URL of this content; empty if unknown.
        shared: Folder that all steps of the job share.
        shared_limit: Limit of `shared` in bytes; None for no limit.
        grace: Seconds between SIGTERM and SIGKILL.
        pull: None unless a single pull request is tested.
    """

    system: str
    kind: Kind
    name: str
    test: str
    repository: str
    build: str
    url: str
    artifacts: Path
    artifacts_url: str
    shared: Path
    shared_limit: int | None
    grace: float
    pull: PullRequest | None = None

    @property
    def tests_pull_request(self) -> bool:
        """Whether it tests something that is not merged yet."""
        return self.kind in ("presubmit", "rehearsal")

    @property
    def identity(self) -> str:
        """The build in one word, for names and labels, such as `prow-scale-test-1912345678901234567`."""
        return "-".join(word for word in (self.system, self.test, self.build) if word)

    @property
    def steps_share_artifacts(self) -> bool:
        """Whether all steps of the job have one folder of artifacts, which then contains the run."""
        return self.shared.is_relative_to(self.artifacts)


@dataclass(frozen=True, slots=True)
class Link:
    """A link for readers of a job; `target` is a URL, or a file below its artifacts."""

    title: str
    target: str


@runtime_checkable
class System(Protocol):
    """A CI system; list a new class in `detection.py`, or name an object of another package by an entry point."""

    name: str

    def is_here(self, environment: Mapping[str, str]) -> bool:
        """Return whether the system started a process with this environment."""

    def job(self, environment: Mapping[str, str]) -> Job:
        """Return the job.

        Raises:
            UsageError: The environment is not what the system documents.
        """

    def show(self, job: Job, links: tuple[Link, ...], summary: str, environment: Mapping[str, str]) -> None:
        """Write links and a summary in Markdown to where the system shows them."""


def folders(environment: Mapping[str, str], artifacts: Path) -> tuple[Path, Path]:
    """Return the folders ARTIFACT_DIR and SHARED_DIR.

    Args:
        artifacts: The folder of the artifacts if ARTIFACT_DIR is not set; SHARED_DIR is then below it.
    """
    given = environment.get("ARTIFACT_DIR")
    chosen = (Path(given).expanduser() if given else artifacts).absolute()
    shared = environment.get("SHARED_DIR")
    return chosen, Path(shared).expanduser().absolute() if shared else chosen / ".shared"


def grace_of(environment: Mapping[str, str], usual: float) -> float:
    """Return the seconds between SIGTERM and SIGKILL: PERF_CI_GRACE, or the usual ones of the system.

    Raises:
        UsageError: PERF_CI_GRACE is not a number of seconds.
    """
    text = environment.get("PERF_CI_GRACE")
    try:
        grace = float(text) if text else usual
    except ValueError:
        grace = -1.0
    if not 0 < grace < 86400:
        raise UsageError(f"invalid PERF_CI_GRACE {text!r}: set a number of seconds")
    return grace


def kind_of(environment: Mapping[str, str], found: Kind) -> Kind:
    """Return the kind of the job: PERF_CI_KIND, or the detected one.

    Raises:
        UsageError: There is no such kind.
    """
    named = environment.get("PERF_CI_KIND", found)
    for kind in KINDS:
        if kind == named:
            return kind
    raise UsageError(f"invalid PERF_CI_KIND {named!r}: set one of {', '.join(KINDS)}")
