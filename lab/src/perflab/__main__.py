"""Entry point of `perflab`: turns errors into one sentence and an exit code.

All that takes time to import is imported within `main`, where a Ctrl-C is no traceback.
"""

from __future__ import annotations

import sys

INTERNAL_ERROR = 70
INTERRUPTED = 130


def main() -> None:
    """Run the command line and leave with the project's exit codes."""
    debug = "--debug" in sys.argv[1:]
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        code = run(arguments, debug)
    except KeyboardInterrupt:
        # before click could hear of it, or after
        sys.stderr.write("Error: interrupted\n")
        code = INTERRUPTED
    sys.exit(code)


def run(arguments: list[str], debug: bool) -> int:
    """Run one command line; return its exit code. With `debug`, errors keep their traceback."""
    import click

    from perflab.cli import lab
    from perflab.errors import LabError

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
