"""`perfdrv completion SHELL`."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

_SHELLS = ("bash", "zsh", "fish")


@click.command()
@click.argument("shell", type=click.Choice(_SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script of a shell.

    \b
    bash:  eval "$(perfdrv completion bash)"
    zsh:   eval "$(perfdrv completion zsh)"
    fish:  perfdrv completion fish | source
    """
    root = ctx.find_root()
    kind = get_completion_class(shell)
    if kind is None:
        raise click.UsageError(f"click knows no completion for {shell}")
    program = root.info_name or "perfdrv"
    click.echo(_open_ended(kind(root.command, {}, program, f"_{program.upper()}_COMPLETE").source()))


def _open_ended(script: str) -> str:
    """Have bash leave no space after `KEY=`, where a value follows; fish does so by itself."""
    taken = "COMPREPLY+=($value)"
    return script.replace(taken, f"{taken}\n            [[ $value == *= ]] && compopt -o nospace")
