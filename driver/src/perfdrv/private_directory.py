"""ansible-runner's private directory: outside the run, readable by its owner only, gone at the end.

It holds extra vars and the environment in the clear, so those that a killed driver left behind are
removed by the next one. A directory's name carries the process that made it.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = "perfdrv-private-"
_NAME = re.compile(rf"{PREFIX}(\d+)-(\d+)-\w+")


@contextlib.contextmanager
def private_directory() -> Iterator[Path]:
    """Make a private directory (0700) and remove it when the block ends."""
    pid = os.getpid()
    path = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{pid}-{_start_ticks(pid)}-"))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def remove_leftovers(folder: Path | None = None) -> list[Path]:
    """Remove this user's private directories whose maker is dead, and return them."""
    removed = []
    for path in sorted((folder or Path(tempfile.gettempdir())).glob(f"{PREFIX}*")):
        name = _NAME.fullmatch(path.name)
        if name and _is_mine(path) and _start_ticks(int(name[1])) != int(name[2]):
            shutil.rmtree(path, ignore_errors=True)
            removed.append(path)
    return removed


def _is_mine(path: Path) -> bool:
    try:
        return path.is_dir() and not path.is_symlink() and path.stat().st_uid == os.getuid()
    except FileNotFoundError:
        return False


def _start_ticks(pid: int) -> int:
    """When a process began, in clock ticks since boot; 0 when there is no such process.

    Together with the pid this names a process for good.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return int(stat.rpartition(")")[2].split()[19])
