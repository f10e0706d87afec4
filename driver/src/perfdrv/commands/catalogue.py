"""`perfdrv flows` and `perfdrv commands`: lists of both."""

from __future__ import annotations

import click
from ansible_collections.psap.perf.plugins.module_utils.base.naming import split_role

from perfdrv.command_line.session import current_project
from perfdrv.command_line.tables import print_table
from perfdrv.errors import unknown


@click.command()
@click.pass_context
def flows(ctx: click.Context) -> None:
    """List the flows."""
    content = current_project(ctx).content()
    rows = [(name, content.flow(name).short_description) for name in content.flows]
    print_table(("flow", "purpose"), rows, empty="The project has no flows: no playbooks/<flow>/settings.yml found.")


@click.command()
@click.argument("group", required=False)
@click.pass_context
def commands(ctx: click.Context, group: str | None) -> None:
    """List the commands of the toolbox, or those of one GROUP."""
    content = current_project(ctx).content()

    split = {role: split_role(role) for role in content.roles}
    wanted = group.replace("-", "_") if group else None
    groups = sorted({found for found, _command in split.values()})
    if wanted is not None and wanted not in groups:
        raise click.UsageError(unknown("group", wanted, groups, "perfdrv commands"))
    rows = [
        (
            found.replace("_", "-"),
            command.replace("_", "-"),
            content.ambiguous_roles.get(role) or content.command(role).short_description,
        )
        for role, (found, command) in sorted(split.items(), key=lambda item: item[1])
        if wanted in (None, found)
    ]
    print_table(("group", "command", "purpose"), rows, empty="The project has no commands.")
