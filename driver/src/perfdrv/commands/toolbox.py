"""`perfdrv toolbox GROUP COMMAND`: one click command for each role, built from its argument specification."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import click
from ansible_collections.psap.perf.plugins.module_utils.base.naming import groups, split_role
from ansible_collections.psap.perf.plugins.module_utils.run.phases import TOOLBOX_FLOW
from ansible_collections.psap.perf.plugins.module_utils.settings.specs import CommandSpec
from ansible_collections.psap.perf.plugins.module_utils.settings.static import effective
from ansible_collections.psap.perf.plugins.module_utils.settings.topsail import answer

from perfdrv.ansible.request import RunRequest, json_vars
from perfdrv.ansible.sites import read_site
from perfdrv.command_line.arguments import (
    command_options,
    given_arguments,
    long_options,
    option_words,
    with_option_names,
)
from perfdrv.command_line.groups import SuggestingGroup, UnusableCommand
from perfdrv.command_line.run_options import (
    OrderedCommand,
    RunOptions,
    extra_vars_of,
    preset_names,
    presets_and_pairs,
    shared_options,
)
from perfdrv.command_line.session import current_project
from perfdrv.command_line.tables import print_table, value_text
from perfdrv.errors import EXIT_OK, UsageError
from perfdrv.execution.launch import launch
from perfdrv.project import Project
from perfdrv.runs.tree import RunTree
from perfdrv.views.ending import conclude
from perfdrv.views.remarks import table_lines


class AnsweringGroup(SuggestingGroup):
    """A group that answers a command line of TOPSAIL with its replacement."""

    before: tuple[str, ...] = ()
    """Names of the groups above this one, below `toolbox`."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names.

        Raises:
            UsageError: The command is one of TOPSAIL.
        """
        dashed = args[0].replace("_", "-")
        if not ctx.resilient_parsing and self.get_command(ctx, dashed) is None:
            replacement = answer((*self.before, *args), current_project(ctx).content().roles)
            if replacement is not None:
                raise UsageError(replacement)
        return super().resolve_command(ctx, args)


class Toolbox(AnsweringGroup):
    """The groups of commands."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the groups."""
        return sorted({_dashed(group) for group, _command in _commands(ctx)})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a group, if it has commands."""
        commands = {command: role for (group, command), role in _commands(ctx).items() if _dashed(group) == cmd_name}
        return CommandGroup(cmd_name, commands) if commands else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each group with its commands; only the names of roles are read."""
        table: dict[str, list[str]] = {}
        for group, command in _commands(ctx):
            table.setdefault(_dashed(group), []).append(_dashed(command))
        if not table:
            return
        with formatter.section("Groups and their commands"):
            formatter.write_dl([(group, ", ".join(sorted(names))) for group, names in sorted(table.items())])


class CommandGroup(AnsweringGroup):
    """The commands of one group; the specification of a command is read when the command is used."""

    def __init__(self, name: str, roles: dict[str, str]) -> None:
        purpose = groups().get(name.replace("-", "_"), f"Commands of the group {name}")
        super().__init__(name=name, help=f"{purpose}.", no_args_is_help=True)
        self._roles = {_dashed(command): role for command, role in roles.items()}
        self.before = (name,)

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return sorted(self._roles)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command, built from its specification."""
        role = self._roles.get(cmd_name)
        if role is None:
            return None
        content = current_project(ctx).content()
        problem = content.ambiguous_roles.get(role)
        return UnusableCommand(cmd_name, problem) if problem else make_command(cmd_name, content.command(role))


def make_command(name: str, spec: CommandSpec) -> click.Command:
    """Return the click command of a role."""
    own = [
        *shared_options(),
        click.Option(["--show-args"], is_flag=True, help="Show all arguments with their origins, and run nothing."),
    ]

    taken = long_options(own) | {"--help"}

    def invoke(ctx: click.Context, **_params: Any) -> int:
        return _invoke(ctx, spec)

    return OrderedCommand(
        name,
        callback=click.pass_context(invoke),
        help=with_option_names("\n\n".join((f"{spec.short_description}.", *spec.help)), option_words(spec, taken)),
        short_help=spec.short_description,
        params=[*command_options(spec, taken), *own],
    )


def _invoke(ctx: click.Context, spec: CommandSpec) -> int:
    project = current_project(ctx)
    given = replace(RunOptions.of(ctx), arguments=given_arguments(spec, ctx))
    if ctx.params["show_args"]:
        return _show_arguments(project, spec, given)
    return _run_command(project, spec, given)


def _run_command(project: Project, spec: CommandSpec, given: RunOptions) -> int:
    started = time.monotonic()
    request = RunRequest(
        project=project,
        flow=TOOLBOX_FLOW,
        playbook=project.playbook(TOOLBOX_FLOW),
        runs_root=project.runs_root(given.runs_directory),
        extra_vars=(json_vars({"perf_command": spec.role}), *extra_vars_of(given, project)),
        inventory=project.inventory(given.site) if given.site else None,
        site=given.site or project.default_site(),
        check=given.check,
        diff=given.diff,
        verbosity=given.verbosity,
        presets=preset_names(given, project),
    )
    outcome = launch(request)
    # a refused run has no directory
    for step in RunTree(outcome.directory).steps() if outcome.directory.is_dir() else ():
        for line in table_lines(step):
            click.echo(line)
    return conclude(outcome, spec.role, time.monotonic() - started, report_wanted=False)


def _show_arguments(project: Project, spec: CommandSpec, given: RunOptions) -> int:
    below = read_site(project, given.site).layers_of()
    known = effective(project.content(), None, below, *presets_and_pairs(given, project))
    rows = []
    for argument in spec.arguments:
        found = known.get(argument.name)
        value = found.value if found else argument.default
        origin = found.origin if found else ("required, but not set" if argument.required else "default")
        rows.append((argument.short_name, value_text(value), origin))
    print_table(("argument", "value", "origin"), rows)
    return EXIT_OK


def _commands(ctx: click.Context) -> dict[tuple[str, str], str]:
    """Return the role of each (group, command)."""
    return {split_role(role): role for role in current_project(ctx).content().roles}


def _dashed(name: str) -> str:
    return name.replace("_", "-")


toolbox = Toolbox(
    "toolbox",
    help="Run one command of the toolbox: perfdrv toolbox GROUP COMMAND [OPTIONS].",
    no_args_is_help=True,
)


class GroupOfToolbox(SuggestingGroup):
    """A group of the toolbox as a command of `perfdrv`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the group's commands."""
        group = self._group(ctx)
        return group.list_commands(ctx) if group else []

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command of the group."""
        group = self._group(ctx)
        return group.get_command(ctx, cmd_name) if group else None

    def _group(self, ctx: click.Context) -> click.Group | None:
        group = toolbox.get_command(ctx, self.name or "")
        return group if isinstance(group, click.Group) else None


quads = GroupOfToolbox(
    "quads", help="Book bare-metal hosts in QUADS; same as: perfdrv toolbox quads.", no_args_is_help=True
)
