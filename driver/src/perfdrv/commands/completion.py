"""`perfdrv completion SHELL`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash:  eval "$(perfdrv completion bash)"
    zsh:   eval "$(perfdrv completion zsh)"
    fish:  perfdrv completion fish | source
    """
    root = ctx.find_root()
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click does not support completion for {shell}")
    program = root.info_name or "perfdrv"
    click.echo(_open_ended(kind(root.command, {}, program, f"_{program.upper()}_COMPLETE").source()))


def _open_ended(script: str) -> str:
    """Return the script changed so that bash adds no space after `KEY=`; fish needs no change."""
    added = "COMPREPLY+=($value)"
    return script.replace(added, f"{added}\n            [[ $value == *= ]] && compopt -o nospace")
