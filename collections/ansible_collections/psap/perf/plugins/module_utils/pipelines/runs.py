"""Runs of pipelines, from the Workflows that Argo runs for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from ansible_collections.psap.perf.plugins.module_utils.base.clock import stamp
from ansible_collections.psap.perf.plugins.module_utils.kube_api.manifests import Manifest
from ansible_collections.psap.perf.plugins.module_utils.pipelines.document import (
    Phase,
    PipelineRun,
    RunStep,
    StateSample,
)

RUN_NAME = "pipelines.kubeflow.org/run_name"
_ENDED = ("Succeeded", "Failed", "Error")
_FAILED = ("Failed", "Error")
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Requested:
    """A run that a notebook requested.

    Attributes:
        asked_s: The time of its request; None if the notebook did not record it.
        error: Why the API refused it; empty if it did not.
    """

    name: str
    asked_s: float | None = None
    error: str = ""


def by_run_name(workflows: Iterable[Manifest], names: Iterable[str]) -> dict[str, Manifest]:
    """Return the Workflows of the runs *names*, by these."""
    wanted = set(names)
    named = ((_run_name(each), each) for each in workflows)
    return {name: each for name, each in named if name in wanted}


def _run_name(workflow: Manifest) -> str:
    return str((workflow["metadata"].get("annotations") or {}).get(RUN_NAME, ""))


def pipeline_runs(
    requested: Sequence[Requested], workflows: Mapping[str, Manifest], user: int, project: str, first: int
) -> tuple[PipelineRun, ...]:
    """Return the present state of the runs.

    Args:
        workflows: Their Workflows by the run's name; without one, a run is pending.
        user: Index of their user.
        project: Their namespace.
        first: Number of the first one among the runs of the user.
    """
    return tuple(
        _run(each, workflows.get(each.name), user, project, number) for number, each in enumerate(requested, first)
    )


def _run(requested: Requested, workflow: Manifest | None, user: int, project: str, number: int) -> PipelineRun:
    where = (user, project, requested.name, number)
    if workflow is None:
        phase: Phase = "Error" if requested.error else "Pending"
        return PipelineRun(*where, phase, created_s=requested.asked_s, message=requested.error or None)
    status = workflow.get("status") or {}
    created, started = _seconds(workflow["metadata"].get("creationTimestamp")), _seconds(status.get("startedAt"))
    asked = created if requested.asked_s is None else requested.asked_s
    # Argo's times are whole seconds, rounded down
    started = started if started is None or asked is None else max(started, asked)
    return PipelineRun(
        *where,
        _phase(status),
        workflow=str(workflow["metadata"]["name"]),
        created_s=asked,
        started_s=started,
        finished_s=_not_before(started, _seconds(status.get("finishedAt"))),
        message=status.get("message") or None,
        steps=tuple(_step(node) for node in _pods(status)),
    )


def _phase(status: Mapping[str, Any]) -> Phase:
    phase = status.get("phase")
    return cast(Phase, phase) if phase in get_args(Phase) else "Pending"


def _pods(status: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    pods = [node for node in (status.get("nodes") or {}).values() if node.get("type") == "Pod"]
    return sorted(pods, key=lambda node: (node.get("startedAt") or "", node.get("name", "")))


def _step(node: Mapping[str, Any]) -> RunStep:
    name = str(node.get("displayName") or node.get("name"))
    return RunStep(name, _seconds(node.get("startedAt")), _seconds(node.get("finishedAt")), str(node.get("phase", "")))


def _seconds(text: str | None) -> float | None:
    found = stamp(text)
    return found.server_s if found else None


def _not_before(start: float | None, end: float | None) -> float | None:
    return end if start is None or end is None else max(start, end)


def states(runs: Iterable[PipelineRun]) -> tuple[StateSample, ...]:
    """Return the number of runs in each state, at each time at which a run changed its state."""
    changes: list[tuple[float, str, str]] = []
    for run in runs:
        if run.created_s is None:
            continue
        if run.workflow is None and run.phase == "Error":
            changes.append((run.created_s, "", "failed"))
            continue
        changes.append((run.created_s, "", "pending"))
        if run.started_s is not None:
            changes.append((run.started_s, "pending", "running"))
        if run.finished_s is not None:
            before = "pending" if run.started_s is None else "running"
            changes.append((run.finished_s, before, "failed" if run.phase in _FAILED else "succeeded"))
    counts = dict.fromkeys(("running", "pending", "succeeded", "failed"), 0)
    samples: dict[float, StateSample] = {}
    # stable: the changes of a run stay in their order
    for at_s, before, after in sorted(changes, key=lambda change: change[0]):
        counts[after] += 1
        if before:
            counts[before] -= 1
        samples[at_s] = StateSample(at_s, **counts)
    return tuple(samples.values())


def all_ended(runs: Iterable[PipelineRun]) -> bool:
    """Return whether each run has succeeded or failed."""
    return all(run.phase in _ENDED for run in runs)


def progress(runs: Sequence[PipelineRun]) -> str:
    """Return how many runs have ended, and the state of the first others."""
    left = [run for run in runs if run.phase not in _ENDED]
    shown = ", ".join(f"{run.run} {_state(run)}" for run in left[:_SHOWN])
    more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
    ended = f"{len(runs) - len(left)} of {len(runs)} runs have ended"
    return f"{ended}: {shown}{more}" if left else ended


def _state(run: PipelineRun) -> str:
    return "has no Workflow" if run.workflow is None else f"is {run.phase}"


def failures(runs: Sequence[PipelineRun]) -> str:
    """Return which runs failed, and why; empty if none did."""
    failed = [run for run in runs if run.phase in _FAILED]
    if not failed:
        return ""
    shown = "; ".join(f"{run.run}: {run.phase}{_reason(run)}" for run in failed[:_SHOWN])
    more = f"; and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
    return f"{len(failed)} of {len(runs)} runs failed: {shown}{more}"


def _reason(run: PipelineRun) -> str:
    step = next((step.name for step in run.steps if step.phase in _FAILED), "")
    at = f" in step {step}" if step else ""
    return f"{at}, {run.message}" if run.message else at
