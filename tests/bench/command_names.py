"""Print every command of perfanalysis, one a line, for a bench that must not import click itself."""

from __future__ import annotations

from collections.abc import Iterator

import click
from perfanalysis.cli import cli


def names(command: click.Command, above: str = "") -> Iterator[str]:
    """Yield the commands below a group, prefixed with the names of their groups."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield f"{above}{name}"
            below = command.get_command(context, name)
            if below is not None:
                yield from names(below, f"{above}{name} ")


if __name__ == "__main__":
    print("\n".join(names(cli)))
