"""The cells of a flow's matrix side by side: one Ansible prepares, one for each cell tests, one cleans up.

The driver holds the run and its attempt; the first and the last Ansible join that attempt, each cell has a
run directory and a run.json of its own below the run's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.run.command_directory import open_group
from ansible_collections.psap.perf.plugins.module_utils.run.directory import begin_attempt, end_attempt, hold, release
from ansible_collections.psap.perf.plugins.module_utils.run.environment import ATTEMPT, CELL, PARENT
from ansible_collections.psap.perf.plugins.module_utils.run.failures import failures_of
from ansible_collections.psap.perf.plugins.module_utils.settings.matrix import Cell, cells
from ansible_collections.psap.perf.plugins.module_utils.settings.static import values_of_run

from perfdrv.errors import EXIT_INTERRUPTED, EXIT_OK
from perfdrv.interrupts import Interrupts
from perfdrv.launch import Plan, Stage, open_directory
from perfdrv.outcome import Outcome, ending_of, read_outcome, settle
from perfdrv.processes import Finished
from perfdrv.project import Project
from perfdrv.request import RunRequest, json_vars

JOINED = "PERF_RUN_JOINED"
TEST, CLEANUP, CONCLUDE = "test", "cleanup", "conclude"


def launch_side_by_side(plan: Plan, jobs: int, done: Collection[int] = ()) -> Outcome:
    """Carry out a plan with at most *jobs* cells at once.

    Args:
        done: indexes of cells that an earlier attempt completed.
    """
    with Interrupts() as interrupts:
        directory = open_directory(plan)
        hold(directory)
        try:
            attempt = len(begin_attempt(directory, plan.facts())["attempts"])
            with closing(Stage(plan, directory, interrupts)) as stage:
                ending = _Matrix(plan, stage, directory, attempt).perform(jobs, done)
            end_attempt(directory, ending.status, ending.exit_code, ending.reason)
        finally:
            release(directory)
        return read_outcome(directory)


def matrix_cells(project: Project, flow: str, run_directory: Path) -> tuple[Cell, ...]:
    """The cells of a run, from the settings that it recorded."""
    values = values_of_run(run_directory)
    options = [option for option in project.content().settings_of(flow) if option.dimension]
    return cells(options, values, values.get("matrix_skip_if") or [], values.get("matrix_experiments") or [])


@dataclass(frozen=True, slots=True)
class _Ending:
    """How the attempt ended, as run.json takes it."""

    status: str
    exit_code: int
    reason: Mapping[str, Any] | None


class _Matrix:
    """One attempt at a run whose cells run side by side."""

    def __init__(self, plan: Plan, stage: Stage, directory: Path, attempt: int) -> None:
        self._plan = plan
        self._stage = stage
        self._directory = directory
        self._attempt = attempt
        self._first: _Ending | None = None

    def perform(self, jobs: int, done: Collection[int]) -> _Ending:
        """Prepare, test each cell, clean up; the first thing that failed is how it ended."""
        self._join(skip_tags=(TEST, CLEANUP, CONCLUDE), tags=self._plan.tags)
        if self._first is not None and self._first.status == "refused":
            # nothing was touched, so there is nothing to clean up
            return self._first
        if self._first is None and self._wanted(TEST):
            self._test(jobs, done)
        if not self._stage.follower.killed:
            self._join(tags=(CLEANUP, CONCLUDE) if self._wanted(CLEANUP) else (CONCLUDE,))
        if self._stage.follower.interrupted and (self._first is None or self._first.status != "failed"):
            return _Ending("interrupted", EXIT_INTERRUPTED, self._first.reason if self._first else None)
        return self._first or _Ending("ok", EXIT_OK, None)

    def _wanted(self, tag: str) -> bool:
        chosen = not self._plan.tags or tag in self._plan.tags or "all" in self._plan.tags
        return chosen and tag not in self._plan.skip_tags

    def _join(self, tags: tuple[str, ...] = (), skip_tags: tuple[str, ...] = ()) -> None:
        """Run a part of the flow as a part of this attempt."""
        request = replace(
            self._plan.request(self._directory),
            tags=tags,
            skip_tags=(*skip_tags, *self._plan.skip_tags),
            environment={JOINED: "1", ATTEMPT: str(self._attempt)},
        )
        for finished in self._stage.carry_out([request], 1):
            self._keep(self._failure_of(finished))

    def _failure_of(self, finished: Finished) -> _Ending | None:
        failures = failures_of(self._directory, self._attempt)
        if failures:
            first = failures[0]
            refused = first.exit_code == 2 and first.directory is None
            status = "interrupted" if first.interrupted else "refused" if refused else "failed"
            return _Ending(status, first.exit_code, first.reason())
        if finished.end.code == 0:
            return None
        return _Ending(*ending_of(finished, self._stage.follower.killed))

    def _test(self, jobs: int, done: Collection[int]) -> None:
        todo = [cell for cell in self._cells() if cell.index not in done]
        for finished in self._stage.carry_out(self._requests(todo), jobs):
            outcome = settle(finished, self._plan.facts(), self._stage.follower)
            if outcome.status != "ok":
                self._keep(_Ending(outcome.status, outcome.exit_code, outcome.reason))

    def _cells(self) -> tuple[Cell, ...]:
        return matrix_cells(self._plan.project, self._plan.flow, self._directory)

    def _requests(self, todo: list[Cell]) -> Iterator[RunRequest]:
        """One request for each cell, made when there is room for it."""
        stop_on_failure = values_of_run(self._directory).get("matrix_stop_on_failure")
        for cell in todo:
            if self._stage.follower.interrupted or (stop_on_failure and self._first is not None):
                return
            yield replace(
                self._plan.request(open_group(self._directory, f"cell__{cell.index}", self._attempt)),
                extra_vars=(*self._plan.extra_vars, json_vars({"perf_cells": [cell.index]})),
                tags=(TEST, CONCLUDE),
                environment={
                    PARENT: self._directory.name,
                    CELL: str(cell.index),
                    ATTEMPT: str(self._attempt),
                },
            )

    def _keep(self, ending: _Ending | None) -> None:
        if self._first is None:
            self._first = ending
