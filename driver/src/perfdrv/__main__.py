"""The entry point of `perfdrv`: errors become sentences and exit codes.

Everything is imported within `main`, where a Ctrl-C is no traceback.
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
        # folders and settings are UTF-8, whatever a C locale with PYTHONUTF8=0 says of them
        environment = os.environ | {"PYTHONUTF8": "1"}
        os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)  # noqa: S606  itself, once more
    # where no run counts them, each of these is a Ctrl-C
    _meet_signals(signal.default_int_handler)
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        # before click could hear of it, or after
        return _say("interrupted", EXIT_INTERRUPTED)
    finally:
        if arguments is None:
            # how it ends is settled, and the interpreter would tell of a further one with a traceback
            _meet_signals(signal.SIG_IGN)


def _meet_signals(handler: Callable[[int, FrameType | None], object] | signal.Handlers) -> None:
    for number in _SIGNALS:
        # nohup(1) had this one ignored
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def _run(arguments: list[str] | None) -> int:
    from perfanalysis.files.credentials import hide
    from perfanalysis.output import safe_streams

    with safe_streams(hide):
        try:
            code = _perform(arguments)
            # a run goes on without its output, so what it came to counts
            with contextlib.suppress(OSError):
                sys.stdout.flush()
        except KeyboardInterrupt:
            return _say("interrupted", EXIT_INTERRUPTED)
    return code


def _perform(arguments: list[str] | None) -> int:
    import click

    from perfdrv.cli import cli
    from perfdrv.command_line.groups import Session

    session = Session()
    try:
        code = cli.main(arguments, prog_name=PROGRAM, standalone_mode=False, obj=session)
    except click.exceptions.Abort:
        return _say("interrupted", EXIT_INTERRUPTED)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except Exception as error:
        if session.debug:
            raise
        if isinstance(error, OSError) and error.filename:
            # a folder that is not ours, a full disk: nothing that perfdrv could mend
            return _say(f"{error.filename}: {error.strerror}", EXIT_FAILED)
        known = exit_code_of(error)
        hint = "" if known is not None else ". See where with: perfdrv --debug …"
        return _say(f"{error_text(error)}{hint}", EXIT_INTERNAL if known is None else known)
    return code if isinstance(code, int) else 0


def _say(message: str, code: int) -> int:
    # click may not be there yet, and stderr may be closed
    if sys.stderr is not None:
        sys.stderr.write(f"Error: {message}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
