"""What the shell offers for values: flows, presets, sites, runs.

An error here would end up in the middle of the user's command line, so outside a project there is
simply nothing to offer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import click
from click.shell_completion import CompletionItem

from perfdrv.command_line.session import current_project
from perfdrv.errors import UsageError
from perfdrv.project import Project
from perfdrv.runs.store import LATEST, run_names

Completer = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def _complete(names: Callable[[Project], Iterable[str]]) -> Completer:
    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:  # noqa: ARG001
        try:
            known = list(names(current_project(ctx)))
        except UsageError:
            return []
        return [CompletionItem(name) for name in known if name.startswith(incomplete)]

    return complete


def _runs(project: Project) -> list[str]:
    root = project.runs_root()

    return [*run_names(root), LATEST]


complete_presets = _complete(lambda project: project.content().presets)
complete_flows = _complete(lambda project: project.content().flows)
complete_sites = _complete(lambda project: project.content().sites)
complete_runs = _complete(_runs)
complete_names = _complete(lambda project: project.content().names)
