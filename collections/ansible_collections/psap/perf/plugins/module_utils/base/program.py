"""Run a program on this machine: bounded in time, interrupted when asked, and never left behind."""

from __future__ import annotations

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError, WaitTimeoutError
from ansible_collections.psap.perf.plugins.module_utils.base.processes import die_with_parent

_POLL_S = 0.25
_END_POLL_S = 0.05
_GRACE_S = 20.0
_LAST_LINES = 4
_READ_BYTES = 4096
_CAPTURE_POLL_S = 0.2
_MOST_CAPTURED = 1 << 20
_PIPE_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Program:
    """A command line, its working folder, and its environment variables in addition to those of this process."""

    command: tuple[str, ...]
    folder: Path
    environment: Mapping[str, str]


def run(
    program: Program,
    log: Path,
    timeout_s: float,
    check: Callable[[], None],
    show: Callable[[str], None],
    watch: Callable[[int], None] | None = None,
) -> None:
    """Run it to its end, with its output in *log*.

    Args:
        check: Raises when the user asked to stop.
        show: Called with the last lines of its output.
        watch: Called repeatedly with the number of its session, which its child processes share.

    Raises:
        UsageError: If it cannot be started.
        WaitTimeoutError: If it does not end in *timeout_s*; it is stopped then, and its output is kept.
        PerfError: If it fails.
    """
    name = program.command[0]
    if not program.folder.is_dir():
        raise UsageError(f"cannot run {name}: the folder {program.folder} does not exist")
    if shutil.which(name, path=program.environment.get("PATH")) is None:
        raise UsageError(f"the program {name} does not exist")
    log.parent.mkdir(parents=True, exist_ok=True)
    until = time.monotonic() + timeout_s
    with log.open("wb") as output:
        process = subprocess.Popen(  # noqa: S603 - the program that the user named
            program.command,
            cwd=program.folder,
            env={**os.environ, **program.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            # this process passes on a terminal's Ctrl-C; if it is killed, the program is killed too
            start_new_session=True,
            preexec_fn=die_with_parent,
        )
        with _ended(process):
            while process.poll() is None:
                check()
                if watch:
                    watch(process.pid)
                if time.monotonic() >= until:
                    raise WaitTimeoutError(
                        f"{name} did not end within {timeout_s:.0f} s; its last output: {_last_lines(log)}"
                    )
                show(_last_lines(log))
                time.sleep(_POLL_S)
    if process.returncode:
        how = f"signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
        raise PerfError(f"{name} failed, {how}: {_last_lines(log)}; see its complete output in {log.name}")


@dataclass(frozen=True, slots=True)
class Output:
    """The standard output of a program that ended, and the end of its error output."""

    exit_code: int
    output: bytes
    errors: str


def capture(program: Program, timeout_s: float, check: Callable[[], None]) -> Output:
    """Run it to its end without input, and return its output.

    A background process that it leaves does not delay the return.

    Args:
        check: Called at least five times a second; raises when the user asked to stop.

    Raises:
        OSError: If it cannot be started.
        WaitTimeoutError: If it does not end in time, or prints more than a mebibyte; it is killed then.
    """
    until, printed = time.monotonic() + timeout_s, {"output": bytearray(), "errors": bytearray()}
    process = subprocess.Popen(  # noqa: S603 - the program that the user named
        program.command,
        cwd=program.folder,
        env={**os.environ, **program.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=die_with_parent,
    )
    with process, _ended(process, grace_s=0), selectors.DefaultSelector() as selector:
        for name, stream in (("output", process.stdout), ("errors", process.stderr)):
            selector.register(stream, selectors.EVENT_READ, printed[name])  # type: ignore[arg-type]  # both are pipes
        while process.poll() is None:
            check()
            _read_ready(selector, _CAPTURE_POLL_S)
            if time.monotonic() >= until:
                raise WaitTimeoutError(f"did not end within {timeout_s:g} s")
            if max(map(len, printed.values())) > _MOST_CAPTURED:
                raise WaitTimeoutError(f"printed more than {_MOST_CAPTURED >> 20} MiB")
        for _piece in range(_MOST_CAPTURED // _PIPE_BYTES):
            if not _read_ready(selector, 0):
                break
    errors = printed["errors"][-_READ_BYTES:].decode("utf-8", "replace")
    return Output(process.returncode, bytes(printed["output"]), errors)


def _read_ready(selector: selectors.BaseSelector, patience_s: float) -> bool:
    """Read once from each pipe with data, after at most *patience_s* seconds; return False if none has data."""
    if not selector.get_map():
        time.sleep(patience_s)
    ready = selector.select(patience_s)
    for key, _events in ready:
        data = os.read(key.fd, _PIPE_BYTES)
        key.data.extend(data)
        if not data:
            selector.unregister(key.fileobj)
    return bool(ready)


def _last_lines(log: Path) -> str:
    """Return the last lines of *log* that are not blank."""
    with log.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - _READ_BYTES))
        lines = stream.read().decode("utf-8", "replace").splitlines()
    return "; ".join([line.strip() for line in lines if line.strip()][-_LAST_LINES:]) or "nothing"


@contextlib.contextmanager
def _ended(process: subprocess.Popen[bytes], grace_s: float = _GRACE_S) -> Iterator[None]:
    """Stop the process and its children if the block ends first: terminate them, and kill them after *grace_s*."""
    try:
        yield
    finally:
        if process.poll() is None:
            if grace_s:
                os.killpg(process.pid, signal.SIGINT)
                _wait_for_end(process.pid, grace_s)
            # children may ignore the signal that ended their parent: a shell's background jobs do
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _wait_for_end(pid: int, limit_s: float) -> None:
    """Wait until the child *pid* has ended, without reaping it, so that no other group gets its number."""
    until = time.monotonic() + limit_s
    while os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and time.monotonic() < until:
        time.sleep(_END_POLL_S)
