"""Entry point of `perflab`: print errors as one sentence and exit with a code.

Slow imports are inside `main`, so that Ctrl-C during them prints no traceback.
"""

from __future__ import annotations

import os
import sys

FAILED = 1
INTERNAL_ERROR = 70
INTERRUPTED = 130


def main() -> None:
    """Run the command line and exit with the project's exit codes."""
    debug = "--debug" in sys.argv[1:]
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    try:
        code = run(arguments, debug)
    except KeyboardInterrupt:
        # before click could handle it, or after
        sys.stderr.write("Error: interrupted\n")
        code = INTERRUPTED
    sys.exit(code)


def run(arguments: list[str], debug: bool) -> int:
    """Run one command line and return its exit code. With `debug`, print the traceback of errors."""
    import click

    from perflab.cli import lab

    try:
        lab.main(arguments, prog_name="perflab", standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
    except click.exceptions.Abort:
        click.echo("Error: interrupted", err=True)
        return INTERRUPTED
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:
        if debug:
            raise
        message, code = _explain(error)
        click.echo(f"Error: {message}", err=True)
        return code
    return 0


def _explain(error: Exception) -> tuple[str, int]:
    """Return the sentence and the exit code of an error."""
    from perflab.errors import LabError

    if isinstance(error, LabError):
        return str(error), error.exit_code
    if not isinstance(error, OSError):
        return f"{type(error).__name__}: {error} (run again with --debug)", INTERNAL_ERROR
    if error.filename is None and sys.stdout is not None:
        # stdout cannot be written, for example on a full disk: Python would try again at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return f"{error.filename or 'cannot write the output'}: {error.strerror or error}", FAILED


if __name__ == "__main__":
    main()
