"""Starts a program on the host that it was sent to, which runs on until it is stopped.

The program holds a lock of its directory as long as it lives, and the lock's file has its ID: so it is known whether it
runs, and no other process is ever signalled. It is sent to hosts by Ansible: Python 3.9 is all that it needs.
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

# what is asked for, by which the directory is known as that of a service
_ASKED = "service.json"
_READY = "ready"
_LOG = "log"
# of what a service says, the end
_MOST_LOG = 8 << 20
_SHOWN = 2000
_POLL_S = 0.1
_ATTENDED_POLL_S = 1.0
_ANSWER_S = 5.0
_CONNECT_S = 1.0
# what cannot run at all has ended by then
_SETTLED_S = 1.0


@dataclass(frozen=True)
class Service:
    """What runs, and where.

    :param undo: what removes what the program leaves, such as a container, after it has ended.
    :param url: what answers with 200 when it is ready; None for a program that is ready when it runs for a second.
    :param attended_in: the folder in whose subfolders those work for whom it runs; None for a program that runs until
        it is stopped.
    :param unattended_s: after how long without them it is stopped.
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
    """Start it, and wait until it is ready; one that runs already, of the same words, stays as it is.

    *listened* says whether somebody still waits for the answer.

    :returns: whether it was ``started``, how long until it was ``ready_s``, and ``problem``, a sentence where another
        one runs there, which goes on, or it did not become ready: then it was stopped, all is removed, and the end of
        its ``log`` is here in base64.
    :raises HostSideError: when the directory cannot be used.
    """
    directory = Path(service.directory)
    if directory.is_dir():
        if _runs(directory):
            return _found(service, directory)
        remove(service.directory, service.environment, [], patience_s)
    if service.url and _is_taken(service.url):
        raise HostSideError(f"something else listens at {service.url}: stop it, or take another port")
    _create(service, directory)
    begun = time.monotonic()
    problem: str | None = "it was asked to end before it was ready"
    try:
        process = _spawn(service, directory)
        problem = _awaited(service, process, begun, listened)
        ready_s = time.monotonic() - begun
        if problem is None:
            (directory / _READY).touch()
            if service.attended_in:
                _beside(lambda: _attend(service, patience_s))
            # it runs on, and nobody waits for it
            process.returncode = 0
    finally:
        log = _end_of(directory / _LOG)
        if problem:
            stop(service.directory, service.environment, patience_s)
    if problem:
        process.wait()
        problem = f"{' '.join(service.program)}: {problem}. It said: {log.decode('utf-8', 'replace')[-_SHOWN:]}"
    # what one that runs has written comes with its end
    return {"started": problem is None, "ready_s": ready_s, "log": _encoded(log) if problem else "", "problem": problem}


def stop(directory: str, environment: Mapping[str, str], patience_s: float) -> dict[str, Any]:
    """End the program of *directory* with all that it started, and remove what it left; nothing if it is not there.

    :returns: whether it was ``there``, whether it ``ran`` until now, and the end of its ``log`` in base64.
    :raises HostSideError: when the directory cannot be removed.
    """
    path = Path(directory)
    if not (path / _ASKED).exists():
        return {"there": False, "ran": False, "log": ""}
    ran = end(path, patience_s)
    log = _end_of(path / _LOG)
    remove(directory, environment, [], patience_s)
    return {"there": True, "ran": ran, "log": _encoded(log)}


def end(directory: Path, patience_s: float) -> bool:
    """End the program of *directory* if that is a service, kill it after *patience_s*, and say whether it ran."""
    if not (directory / _ASKED).exists():
        return False
    with (directory / LOCK).open("r+", encoding="utf-8") as lock:
        if _is_free(lock):
            return False
        noted = lock.read()
        if not noted:
            raise HostSideError(f"the program of {directory} is being started")
        # who holds the lock is alive, so the ID is nobody else's; the group has what it started
        group = int(noted)
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
    """Stop the service when nobody has worked for it any more, as after a run that was killed."""
    directory, seen = Path(service.directory), time.monotonic()
    own = (directory / LOCK).read_text(encoding="utf-8")
    # another one may have taken its place
    while _runs(directory) and (directory / LOCK).read_text(encoding="utf-8") == own:
        if _is_attended(Path(service.attended_in or "")):
            seen = time.monotonic()
        elif time.monotonic() - seen > service.unattended_s:
            stop(service.directory, service.environment, patience_s)
            return
        time.sleep(_ATTENDED_POLL_S)


def _is_attended(folder: Path) -> bool:
    """Whether a program is measured in a subfolder, or a service there is being started."""
    for path in folder.glob(f"*/{LOCK}"):
        with contextlib.suppress(OSError), path.open("r+", encoding="utf-8") as lock:
            if not (path.parent / _READY).exists() and not _is_free(lock):
                return True
    return False


def _beside(work: Callable[[], None]) -> None:
    """Do it in a process of its own, which is nobody's child and holds nothing of its starter's."""
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork() == 0:
            os.chdir("/")
            # a lock that it holds would not end with its starter
            os.closerange(3, os.sysconf("SC_OPEN_MAX"))
            nothing = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(nothing, stream)
            for number in (signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            work()
    finally:
        # what the starter has to do at its end is not for this one
        os._exit(0)


def _found(service: Service, directory: Path) -> dict[str, Any]:
    asked = json.loads((directory / _ASKED).read_text(encoding="utf-8"))
    problem = None
    if asked != _words(service):
        problem = f"{' '.join(asked['program'])} runs in {directory}, not {' '.join(service.program)}: stop it before"
    return {"started": False, "ready_s": None, "log": "", "problem": problem}


def _words(service: Service) -> dict[str, Any]:
    """What makes two services the same."""
    kept = asdict(service)
    return {name: json.loads(json.dumps(kept[name])) for name in ("program", "environment", "files")}


def _create(service: Service, directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True)
        for name, text in service.files.items():
            (directory / name).write_text(text, encoding="utf-8")
        undo = [json.dumps(list(argv)) + "\n" for argv in service.undo]
        (directory / UNDO).write_text("".join(undo), encoding="utf-8")
        (directory / _ASKED).write_text(json.dumps(_words(service)), encoding="utf-8")
    except OSError as error:
        raise HostSideError(f"cannot work in {directory}: {error.strerror}") from error


def _spawn(service: Service, directory: Path) -> subprocess.Popen[bytes]:
    with (directory / LOCK).open("w", encoding="utf-8") as lock, (directory / _LOG).open("wb") as log:
        fcntl.flock(lock, fcntl.LOCK_EX)
        descriptor = lock.fileno()
        try:
            # the lock is of the open file, which the program has from here
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
    # by the process itself: whoever finds the lock held finds the ID, too
    os.write(descriptor, str(os.getpid()).encode())


def _awaited(
    service: Service, process: subprocess.Popen[bytes], begun: float, listened: Callable[[], bool]
) -> str | None:
    """Why the service is not ready, as a sentence; None when it is."""
    asked = begun
    while True:
        if process.poll() is not None:
            return f"it ended with {process.returncode}"
        now = time.monotonic()
        if _answers(service.url) if service.url else now - begun > _SETTLED_S:
            return None
        if now - begun > service.within_s:
            return f"{service.url} did not answer within {service.within_s:g} s"
        if now - asked > 1.0:
            asked = now
            if not listened():
                return "the connection was closed"
        time.sleep(_POLL_S)


def _answers(url: str) -> bool:
    parts = urlsplit(url)
    # past any proxy; 503 while it loads
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=_ANSWER_S)) as connection:
        try:
            connection.request("GET", parts.path or "/")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False


def _is_taken(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=_CONNECT_S):
            return True
    except OSError:
        return False


def _runs(directory: Path) -> bool:
    if not (directory / _ASKED).exists():
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


def _encoded(log: bytes) -> str:
    return base64.b64encode(log).decode()
