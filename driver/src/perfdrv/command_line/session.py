"""The project and the runs folder of an invocation."""

from __future__ import annotations

from pathlib import Path

import click
from perfanalysis.files.local_path import LocalPath

from perfdrv.command_line.groups import project_root
from perfdrv.project import Project

runs_dir_option = click.option(
    "--runs-dir",
    type=LocalPath(file_okay=False),
    envvar="PERF_RUNS_DIR",
    help="Folder of all runs. [default: runs/ of the project]",
)


def current_project(ctx: click.Context) -> Project:
    """Return the project of this invocation.

    Raises:
        UsageError: There is no project.
    """
    return Project(project_root(ctx))


def current_runs_root(ctx: click.Context, given: Path | None) -> Path:
    """Return the folder of all runs: the given folder, or the current project's.

    Args:
        given: The value of --runs-dir or PERF_RUNS_DIR.

    Raises:
        UsageError: No folder is given, and there is no project.
    """
    return given.expanduser().absolute() if given is not None else current_project(ctx).runs_root()
