"""Temporary folders: for their owner only, gone at the end, and after a kill -9 removed by the next one.

A folder's name carries the process that made it, so that nobody takes one that is in use.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "perfanalysis-"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for tables that nobody keeps; those of killed processes are removed first."""
    remove_leftovers(PREFIX)
    with owned_folder(PREFIX) as path:
        yield path


@contextlib.contextmanager
def owned_folder(prefix: str) -> Iterator[Path]:
    """Make a temporary folder (0700) and remove it when the block ends."""
    pid = os.getpid()
    path = Path(tempfile.mkdtemp(prefix=f"{prefix}{pid}-{start_ticks(pid)}-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def remove_leftovers(prefix: str, folder: Path | None = None) -> list[Path]:
    """Remove this user's folders of that prefix whose maker is dead, and return them."""
    named = re.compile(rf"{re.escape(prefix)}(\d+)-(\d+)-\w+")
    removed = []
    for path in sorted((folder or Path(tempfile.gettempdir())).glob(f"{prefix}*")):
        name = named.fullmatch(path.name)
        if name and _is_mine(path) and start_ticks(int(name[1])) != int(name[2]):
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed


def _is_mine(path: Path) -> bool:
    try:
        return path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


def start_ticks(pid: int) -> int:
    """When a process began, in clock ticks since boot; 0 when there is no such process.

    Together with the pid this names a process for good.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[19])
