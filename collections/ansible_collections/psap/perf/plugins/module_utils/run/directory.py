"""The run directory: its name, its ``run.json``, and whether a process still works on it.

``run.json`` is written whole and renamed, so a lock on it would stay behind on the replaced file. The lock stands on
``run.lock`` instead: a POSIX record lock, which ends with the process that took it, however it ends.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import fcntl
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

from ansible_collections.psap.perf.plugins.module_utils.base.clock import utc_now, utc_text
from ansible_collections.psap.perf.plugins.module_utils.base.documents import read_json, remove_partials, write_json
from ansible_collections.psap.perf.plugins.module_utils.base.errors import PerfError, UsageError

RUN_SCHEMA = "psap.perf/run/1"
RUN_FILE = "run.json"
LOCK_FILE = "run.lock"
STOP_FILE = "stop"
# there once the cluster answered in the present attempt
REACHED_FILE = "reached"
REPORT_FOLDER = "report"
# space for the last documents of an attempt, and for those of its finalizers
RESERVE_FILE = ".reserve"
_RESERVE_BYTES = 256 << 10
# what one command may need for its documents
_FULL_BYTES = 64 << 10

# Closing any descriptor of a file ends all of a process's record locks on it: a file locked here is not opened again.
_held: dict[Path, IO[str]] = {}


def runs_root(project: Path) -> Path:
    """The folder of all runs: ``$PERF_RUNS_DIR``, or ``runs`` in the project."""
    configured = os.environ.get("PERF_RUNS_DIR")
    return Path(configured).expanduser().absolute() if configured else project / "runs"


def new_run_directory(root: Path, flow: str) -> Path:
    """Make ``<flow>-<UTC time>-<6 hex>`` below *root*.

    :raises PerfError: when the folder cannot be made.
    """
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%dT%H%M%SZ")
    try:
        root.mkdir(parents=True, exist_ok=True)
        if is_full(root):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        while True:
            directory = root / f"{flow}-{stamp}-{secrets.token_hex(3)}"
            try:
                directory.mkdir()
            except FileExistsError:
                continue
            return directory
    except OSError as error:
        raise PerfError(f"cannot make a run directory below {root}: {error.strerror}; set PERF_RUNS_DIR") from error


def is_full(directory: Path) -> bool:
    """Whether there is no space left below *directory* for what a command has to write."""
    return shutil.disk_usage(directory).free < _FULL_BYTES


def make_room(directory: Path) -> None:
    """Give back what an attempt keeps in reserve, where there is less than that."""
    if shutil.disk_usage(directory).free < _RESERVE_BYTES:
        (directory / RESERVE_FILE).unlink(missing_ok=True)


def _keep_reserve(directory: Path) -> None:
    if shutil.disk_usage(directory).free < 4 * _RESERVE_BYTES:
        # what is there is needed
        return
    path = directory / RESERVE_FILE
    try:
        with path.open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, _RESERVE_BYTES)
    except OSError:
        path.unlink(missing_ok=True)


def refuse_links(directory: Path) -> None:
    """Refuse to write into a run directory with symbolic links, through which others could have files overwritten.

    What was captured, below ``artifacts``, may hold links: no attempt writes there again.

    :raises UsageError: when it has one.
    """
    for folder, folders, names in os.walk(directory):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path.is_symlink():
                raise UsageError(
                    f"cannot write into {directory}: {path.relative_to(directory)} is a symbolic link; remove it"
                )
        folders[:] = [name for name in folders if name != "artifacts"]


def hold(directory: Path) -> None:
    """Mark *directory* as being worked on, until this process ends or calls :func:`release`.

    :raises UsageError: when another process works on it, or as :func:`refuse_links`.
    """
    path = (directory / LOCK_FILE).absolute()
    if path in _held:
        return
    refuse_links(directory)
    stream = path.open("a+", encoding="utf-8")
    try:
        fcntl.lockf(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        stream.close()
        raise UsageError(f"{directory.name} is still running; wait for it, or stop it first") from error
    _held[path] = stream


def release(directory: Path) -> None:
    """End what :func:`hold` began."""
    stream = _held.pop((directory / LOCK_FILE).absolute(), None)
    if stream is not None:
        stream.close()


def is_held(directory: Path) -> bool:
    """Whether a living process works on *directory*."""
    path = (directory / LOCK_FILE).absolute()
    if path in _held:
        return True
    try:
        with path.open("r", encoding="utf-8") as stream:
            fcntl.lockf(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


@dataclass(frozen=True, slots=True)
class RunState:
    """What ``run.json`` says, corrected by whether anyone still works on it."""

    directory: Path
    document: Mapping[str, Any]
    status: str

    @property
    def id(self) -> str:
        """The run's id, which is its directory's name unless it is a cell."""
        return str(self.document.get("id", self.directory.name))


def read_run(directory: Path) -> RunState:
    """The state of a run; one that says ``running`` while nobody holds it was interrupted.

    :raises PerfError: when there is no readable ``run.json``.
    """
    document = read_json(directory / RUN_FILE)
    status = str(document.get("status", "running"))
    if status == "running" and not is_held(directory):
        status = "interrupted"
    return RunState(directory=directory, document=document, status=status)


def begin_attempt(directory: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write ``run.json`` for a new attempt at *directory*, which this process holds, and return the document.

    Files that a killed attempt was writing are removed.

    :param facts: what is known at the start: ``flow``, ``tags``, ``presets``, ``site``, ``argv`` and the like.
    """
    remove_partials(directory)
    former = read_json(directory / RUN_FILE) if (directory / RUN_FILE).exists() else {}
    attempts = [_closed(attempt, directory) for attempt in former.get("attempts", [])]
    begun = utc_now()
    known = dict(facts)
    attempts.append(
        {
            "number": len(attempts) + 1,
            "started": begun,
            "ended": None,
            "status": "running",
            "argv": known.pop("argv", []),
        }
    )
    document: dict[str, Any] = {
        "schema": RUN_SCHEMA,
        "id": former.get("id", directory.name),
        "parent": None,
        **{key: value for key, value in former.items() if key not in ("schema", "id")},
        **known,
        "status": "running",
        "exit_code": None,
        "reason": None,
        "started": former.get("started", begun),
        "ended": None,
        "attempts": attempts,
    }
    write_json(directory / RUN_FILE, document)
    _keep_reserve(directory)
    return document


def _closed(attempt: Mapping[str, Any], directory: Path) -> dict[str, Any]:
    """A former attempt, which nobody can be working on any more."""
    if attempt.get("status") != "running":
        return dict(attempt)
    return {**attempt, "status": "interrupted", "ended": last_written(directory)}


def last_written(directory: Path) -> str:
    """When a file below *directory* last changed, its report aside: the end of a run that was killed."""
    moments = [(directory / RUN_FILE).stat().st_mtime]
    for folder, folders, names in os.walk(directory):
        if folder == str(directory) and REPORT_FOLDER in folders:
            folders.remove(REPORT_FOLDER)
        for name in set(names) - {RESERVE_FILE}:
            with contextlib.suppress(FileNotFoundError):
                moments.append(Path(folder, name).lstat().st_mtime)
    return utc_text(datetime.datetime.fromtimestamp(max(moments), datetime.UTC))


def update_run(directory: Path, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change some keys of ``run.json``; only the process that holds the run, or one it started, may."""
    document = {**read_json(directory / RUN_FILE), **changes}
    write_json(directory / RUN_FILE, document)
    return document


def end_attempt(
    directory: Path,
    status: str,
    exit_code: int,
    reason: Mapping[str, Any] | None,
    kept: Mapping[str, Any] = MappingProxyType({}),
    ended: str | None = None,
) -> dict[str, Any]:
    """Write how the last attempt ended: ``ok``, ``failed``, ``interrupted`` or ``refused``.

    :param kept: keys of ``run.json`` that do not follow the attempt, as the status of a run that was only cleaned up.
    :param ended: when it ended; now, unless it is given.
    """
    (directory / RESERVE_FILE).unlink(missing_ok=True)
    document = read_json(directory / RUN_FILE)
    ended = ended or utc_now()
    attempts = [dict(attempt) for attempt in document.get("attempts", [])]
    if attempts:
        attempts[-1].update(ended=ended, status=status)
    ending = {
        "status": status,
        "exit_code": exit_code,
        "reason": reason,
        "ended": ended,
        "attempts": attempts,
    }
    return update_run(directory, {**ending, **kept})
