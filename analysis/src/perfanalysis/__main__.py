"""Entry point: print errors as one sentence on stderr, and exit with the exit codes of psap.perf's programs.

Slow imports are inside `main`, so that Ctrl-C during them prints no traceback.
"""

from __future__ import annotations

import sys

from perfanalysis.errors import AnalysisError, UsageError

INTERNAL_ERROR = 70
INTERRUPTED = 130


def main(arguments: list[str] | None = None) -> None:
    """Run perfanalysis and exit with its exit code."""
    try:
        from perfanalysis.files.credentials import hide
        from perfanalysis.output import safe_streams

        with safe_streams(hide):
            code = run(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:  # before click could handle it, or after
        code = _interrupted()
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code. With --debug anywhere in *arguments*, print tracebacks."""
    import click

    from perfanalysis.cli import cli
    from perfanalysis.output import is_working_directory_gone

    debug = "--debug" in arguments
    if is_working_directory_gone():
        return _explain(UsageError("the working directory was deleted; change into another one"), debug=debug)
    try:
        cli.main(
            args=[word for word in arguments if word != "--debug"], prog_name="perfanalysis", standalone_mode=False
        )
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        return _interrupted()
    except Exception as error:  # the last resort: users do not see tracebacks
        return _explain(error, debug=debug)
    return 0


def _interrupted() -> int:
    if sys.stderr is not None:
        sys.stderr.write("Error: interrupted\n")
    return INTERRUPTED


def _explain(error: Exception, *, debug: bool) -> int:
    import traceback

    import click

    from perfanalysis.output import OutputError

    if debug:
        traceback.print_exception(error)
    if isinstance(error, AnalysisError | OutputError):
        click.echo(f"Error: {error}", err=True)
        return error.exit_code
    if isinstance(error, OSError):  # such as a full disk or missing permissions: nothing that perfanalysis can fix
        click.echo(f"Error: {error.filename or 'a file'}: {error.strerror or error}", err=True)
        return UsageError.exit_code
    hint = "" if debug else "; run again with --debug"
    click.echo(f"Error: internal error: {type(error).__name__}: {error}{hint}", err=True)
    return INTERNAL_ERROR


if __name__ == "__main__":
    main()
