"""The project that an invocation works on, for its commands."""

from __future__ import annotations

import click

from perfdrv.command_line.groups import project_root
from perfdrv.project import Project


def current_project(ctx: click.Context) -> Project:
    """The project that this invocation works on.

    Raises:
        UsageError: there is none.
    """
    return Project(project_root(ctx))
