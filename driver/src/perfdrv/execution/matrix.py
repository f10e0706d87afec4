"""Concurrent cells of a flow's matrix: one Ansible prepares, one for each cell tests, one cleans up.

The driver holds the run and its attempt. The first and the last Ansible join that attempt; each cell has a separate run
directory with a run.json below the run's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError
from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_group
from ansible_collections.psap.perf.plugins.module_utils.run.environment import ATTEMPT, CELL, PARENT
from ansible_collections.psap.perf.plugins.module_utils.run.phases import CLEANUP, CONCLUDE, TEST
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell, cells
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run

from perfdrv.ansible.request import RunRequest, json_vars
from perfdrv.errors import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK
from perfdrv.execution.launch import Attempt, Keep, launch_attempt
from perfdrv.execution.settle import settle
from perfdrv.project import Project
from perfdrv.runs.outcome import Outcome


def launch_matrix(request: RunRequest, jobs: int, done: Collection[int] = (), keep: Keep | None = None) -> Outcome:
    """Carry out a request with at most *jobs* concurrent cells.

    Args:
        done: Indexes of the cells that an earlier attempt completed.
        keep: As for `launch_attempt`.
    """
    return launch_attempt(request, lambda attempt: _Matrix(attempt).perform(jobs, done), keep)


def matrix_cells(project: Project, flow: str, run_directory: Path) -> tuple[Cell, ...]:
    """Return the cells of a run, from the settings that it recorded."""
    values = values_of_run(run_directory)
    options = [option for option in project.content().settings_of(flow) if option.dimension]
    return cells(options, values, values.get("matrix_skip_if") or [], values.get("matrix_experiments") or [])


class _Matrix:
    """One attempt at a run with concurrent cells."""

    def __init__(self, attempt: Attempt) -> None:
        self._attempt = attempt
        self._request = attempt.request
        self._stop = attempt.stage.follower
        self._first: Outcome | None = None

    def perform(self, jobs: int, done: Collection[int]) -> Outcome:
        """Prepare, test each cell, clean up; return the first outcome that is not ok."""
        self._keep(self._attempt.join(skip_tags=(TEST, CLEANUP, CONCLUDE), tags=self._request.tags))
        if self._first is not None and self._first.status == "refused":
            # nothing was changed, so there is nothing to clean up
            return self._first
        if self._first is None and self._request.wants(TEST):
            try:
                self._test(jobs, done)
            except (PerfError, OSError) as error:
                # clean up even if a cell has no directory, as on a full disk
                self._keep(Outcome(self._request.directory, "failed", EXIT_FAILED, {"what": str(error)}))
        ended = self._ending()
        if not self._stop.killed:
            self._attempt.record_cleanup(ended)
        return ended

    def _ending(self) -> Outcome:
        """Clean up and conclude; return the outcome of the whole run."""
        if not self._stop.killed:
            self._keep(self._attempt.join(tags=(CLEANUP, CONCLUDE) if self._request.wants(CLEANUP) else (CONCLUDE,)))
        ended = self._first or Outcome(self._request.directory, "ok", EXIT_OK)
        if self._stop.interrupted and ended.status != "failed":
            return replace(ended, status="interrupted", exit_code=EXIT_INTERRUPTED)
        return ended

    def _test(self, jobs: int, done: Collection[int]) -> None:
        cells = matrix_cells(self._request.project, self._request.flow, self._request.directory)
        requests = self._requests([cell for cell in cells if cell.index not in done])
        for finished in self._attempt.stage.carry_out(requests, jobs):
            self._keep(settle(finished, self._attempt.facts, self._stop))

    def _requests(self, todo: list[Cell]) -> Iterator[RunRequest]:
        """Yield one request for each cell when a worker is free."""
        directory, number = self._request.directory, self._attempt.number
        stop_on_failure = values_of_run(directory).get("matrix_stop_on_failure")
        for cell in todo:
            if self._stop.interrupted or (stop_on_failure and self._first is not None):
                return
            yield replace(
                self._request,
                run_directory=open_group(directory, f"cell__{cell.index}", number),
                extra_vars=(*self._request.extra_vars, json_vars({"perf_cells": [cell.index]})),
                tags=(TEST, CONCLUDE),
                environment={PARENT: directory.name, CELL: str(cell.index), ATTEMPT: str(number)},
            )

    def _keep(self, outcome: Outcome) -> None:
        if self._first is None and outcome.status != "ok":
            # the outcome of the cell's run is the outcome of the cell
            self._first = replace(outcome, directory=self._request.directory)
