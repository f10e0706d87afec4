"""The project that an invocation works on, for its commands."""

from __future__ import annotations

from pathlib import Path

import click

from perfdrv.command_line.groups import project_root
from perfdrv.project import Project


def current_project(ctx: click.Context) -> Project:
    """The project that this invocation works on.

    Raises:
        UsageError: there is none.
    """
    return Project(project_root(ctx))


def current_runs_root(ctx: click.Context, given: Path | None) -> Path:
    """The folder of all runs: the one *given*, also by PERF_RUNS_DIR, else that of the current project.

    Raises:
        UsageError: none is given, and there is no project.
    """
    return given.expanduser().absolute() if given is not None else current_project(ctx).runs_root()
