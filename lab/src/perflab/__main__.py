"""Entry point of `perflab`: turns errors into one sentence and an exit code."""

from __future__ import annotations

import sys

import click

from perflab.cli import lab
from perflab.errors import LabError

INTERNAL_ERROR = 70
INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with the project's exit codes."""
    debug = "--debug" in sys.argv[1:]
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    sys.exit(run(arguments, debug))


def run(arguments: list[str], debug: bool) -> int:
    """Run one command line; return its exit code. With `debug`, errors keep their traceback."""
    try:
        lab.main(arguments, prog_name="perflab", standalone_mode=False)
    except click.exceptions.Abort:
        click.echo("Error: interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except LabError as error:
        if debug:
            raise
        click.echo(f"Error: {error}", err=True)
        return error.exit_code
    except Exception as error:
        if debug:
            raise
        click.echo(f"Error: {type(error).__name__}: {error} (run again with --debug)", err=True)
        return INTERNAL_ERROR
    return 0


if __name__ == "__main__":
    main()
