"""Deletes the files and control groups of labs with a real node, after `perflab down` has returned.

`python -m perflab.worker.deleting HOME`: the many folders of pods take the kernel seconds.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import uuid
from pathlib import Path

from perflab.files import documents
from perflab.worker import cgroups, requirements

# no lab's name begins so
_PREFIX = ".deleted-"
_CGROUP = "cgroup.json"


def set_aside(folder: Path, cgroup: str) -> None:
    """Rename the folder of a lab, which then no longer exists; :func:`start` deletes it and the control group."""
    documents.write_json(folder / _CGROUP, {"name": cgroup})
    folder.rename(folder.with_name(f"{_PREFIX}{folder.name}-{uuid.uuid4().hex[:8]}"))


def start(home: Path) -> None:
    """Start a process that deletes what was set aside, if anything was, now or by a command that was killed."""
    if any(_set_aside(home)):
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", __name__, str(home)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        # it outlives this command on purpose, about which Popen would warn
        process.returncode = 0


def delete_all(home: Path) -> None:
    """Delete everything that was set aside."""
    for folder in _set_aside(home):
        record = documents.read_json(folder / _CGROUP)
        # else the next command tries again
        if record is None or cgroups.remove(record["name"]):
            _open(folder)
            shutil.rmtree(folder, ignore_errors=True)


def _open(folder: Path) -> None:
    """Let an ordinary user delete the content of folders, which in images may be closed to their owner."""
    if requirements.is_rootless():
        for parent, folders, _files in os.walk(folder):
            for name in folders:
                path = Path(parent, name)
                # another such process may delete it, too
                with contextlib.suppress(FileNotFoundError):
                    if not path.is_symlink():
                        path.chmod(documents.PRIVATE_FOLDER)


def _set_aside(home: Path) -> list[Path]:
    return sorted(home.glob(f"{_PREFIX}*"))


if __name__ == "__main__":
    delete_all(Path(sys.argv[1]))
