"""Resuming an interrupted or failed run: a new attempt at the cells that are not complete."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.directory import is_held, refuse_links
from ansible_collections.psap.perf.plugins.module_utils.settings.static import connection_of_run

from perfdrv.ansible.request import RunRequest, json_vars
from perfdrv.errors import UsageError
from perfdrv.execution.launch import launch
from perfdrv.execution.matrix import launch_matrix, matrix_cells
from perfdrv.runs.outcome import Outcome, read_outcome
from perfdrv.runs.tree import RunTree


def resume_vars(directory: Path) -> str:
    """Return the extra vars of a further attempt at a run: its settings, and its connections to hosts and clusters."""
    return json_vars({**connection_of_run(directory), "perf_replay": str(directory)})


def start(request: RunRequest, jobs: int) -> Outcome:
    """Start a run."""
    return launch_matrix(request, jobs) if jobs > 1 else launch(request)


def resume(request: RunRequest, jobs: int) -> Outcome:
    """Resume the run in the request's directory, with the settings that it recorded.

    Raises:
        UsageError: A process holds the run, or the run ended before it recorded its settings.
    """
    directory = request.directory
    require_at_rest(directory)
    if not (directory / "settings.yml").is_file():
        raise UsageError(f"{directory.name} ended before it recorded its settings: start a new run")
    request = replace(request, extra_vars=(resume_vars(directory), *request.extra_vars))
    done, former = completed_cells(directory), read_outcome(directory).document()

    def keep(outcome: Outcome) -> Mapping[str, Any]:
        # a refused attempt does not change the result of the run
        return former if outcome.status == "refused" else {}

    if jobs > 1:
        return launch_matrix(request, jobs, done, keep)
    todo = [cell.index for cell in matrix_cells(request.project, request.flow, directory) if cell.index not in done]
    return launch(replace(request, extra_vars=(*request.extra_vars, json_vars({"perf_cells": todo}))), keep)


def completed_cells(directory: Path) -> set[int]:
    """Return the indexes of the cells that any attempt at a run completed."""
    return {int(step.name) for step in RunTree(directory).steps() if step.kind == "cell" and step.status == "ok"}


def require_at_rest(directory: Path) -> None:
    """Refuse a run that a process holds, and one that cannot be written safely.

    Raises:
        UsageError: A process holds the run, or its directory has symbolic links.
    """
    if is_held(directory):
        raise UsageError(f"{directory.name} is still running: wait for it, or stop it where it was started")
    refuse_links(directory)
