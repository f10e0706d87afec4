"""The entry point of `perfdrv`, which converts errors to messages and exit codes.

All slow imports are in `main`, so that Ctrl-C during them prints no traceback.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType

from perfdrv.errors import EXIT_FAILED, EXIT_INTERNAL, EXIT_INTERRUPTED, error_text, exit_code_of

PROGRAM = "perfdrv"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    if arguments is None and sys.getfilesystemencoding() != "utf-8":
        # paths and settings are UTF-8, even in a C locale with PYTHONUTF8=0
        environment = os.environ | {"PYTHONUTF8": "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606 - this program again
    # outside a run, each of these signals acts like Ctrl-C
    _handle_signals(signal.default_int_handler)
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        # outside of click's own handling
        return _print_error("interrupted", EXIT_INTERRUPTED)
    finally:
        if arguments is None:
            # the result is settled; a further signal would print a traceback
            _handle_signals(signal.SIG_IGN)


def _handle_signals(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    for number in _SIGNALS:
        # nohup(1) ignores SIGHUP
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _run(arguments: list[str] | None) -> int:
    from perfanalysis.files.credentials import hide
    from perfanalysis.output import safe_streams

    with safe_streams(hide):
        try:
            code = _perform(arguments)
            # the exit code is the run's, even if its output cannot be written
            with contextlib.suppress(OSError):
                sys.stdout.flush()
        except KeyboardInterrupt:
            return _print_error("interrupted", EXIT_INTERRUPTED)
    return code


def _perform(arguments: list[str] | None) -> int:
    import click

    from perfdrv.cli import cli
    from perfdrv.command_line.groups import Session

    session = Session()
    try:
        code = cli.main(arguments, prog_name=PROGRAM, standalone_mode=False, obj=session)
    except click.exceptions.Abort:
        return _print_error("interrupted", EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:
        if session.debug:
            raise
        if isinstance(error, OSError) and error.filename:
            # such as a folder of another user, or a full disk: not an internal error
            return _print_error(f"{error.filename}: {error.strerror}", EXIT_FAILED)
        known = exit_code_of(error)
        hint = "" if known is not None else "; for the traceback: perfdrv --debug …"
        return _print_error(f"{error_text(error)}{hint}", EXIT_INTERNAL if known is None else known)
    return code if isinstance(code, int) else 0


def _print_error(message: str, code: int) -> int:
    # click may not be imported yet, and stderr may be closed
    if sys.stderr is not None:
        sys.stderr.write(f"Error: {message}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
