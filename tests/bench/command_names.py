"""Print every command of perfanalysis, one on a line, for a bench that must not import click itself."""

from __future__ import annotations

from collections.abc import Iterator

import click
from perfanalysis.cli import cli


def names(command: click.Command, above: str = "") -> Iterator[str]:
    """The commands below a group, with the names of the groups they are in; hidden ones are left out."""
    if isinstance(command, click.Group):
        for name, below in command.commands.items():
            if not below.hidden:
                yield f"{above}{name}"
                yield from names(below, f"{above}{name} ")


if __name__ == "__main__":
    print("\n".join(names(cli)))
