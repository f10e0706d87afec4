"""When a machine that is started first answers, seen from outside: by the controller's monotonic clock."""

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
class Answered:
    """The first answer came *after_s* seconds after the start.

    :param within_s: seconds since the last attempt without an answer was begun: how much earlier it may have answered.
    """

    after_s: float
    within_s: float


def first_answer(attempt: Callable[[], bool], begun: float, wanted: Callable[[], bool]) -> Answered | None:
    """Try until there is an answer; None when it is not *wanted* any more, which may raise instead.

    :param begun: when the machine was started, by the monotonic clock.
    """
    failed = begun
    while wanted():
        tried = time.monotonic()
        if attempt():
            now = time.monotonic()
            return Answered(now - begun, now - failed)
        failed = tried
        time.sleep(_PAUSE_S)
    return None


def ping(address: str) -> Callable[[], bool] | None:
    """An attempt to be echoed by ICMP; None without a program ping."""
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
    """Whether something accepts connections there."""
    try:
        with socket.create_connection((address, port), timeout=_ATTEMPT_S):
            return True
    except OSError:
        return False


class Started:
    """A program that starts a machine: it may end at once, or be a hypervisor that stays as long as the machine."""

    def __init__(self, command: Sequence[str], log: Path) -> None:
        """Start it; what it says goes to *log*.

        :raises HostError: when it cannot be started.
        """
        self._command, self._log = command, log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as output:
            self._process = self._open(output)

    def check(self) -> None:
        """Raise when it has failed.

        :raises HostError: with the last that it said.
        """
        code = self._process.poll()
        if code:
            said = self._log.read_bytes()[-_READ_BYTES:].decode("utf-8", "replace").strip() or "no output"
            raise HostError(f"the machine was not started: {' '.join(self._command)} ended with {code}: {said}")

    def _open(self, output: IO[bytes]) -> subprocess.Popen[bytes]:
        try:
            # of a session of its own: the machine outlives this process
            return subprocess.Popen(  # noqa: S603 - the program that the user named
                self._command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
            )
        except OSError as error:
            raise HostError(f"cannot start {self._command[0]}: {error.strerror}") from error
