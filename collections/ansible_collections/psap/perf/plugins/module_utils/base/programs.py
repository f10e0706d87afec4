"""Run a program of the controller so that nothing of it outlives the task."""

from __future__ import annotations

import contextlib
import os
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent, kill_descendants

_POLL_S = 0.1
_LAST_WORDS_S = 2.0


@dataclass(frozen=True, slots=True)
class Program:
    """What to run.

    :param environment: added to the controller's own.
    """

    argv: Sequence[str]
    environment: Mapping[str, str]
    folder: Path
    stdin: str | None
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Ended:
    """How it ended."""

    exit_code: int
    duration_s: float


def run_program(
    program: Program, output: Path, check: Callable[[], None], redact: Callable[[bytes], bytes] | None = None
) -> Ended:
    """Run *program*, its output and errors going to *output*.

    :param redact: hides secrets in a line before it is written: a killed run has no later moment for that.
    :param check: raises when the user asked to stop; the program and its children are killed then.
    :raises UsageError: when there is no such program.
    :raises PerfError: when it takes too long.
    """
    started = time.monotonic()
    with output.open("wb") as log:
        try:
            process = subprocess.Popen(  # noqa: S603 - the role's own argv, and no shell
                list(program.argv),
                stdin=subprocess.PIPE if program.stdin is not None else subprocess.DEVNULL,
                stdout=log if redact is None else subprocess.PIPE,
                stderr=subprocess.STDOUT,
                cwd=program.folder,
                env={**os.environ, **program.environment},
                preexec_fn=die_with_parent,
            )
        except OSError as error:
            raise UsageError(
                f"cannot run {program.argv[0]}: {error.strerror}; install it or correct its path"
            ) from error
        copier = None if redact is None else _copy_redacted(process, log, redact)
        try:
            _feed(process, program.stdin)
            _await(process, program, started, check)
        finally:
            if process.poll() is None:
                kill_descendants(process.pid)
                process.kill()
                process.wait()
            if copier is not None:
                # a child that outlives the program may hold its output open: what it says later is not waited for
                copier.join(_LAST_WORDS_S)
    return Ended(process.returncode, round(time.monotonic() - started, 3))


def _copy_redacted(
    process: subprocess.Popen[bytes], log: BinaryIO, redact: Callable[[bytes], bytes]
) -> threading.Thread:
    def copy() -> None:
        for line in process.stdout or ():
            log.write(redact(line))
            log.flush()

    copier = threading.Thread(target=copy, daemon=True)
    copier.start()
    return copier


def _feed(process: subprocess.Popen[bytes], text: str | None) -> None:
    """Beside the rest: a program that never reads is stopped like any other."""
    stream = process.stdin
    if text is None or stream is None:
        return
    given = text.encode()

    def write() -> None:
        # one that ended without reading all says by its exit code whether that was right
        with contextlib.suppress(BrokenPipeError), stream:
            stream.write(given)

    threading.Thread(target=write, daemon=True).start()


def _await(process: subprocess.Popen[bytes], program: Program, started: float, check: Callable[[], None]) -> None:
    while True:
        check()
        try:
            process.wait(_POLL_S)
        except subprocess.TimeoutExpired:
            if time.monotonic() - started > program.timeout_s:
                raise PerfError(
                    f"{program.argv[0]} was still running after {program.timeout_s:g} s and was killed"
                ) from None
        else:
            return
