"""The document ``pipelines.json``: the runs of pipelines, and how many were in each state over time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from ansible_collections.psap.perf.plugins.module_utils.base.documents import plain

SCHEMA = "psap.perf/pipelines/1"
FILE = "pipelines.json"
Phase = Literal["Pending", "Running", "Succeeded", "Failed", "Error"]


@dataclass(frozen=True, slots=True)
class RunStep:
    """A pod of a run's workflow; ``phase`` is Argo's phase of the node."""

    name: str
    start_s: float | None
    end_s: float | None
    phase: str


@dataclass(frozen=True, slots=True)
class PipelineRun:
    """A run of a pipeline. Times are seconds since the epoch; None if the run did not get so far.

    Attributes:
        user: Index of its user.
        project: Its namespace.
        run: Its name, unique in its project.
        number: Its number among the runs of its user, from 1, in the order of creation.
        phase: The last phase of its workflow.
        message: The message of its workflow, or the error of the request.
    """

    user: int
    project: str
    run: str
    number: int
    phase: Phase
    workflow: str | None = None
    created_s: float | None = None
    started_s: float | None = None
    finished_s: float | None = None
    message: str | None = None
    steps: tuple[RunStep, ...] = ()


@dataclass(frozen=True, slots=True)
class StateSample:
    """The number of runs in each state at one time; ``failed`` includes the phase Error.

    Attributes:
        reconciles: Concurrent reconciles of the controller; None if not observed.
    """

    at_s: float
    running: int
    pending: int
    succeeded: int
    failed: int
    reconciles: int | None = None


@dataclass(frozen=True, slots=True)
class PipelinesResult:
    """All runs of a test; ``lab`` is the lab as in ``run.json``, None for any other cluster."""

    runs: tuple[PipelineRun, ...]
    state: tuple[StateSample, ...]
    lab: Mapping[str, Any] | None = None

    def document(self) -> dict[str, Any]:
        """Return the contents of ``pipelines.json``."""
        document: dict[str, Any] = plain({"schema": SCHEMA, **asdict(self)})
        return document
