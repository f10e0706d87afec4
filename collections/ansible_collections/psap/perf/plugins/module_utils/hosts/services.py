"""Start a program on the host that runs until it is stopped.

The program holds a lock in its directory as long as it runs, and the lock's file contains its ID: the lock shows if it
runs, and no other process is signalled. Ansible sends this module to hosts: it needs only Python 3.9.
"""

from __future__ import annotations

import base64
import contextlib
import fcntl
import http.client
import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ansible_collections.psap.perf.plugins.module_utils.hosts.measuring import LOCK, UNDO, remove
from ansible_collections.psap.perf.plugins.module_utils.hosts.programs import Argv, HostSideError

# the request, which also marks the directory as a service's
_REQUEST = "service.json"
_READY = "ready"
_LOG = "log"
# bytes at the end of a service's output that are returned
_MOST_LOG = 8 << 20
_SHOWN = 2000
_POLL_S = 0.1
_ATTENDED_POLL_S = 1.0
_ANSWER_S = 5.0
_CONNECT_S = 1.0
# time within which a program that cannot run has ended
_SETTLED_S = 1.0


@dataclass(frozen=True)
class Service:
    """A program that runs in a directory.

    Args:
        undo: Programs that remove its remains, such as a container, after it has ended.
        url: Returns 200 once it is ready; None for a program that is ready when it has run for a second.
        attended_in: Folder in whose subfolders the measurements run that use it; None for a program that runs until it
            is stopped.
        unattended_s: Time without such measurements after which it is stopped.
    """

    directory: str
    program: Argv
    environment: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    undo: Sequence[Argv] = ()
    url: str | None = None
    within_s: float = 600.0
    attended_in: str | None = None
    unattended_s: float = 0.0


def start(service: Service, listened: Callable[[], bool], patience_s: float) -> dict[str, Any]:
    """Start it unless it runs already, and wait until it is ready.

    Args:
        listened: Returns whether the controller still waits.

    Returns:
        Whether it was ``started``, the time until it was ready (``ready_s``), and ``problem``, the error if another
        program runs there, which continues, or if it did not become ready: it is then stopped and removed, and ``log``
        has the end of its output in base64.

    Raises:
        HostSideError: If the directory cannot be used.
    """
    directory = Path(service.directory)
    if directory.is_dir():
        if _runs(directory):
            return _compare_running(service, directory)
        remove(service.directory, service.environment, [], patience_s)
    if service.url and _is_port_in_use(service.url):
        raise HostSideError(f"another program listens at {service.url}: stop it, or use another port")
    _create(service, directory)
    begun = time.monotonic()
    problem: str | None = "it was stopped before it was ready"
    try:
        process = _spawn(service, directory)
        problem = _why_not_ready(service, process, begun, listened)
        ready_s = time.monotonic() - begun
        if problem is None:
            (directory / _READY).touch()
            if service.attended_in:
                _run_detached(lambda: _attend(service, patience_s))
            # prevents Popen's warning about a running process
            process.returncode = 0
    finally:
        log = _end_of(directory / _LOG)
        if problem:
            stop(service.directory, service.environment, patience_s)
    if problem:
        process.wait()
        problem = f"{' '.join(service.program)}: {problem}. Output: {log.decode('utf-8', 'replace')[-_SHOWN:]}"
    # the log of a running program is returned when it is stopped
    return {"started": problem is None, "ready_s": ready_s, "log": _encode(log) if problem else "", "problem": problem}


def stop(directory: str, environment: Mapping[str, str], patience_s: float) -> dict[str, Any]:
    """End the program of *directory*, if any, with its descendants, and remove the directory.

    Returns:
        Whether it was ``there``, whether it ``ran`` until now, and the end of its ``log`` in base64.

    Raises:
        HostSideError: If the directory cannot be removed.
    """
    path = Path(directory)
    if not (path / _REQUEST).exists():
        return {"there": False, "ran": False, "log": ""}
    ran = end(path, patience_s)
    log = _end_of(path / _LOG)
    remove(directory, environment, [], patience_s)
    return {"there": True, "ran": ran, "log": _encode(log)}


def end(directory: Path, patience_s: float) -> bool:
    """End the program of *directory* if that is a service, kill it after *patience_s*, and return whether it ran."""
    if not (directory / _REQUEST).exists():
        return False
    with (directory / LOCK).open("r+", encoding="utf-8") as lock:
        if _is_free(lock):
            return False
        process_id = lock.read()
        if not process_id:
            raise HostSideError(f"the program of {directory} is being started")
        # the process that holds the lock is alive, so its ID is not reused; the group contains its children
        group = int(process_id)
        for number in (signal.SIGTERM, signal.SIGKILL):
            deadline = time.monotonic() + patience_s
            with contextlib.suppress(ProcessLookupError):
                os.killpg(group, number)
            while time.monotonic() < deadline:
                if _is_free(lock):
                    return True
                time.sleep(_POLL_S)
    raise HostSideError(f"process {group} of {directory} does not end")


def _attend(service: Service, patience_s: float) -> None:
    """Stop the service when no measurement uses it any more, for example after a run was killed."""
    directory, seen = Path(service.directory), time.monotonic()
    own = (directory / LOCK).read_text(encoding="utf-8")
    # another service may have replaced it
    while _runs(directory) and (directory / LOCK).read_text(encoding="utf-8") == own:
        if _is_attended(Path(service.attended_in or "")):
            seen = time.monotonic()
        elif time.monotonic() - seen > service.unattended_s:
            stop(service.directory, service.environment, patience_s)
            return
        time.sleep(_ATTENDED_POLL_S)


def _is_attended(folder: Path) -> bool:
    """Return whether a measurement runs in a subfolder, or a service there is being started."""
    for path in folder.glob(f"*/{LOCK}"):
        with contextlib.suppress(OSError), path.open("r+", encoding="utf-8") as lock:
            if not (path.parent / _READY).exists() and not _is_free(lock):
                return True
    return False


def _run_detached(work: Callable[[], None]) -> None:
    """Run *work* in a detached process without the descriptors of its parent."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            # an inherited lock would not end with the parent
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(null, stream)
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            work()
    finally:
        # skip the exit handlers of the parent
        os._exit(0)


def _compare_running(service: Service, directory: Path) -> dict[str, Any]:
    running = json.loads((directory / _REQUEST).read_text(encoding="utf-8"))
    problem = None
    if running != _identity(service):
        problem = f"{' '.join(running['program'])} runs in {directory}, not {' '.join(service.program)}: stop it before"
    return {"started": False, "ready_s": None, "log": "", "problem": problem}


def _identity(service: Service) -> dict[str, Any]:
    """Return the fields that are equal if two services are the same."""
    fields = asdict(service)
    return {name: json.loads(json.dumps(fields[name])) for name in ("program", "environment", "files")}


def _create(service: Service, directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True)
        for name, text in service.files.items():
            (directory / name).write_text(text, encoding="utf-8")
        undo = [json.dumps(list(argv)) + "\n" for argv in service.undo]
        (directory / UNDO).write_text("".join(undo), encoding="utf-8")
        (directory / _REQUEST).write_text(json.dumps(_identity(service)), encoding="utf-8")
    except OSError as error:
        raise HostSideError(f"cannot work in {directory}: {error.strerror}") from error


def _spawn(service: Service, directory: Path) -> subprocess.Popen[bytes]:
    with (directory / LOCK).open("w", encoding="utf-8") as lock, (directory / _LOG).open("wb") as log:
        fcntl.flock(lock, fcntl.LOCK_EX)
        descriptor = lock.fileno()
        try:
            # the program inherits the open file, and with it the lock
            return subprocess.Popen(  # noqa: S603 - no shell
                list(service.program),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=str(directory),
                env={**os.environ, **service.environment},
                start_new_session=True,
                pass_fds=(descriptor,),
                preexec_fn=lambda: _note_id(descriptor),
            )
        except OSError as error:
            raise HostSideError(f"cannot start {service.program[0]}: {error.strerror}") from error


def _note_id(descriptor: int) -> None:
    # the process writes it itself, so that the ID is there before the program runs
    os.write(descriptor, str(os.getpid()).encode())


def _why_not_ready(
    service: Service, process: subprocess.Popen[bytes], begun: float, listened: Callable[[], bool]
) -> str | None:
    """Wait for the service, and return the reason if it does not get ready; None once it is ready."""
    checked = begun
    while True:
        if process.poll() is not None:
            return f"it ended with {process.returncode}"
        now = time.monotonic()
        if _answers(service.url) if service.url else now - begun > _SETTLED_S:
            return None
        if now - begun > service.within_s:
            return f"{service.url} did not answer within {service.within_s:g} s"
        if now - checked > 1.0:
            checked = now
            if not listened():
                return "the connection was closed"
        time.sleep(_POLL_S)


def _answers(url: str) -> bool:
    parts = urlsplit(url)
    # without a proxy; some services return 503 while they load
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=_ANSWER_S)) as connection:
        try:
            connection.request("GET", parts.path or "/")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def _is_port_in_use(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def _runs(directory: Path) -> bool:
    if not (directory / _REQUEST).exists():
        return False
    with (directory / LOCK).open("r+", encoding="utf-8") as lock:
        return not _is_free(lock)


def _is_free(lock: Any) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _end_of(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, size - _MOST_LOG))
        return stream.read()


def _encode(log: bytes) -> str:
    return base64.b64encode(log).decode()
