"""What the options of `perfdrv` itself say, for all commands below."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from perfdrv.project import Project


@dataclass(slots=True)
class Session:
    """The options before the command."""

    project: Path | None = None
    debug: bool = False


def current_project(ctx: click.Context) -> Project:
    """The project that this invocation works on, its collection importable.

    Raises:
        UsageError: there is none.
    """
    session = ctx.find_root().obj
    project = Project.find(given=session.project if isinstance(session, Session) else None)
    project.activate()
    return project
