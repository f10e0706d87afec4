"""Click groups whose commands are imported only when they are used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import click
from perfanalysis.output import is_working_directory_gone

from perfdrv.collection import activate, find_root, own_root
from perfdrv.errors import DriverError, UsageError, unknown


@dataclass(slots=True)
class Session:
    """Options before the command."""

    project: Path | None = None
    debug: bool = False


def project_root(ctx: click.Context) -> Path:
    """Return the root of the project of this invocation.

    Raises:
        UsageError: There is no project.
    """
    session = ctx.find_root().obj
    return find_root(session.project if isinstance(session, Session) else None)


def _root_for(entry: Lazy, ctx: click.Context) -> Path:
    try:
        return project_root(ctx)
    except UsageError:
        session = ctx.find_root().obj
        root = own_root() if entry.of_any and (session is None or session.project is None) else None
        if root is None:
            raise
        return root


@dataclass(frozen=True, slots=True)
class Lazy:
    """A command that is not imported yet.

    Attributes:
        target: Its place, `package.module:attribute`.
        help: Its line in the list of commands.
        in_project: Whether its code needs the project's collection, which is made importable first.
        of_any: Whether it uses no files of a project. Outside a project, the collection of the driver's own project
            suffices then.
        problem: Why it cannot be used; empty if it can be.
    """

    target: str
    help: str
    in_project: bool = True
    of_any: bool = False
    problem: str = ""


class UnusableCommand(click.Command):
    """A command in a list that cannot be used: its summary has the reason, which is raised if it is used."""

    def __init__(self, name: str, problem: str) -> None:
        super().__init__(name, short_help=problem, add_help_option=False)
        self._problem = problem

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Accept everything while a command line is completed.

        Raises:
            UsageError: The command is used.
        """
        if not ctx.resilient_parsing:
            raise UsageError(self._problem)
        return args


class SuggestingGroup(click.Group):
    """A group that suggests similar names for an unknown command, and treats `-` and `_` alike."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that the first argument names."""
        name = args[0]
        command = self.get_command(ctx, name) or self.get_command(ctx, name.replace("_", "-"))
        if command is None and not ctx.resilient_parsing and not name.startswith("-"):
            ctx.fail(unknown("command", name, self.list_commands(ctx), f"{ctx.command_path} --help"))
        if command is None:
            return super().resolve_command(ctx, args)
        return command.name, command, args[1:]


class LazyGroup(SuggestingGroup):
    """A group over a table of commands, each imported when it is used.

    Args:
        added: Returns more commands; called only to list all commands and to find one that is not in the table.
    """

    def __init__(
        self,
        name: str,
        table: Mapping[str, Lazy],
        help: str,  # noqa: A002 - click's word
        added: Callable[[], Mapping[str, Lazy]] = dict,
    ) -> None:
        super().__init__(name=name, help=help, no_args_is_help=True)
        self.table = table
        self._added = added

    def _all(self, ctx: click.Context) -> Mapping[str, Lazy]:
        try:
            return {**self.table, **self._added()}
        except DriverError:
            # completion offers the other commands
            if ctx.resilient_parsing:
                return self.table
            raise

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of the commands, in the order of the table."""
        return list(self._all(ctx))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        entry = self.table.get(cmd_name) or self._all(ctx).get(cmd_name)
        if entry is None:
            return None
        if is_working_directory_gone() and not ctx.resilient_parsing:
            raise UsageError("the working directory was deleted; change into another one")
        if entry.problem:
            return UnusableCommand(cmd_name, entry.problem)
        try:
            if entry.in_project:
                activate(_root_for(entry, ctx))
        except UsageError:
            # there is nothing to complete outside a project
            if ctx.resilient_parsing:
                return click.Command(cmd_name, add_help_option=False, context_settings={"ignore_unknown_options": True})
            raise
        module, _, attribute = entry.target.partition(":")
        command = getattr(importlib.import_module(module), attribute)
        if not isinstance(command, click.Command):
            raise TypeError(f"{entry.target} is not a click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing any of them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.help) for name, entry in self._all(ctx).items()])
