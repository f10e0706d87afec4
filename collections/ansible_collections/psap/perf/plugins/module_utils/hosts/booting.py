"""Time the first response of a machine after its start, by the controller's monotonic clock."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ansible_collections.psap.perf.plugins.module_utils.base.errors import HostError

_ATTEMPT_S = 1.0
_PAUSE_S = 0.1
_READ_BYTES = 4096


@dataclass(frozen=True, slots=True)
class FirstResponse:
    """The first response, *after_s* seconds after the start.

    It may have been up to *within_s* seconds earlier: the time since the start of the last attempt without a response.
    """

    after_s: float
    within_s: float


def first_answer(attempt: Callable[[], bool], begun: float, wanted: Callable[[], bool]) -> FirstResponse | None:
    """Repeat *attempt* until it succeeds, and return its time; None once *wanted* is false.

    Args:
        begun: When the machine was started, by the monotonic clock.
        wanted: Whether to continue; may raise instead.
    """
    failed = begun
    while wanted():
        tried = time.monotonic()
        if attempt():
            now = time.monotonic()
            return FirstResponse(now - begun, now - failed)
        failed = tried
        time.sleep(_PAUSE_S)
    return None


def ping(address: str) -> Callable[[], bool] | None:
    """Return a function that sends an ICMP echo request; None without a program ping."""
    program = shutil.which("ping")
    if program is None:
        return None

    def attempt() -> bool:
        try:
            done = subprocess.run(  # noqa: S603 - no shell
                [program, "-n", "-c", "1", address], capture_output=True, timeout=_ATTEMPT_S, check=False
            )
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    return attempt


def listens(address: str, port: int) -> bool:
    """Return whether a program accepts connections there."""
    try:
        with socket.create_connection((address, port), timeout=_ATTEMPT_S):
            return True
    except OSError:
        return False


class StartProgram:
    """A program that starts a machine: it may end immediately, or be a hypervisor that runs as long as the machine."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        """Start it, and write its output to *log*.

        Raises:
            HostError: If it cannot be started.
        """
        self._command, self._log = command, log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            self._process = self._open(output)

    def check(self) -> None:
        """Raise a HostError with the end of its output if it has failed."""
        code = self._process.poll()
        if code:
            output = self._log.read_bytes()[-_READ_BYTES:].decode("utf-8", "replace").strip() or "no output"
            raise HostError(f"the machine was not started: {' '.join(self._command)} ended with {code}: {output}")

    def _open(self, output: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            # in a separate session, since the machine outlives this process
            return subprocess.Popen(  # noqa: S603 - the program that the user named
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        except OSError as error:
            raise HostError(f"cannot start {self._command[0]}: {error.strerror}") from error
