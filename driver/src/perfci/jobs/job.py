"""The job that a CI system runs: who, what, which pull request, which build, where its artifacts go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol, get_args

from perfdrv.errors import UsageError

from perfci.github import PullRequest

Kind = Literal["presubmit", "postsubmit", "periodic", "rehearsal", "manual"]
"""A presubmit tests a pull request, a rehearsal tests a pull request that changes the job itself."""
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Job:
    """One build of a job.

    Attributes:
        system: name of the CI system, such as `prow`; `shell` where there is none.
        name: of the job as the CI system has it.
        test: its short name, which follows `/test` in a comment.
        repository: `owner/name` of what is tested; empty where it is unknown.
        build: id of the build; empty where there is none.
        url: page of the build; empty where there is none.
        artifacts: folder whose content the CI system keeps, that of this step where steps have one each.
        artifacts_url: where that content is shown; empty where it is unknown.
        shared: folder that all steps of the job see.
        shared_limit: bytes that all files in `shared` may have; None where there is no limit.
        grace: seconds between SIGTERM and SIGKILL.
        pull: None where no single pull request is tested.
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
    def identity(self) -> str:
        """The build in one word, for names and labels: `prow-scale-test-1912345678901234567`."""
        return "-".join(word for word in (self.system, self.test, self.build) if word)

    @property
    def steps_share_artifacts(self) -> bool:
        """Whether the steps of the job have one folder of artifacts, which is then where the run is."""
        return self.shared.is_relative_to(self.artifacts)


@dataclass(frozen=True, slots=True)
class Link:
    """Something to read about a job; `target` is a URL, or a file below its artifacts."""

    title: str
    target: str


class System(Protocol):
    """A CI system. To add one is to write such a class and to name it in `detection.py`."""

    name: str

    def is_here(self, environment: Mapping[str, str]) -> bool:
        """Whether a process with this environment was started by it."""

    def job(self, environment: Mapping[str, str]) -> Job:
        """The job.

        Raises:
            UsageError: the environment is not what the system documents.
        """

    def show(self, job: Job, links: tuple[Link, ...], summary: str, environment: Mapping[str, str]) -> None:
        """Put links, and a summary in Markdown, where the system shows them."""


def folders(environment: Mapping[str, str], artifacts: Path) -> tuple[Path, Path]:
    """The folders of artifacts and of what steps share: ARTIFACT_DIR and SHARED_DIR, or what the system has.

    Args:
        artifacts: where ARTIFACT_DIR is not set.
    """
    given = environment.get("ARTIFACT_DIR")
    chosen = (Path(given).expanduser() if given else artifacts).absolute()
    shared = environment.get("SHARED_DIR")
    return chosen, Path(shared).expanduser().absolute() if shared else chosen / ".shared"


def grace_of(environment: Mapping[str, str], usual: float) -> float:
    """Seconds between SIGTERM and SIGKILL: PERF_CI_GRACE, or what is usual in the system.

    Raises:
        UsageError: it is no number.
    """
    text = environment.get("PERF_CI_GRACE")
    try:
        grace = float(text) if text else usual
    except ValueError:
        grace = -1.0
    if not 0 < grace < 86400:
        raise UsageError(f"PERF_CI_GRACE must be a number of seconds, but is {text!r}.")
    return grace


def kind_of(environment: Mapping[str, str], found: Kind) -> Kind:
    """The kind of the job: PERF_CI_KIND, or the one *found*.

    Raises:
        UsageError: there is no such kind.
    """
    said = environment.get("PERF_CI_KIND", found)
    for kind in KINDS:
        if kind == said:
            return kind
    raise UsageError(f"PERF_CI_KIND is {said!r}, which is none of {', '.join(KINDS)}.")
