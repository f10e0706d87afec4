"""The run directory: its name, its ``run.json``, and whether a process still works on it.

``run.json`` is replaced by renaming, so a lock on it would remain on the replaced file. The lock is on ``run.lock``
instead: a POSIX record lock, which ends with the process that acquired it, even if that is killed.
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
# exists once the cluster has responded in the present attempt
REACHED_FILE = "reached"
REPORT_FOLDER = "report"
# space for the last documents of an attempt, and for those of its finalizers
RESERVE_FILE = ".reserve"
_RESERVE_BYTES = 256 << 10
# space that one command may need for its documents
_FULL_BYTES = 64 << 10

# Closing any descriptor of a file ends all of a process's record locks on it: do not open a file locked here again.
_held: dict[Path, IO[str]] = {}


def runs_root(project: Path) -> Path:
    """Return the folder of all runs: ``$PERF_RUNS_DIR``, or ``runs`` in the project."""
    configured = os.environ.get("PERF_RUNS_DIR")
    return Path(configured).expanduser().absolute() if configured else project / "runs"


def new_run_directory(root: Path, flow: str) -> Path:
    """Make ``<flow>-<UTC time>-<6 hex>`` below *root*.

    Raises:
        PerfError: If the folder cannot be made.
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
    """Return whether *directory* has too little space for a command's documents."""
    return shutil.disk_usage(directory).free < _FULL_BYTES


def make_room(directory: Path) -> None:
    """Free the space that an attempt keeps in reserve, if less than that is left."""
    if shutil.disk_usage(directory).free < _RESERVE_BYTES:
        (directory / RESERVE_FILE).unlink(missing_ok=True)


def _keep_reserve(directory: Path) -> None:
    if shutil.disk_usage(directory).free < 4 * _RESERVE_BYTES:
        # the remaining space is needed
        return
    path = directory / RESERVE_FILE
    try:
        with path.open("wb") as stream:
            os.posix_fallocate(stream.fileno(), 0, _RESERVE_BYTES)
    except OSError:
        path.unlink(missing_ok=True)


def refuse_links(directory: Path) -> None:
    """Refuse to write into a run directory with symbolic links, through which other users could overwrite files.

    Captured files below ``artifacts`` may contain links: no attempt writes there again.

    Raises:
        UsageError: If it has a link.
    """
    for folder, folders, names in os.walk(directory):
        for path in (Path(folder, name) for name in (*folders, *names)):
            if path.is_symlink():
                raise UsageError(
                    f"cannot write into {directory}: {path.relative_to(directory)} is a symbolic link; remove it"
                )
        folders[:] = [name for name in folders if name != "artifacts"]


def hold(directory: Path) -> None:
    """Lock *directory* until this process ends or calls `release`.

    Raises:
        UsageError: If another process works on it, or it contains links.
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
    """Release the lock of `hold`."""
    stream = _held.pop((directory / LOCK_FILE).absolute(), None)
    if stream is not None:
        stream.close()


def is_held(directory: Path) -> bool:
    """Return whether a live process works on *directory*."""
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
    """The content of ``run.json``, with the status corrected if no process works on the run."""

    directory: Path
    document: Mapping[str, Any]
    status: str

    @property
    def id(self) -> str:
        """The run's ID, which is its directory's name unless it is a cell."""
        return str(self.document.get("id", self.directory.name))


def read_run(directory: Path) -> RunState:
    """Return the state of a run; it is ``interrupted`` if it is ``running`` in ``run.json`` but no process holds it.

    Raises:
        PerfError: If ``run.json`` is missing or cannot be read.
    """
    document = read_json(directory / RUN_FILE)
    status = str(document.get("status", "running"))
    if status == "running" and not is_held(directory):
        status = "interrupted"
    return RunState(directory=directory, document=document, status=status)


def begin_attempt(directory: Path, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Write ``run.json`` for a new attempt at *directory*, which this process holds; return the document.

    Partial files of a killed attempt are removed.

    Args:
        facts: Fields known at the start: ``flow``, ``tags``, ``presets``, ``site``, ``argv`` and the like.
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
    """Return a former attempt, which is interrupted if it did not end."""
    if attempt.get("status") != "running":
        return dict(attempt)
    return {**attempt, "status": "interrupted", "ended": last_written(directory)}


def last_written(directory: Path) -> str:
    """Return when a file below *directory*, except its report, last changed: the end of a killed run."""
    moments = [(directory / RUN_FILE).stat().st_mtime]
    for folder, folders, names in os.walk(directory):
        if folder == str(directory) and REPORT_FOLDER in folders:
            folders.remove(REPORT_FOLDER)
        for name in set(names) - {RESERVE_FILE}:
            with contextlib.suppress(FileNotFoundError):
                moments.append(Path(folder, name).lstat().st_mtime)
    return utc_text(datetime.datetime.fromtimestamp(max(moments), datetime.UTC))


def update_run(directory: Path, changes: Mapping[str, Any]) -> dict[str, Any]:
    """Change keys of ``run.json``; only the process that holds the run, or its children, may call this."""
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
    """Write the status of the last attempt: ``ok``, ``failed``, ``interrupted`` or ``refused``.

    Args:
        kept: Keys of ``run.json`` that the attempt does not change, such as the status of a run that it only cleans up.
        ended: Its end as UTC text; now by default.
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
