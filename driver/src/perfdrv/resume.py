"""Going on with a run that was interrupted or failed: a new attempt at the cells that are not complete."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.run.directory import is_held

from perfdrv.errors import UsageError
from perfdrv.launch import Plan, launch
from perfdrv.matrix import launch_side_by_side, matrix_cells
from perfdrv.outcome import Outcome
from perfdrv.request import json_vars
from perfdrv.tree import RunTree


def launch_plan(plan: Plan, jobs: int) -> Outcome:
    """Start a run."""
    return launch_side_by_side(plan, jobs) if jobs > 1 else launch(plan)


def resume_plan(plan: Plan, directory: Path, jobs: int) -> Outcome:
    """Go on with the run in *directory*, with the settings that it recorded.

    Raises:
        UsageError: somebody works on it, or it never came to its settings.
    """
    require_at_rest(directory)
    if not (directory / "settings.yml").is_file():
        raise UsageError(f"{directory.name} ended before its settings were known: start it anew.")
    done = completed_cells(directory)
    if jobs > 1:
        return launch_side_by_side(plan, jobs, done)
    todo = [cell.index for cell in matrix_cells(plan.project, plan.flow, directory) if cell.index not in done]
    return launch(replace(plan, extra_vars=(*plan.extra_vars, json_vars({"perf_cells": todo}))))


def completed_cells(directory: Path) -> set[int]:
    """Indexes of the cells that any attempt at a run has completed."""
    return {int(step.name) for step in RunTree(directory).steps() if step.kind == "cell" and step.status == "ok"}


def require_at_rest(directory: Path) -> None:
    """Refuse a run that somebody works on.

    Raises:
        UsageError: it is being worked on.
    """
    if is_held(directory):
        raise UsageError(f"{directory.name} is still running; wait for it, or stop it where it was started.")
