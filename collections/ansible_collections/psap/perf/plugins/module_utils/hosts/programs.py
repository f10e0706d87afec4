"""Run programs on the host, one after the other, and time each.

Ansible sends this module to hosts: it needs only Python 3.9 and its standard library.
"""

from __future__ import annotations

import contextlib
import os
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ansible_collections.psap.perf.plugins.module_utils.base.processes import descendants

# bytes at the end of a program's output that are returned
_SHOWN = 64 << 10
# variable of all processes that run for a directory, so that those of a killed measurement are found
_MARK = "PSAP_PERF_DIRECTORY"
Argv = Sequence[str]


class HostSideError(Exception):
    """A failure on the host."""


class Stopped(Exception):  # noqa: N818 - nothing is wrong
    """The controller no longer waits, or the process received a signal to end."""


@dataclass(frozen=True)
class ProgramResult:
    """A program that has ended; *took_s* by the monotonic clock, *started* in seconds since the epoch."""

    started: float
    took_s: float
    exit_code: int
    user_s: float
    system_s: float
    max_rss_kib: int
    stdout: str
    stderr: str

    def figures(self) -> dict[str, Any]:
        """Return the recorded fields of a timed run."""
        names = ("started", "took_s", "exit_code", "user_s", "system_s", "max_rss_kib")
        return {name: getattr(self, name) for name in names}


class Programs:
    """Starts programs one after the other in a directory, each in a separate process group."""

    def __init__(self, directory: Path, environment: Mapping[str, str], timeout_s: float) -> None:
        self._directory, self._timeout_s = directory, timeout_s
        self._environment = {**os.environ, **environment, _MARK: str(directory)}
        self._running: int | None = None
        self.abandoned = False

    def run(self, argv: Argv, stdin: bytes = b"") -> ProgramResult:
        """Run a program with the input *stdin*, which must fit into a pipe.

        Raises:
            HostSideError: If it cannot be started, or takes longer than the timeout.
        """
        out, err = self._directory / ".stdout", self._directory / ".stderr"
        late = threading.Event()
        with out.open("wb") as stdout, err.open("wb") as stderr, _readable(stdin) as given:
            started, begun = time.time(), time.monotonic()
            try:
                process = subprocess.Popen(  # noqa: S603 - no shell
                    list(argv),
                    stdin=given,
                    stdout=stdout,
                    stderr=stderr,
                    cwd=str(self._directory),
                    env=self._environment,
                    start_new_session=True,
                )
            except OSError as error:
                raise HostSideError(f"cannot start {argv[0]}: {error.strerror}") from error
            self._running = process.pid
            alarm = threading.Timer(self._timeout_s, self._too_late, (late,))
            alarm.daemon = True
            alarm.start()
            try:
                _pid, status, used = os.wait4(process.pid, 0)
                took = time.monotonic() - begun
            except BaseException:
                self.kill()
                raise
            finally:
                self._running = None
                alarm.cancel()
            process.returncode = os.waitstatus_to_exitcode(status)
        if late.is_set():
            raise HostSideError(f"{' '.join(argv)} did not end within {self._timeout_s:g} s")
        if self.abandoned:
            raise Stopped("the connection was closed")
        return ProgramResult(
            started,
            took,
            process.returncode,
            used.ru_utime,
            used.ru_stime,
            _kib(used),
            _end_of(out),
            _end_of(err),
        )

    @contextlib.contextmanager
    def beside(self, argv: Argv | None) -> Iterator[Callable[[], float] | None]:
        """Run a program concurrently with the block, and yield a function for its time after the block.

        Raises:
            HostSideError: If it fails.
        """
        if argv is None:
            yield None
            return
        begun = time.monotonic()
        try:
            process = subprocess.Popen(  # noqa: S603 - no shell
                list(argv),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                cwd=str(self._directory),
                env=self._environment,
                start_new_session=True,
            )
        except OSError as error:
            raise HostSideError(f"cannot start {argv[0]}: {error.strerror}") from error
        took: list[float] = []

        def await_end() -> None:
            errors.append(process.communicate()[1])
            took.append(time.monotonic() - begun)

        errors: list[bytes] = []
        waiting = threading.Thread(target=await_end, daemon=True)
        waiting.start()
        try:
            yield lambda: took[0]
            waiting.join(self._timeout_s)
        finally:
            if waiting.is_alive():
                with contextlib.suppress(OSError):
                    os.killpg(process.pid, signal.SIGKILL)
                waiting.join()
        if process.returncode != 0:
            raise HostSideError(
                f"{' '.join(argv)} ended with {process.returncode}: {errors[0].decode('utf-8', 'replace')}"
            )

    def must(self, argv: Argv) -> ProgramResult:
        """Run a program, and raise a HostSideError if it fails."""
        ran = self.run(argv)
        if ran.exit_code != 0:
            output = (ran.stderr.strip() or ran.stdout.strip() or self._no_output())[-2000:]
            raise HostSideError(f"{' '.join(argv)} ended with {ran.exit_code}: {output}")
        return ran

    def _no_output(self) -> str:
        # the output is on the disk that the program may have filled
        full = shutil.disk_usage(self._directory).free < 1 << 12
        return f"No space left on device of {self._directory}" if full else "no output"

    def kill(self) -> None:
        """Kill the running program, if any, and its descendants."""
        running = self._running
        if running is None:
            return
        # an engine builds images in a separate session, which survives the process group
        below = descendants(running) if sys.platform == "linux" else []
        with contextlib.suppress(OSError):
            os.killpg(running, signal.SIGKILL)
        for pid in below:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def kill_left(self) -> None:
        """Kill the processes that a killed measurement started for the directory; only on Linux."""
        mark = f"{_MARK}={self._directory}".encode()
        for environment in Path("/proc").glob("[0-9]*/environ"):
            # it ended meanwhile, or belongs to another user
            with contextlib.suppress(OSError):
                if mark in environment.read_bytes().split(b"\0"):
                    os.kill(int(environment.parent.name), signal.SIGKILL)

    def _too_late(self, late: threading.Event) -> None:
        late.set()
        self.kill()


@contextlib.contextmanager
def _readable(given: bytes) -> Iterator[int]:
    """Yield a descriptor from which *given* is read; no process is needed to write it."""
    if not given:
        yield subprocess.DEVNULL
        return
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        try:
            written = os.write(writing, given)
        finally:
            os.close(writing)
        if written < len(given):
            raise HostSideError(f"{len(given)} bytes of secrets do not fit into a pipe")
        yield reading
    finally:
        os.close(reading)


def _end_of(path: Path) -> str:
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _SHOWN))
        return stream.read().decode("utf-8", "replace")


def _kib(used: resource.struct_rusage) -> int:
    # macOS reports bytes
    return used.ru_maxrss // 1024 if sys.platform == "darwin" else used.ru_maxrss
