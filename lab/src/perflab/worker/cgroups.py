"""The control group of a real node's pods, in every hierarchy of this machine."""

from __future__ import annotations

import os
import time
from pathlib import Path

_ROOT = Path("/sys/fs/cgroup")
_PROCESSES = "cgroup.procs"
# else all pods together have the weight of one process of this machine: file of version 1 or 2 → value
_WEIGHTS = {"cpu.shares": "8192", "cpu.weight": "313"}
_CONTROLLERS = "+cpu +cpuset +memory +pids"
_READABLE = 0o755
_ATTEMPTS = 100
_PAUSE_S = 0.1


def create(name: str, root: Path = _ROOT) -> None:
    """Create the group in each hierarchy."""
    for hierarchy in _hierarchies(root):
        if (hierarchy / "cgroup.controllers").exists() and hierarchy == root:
            (hierarchy / "cgroup.subtree_control").write_text(_CONTROLLERS)
        group = hierarchy / name
        group.mkdir(exist_ok=True)
        # a kubelet of another user ends if it cannot read every group
        group.chmod(_READABLE)
        for file, value in _WEIGHTS.items():
            if (group / file).exists():
                (group / file).write_text(value)


def remove(name: str, root: Path = _ROOT) -> bool:
    """Remove the group and all below it, as soon as its processes have ended; return whether nothing is left."""
    return all(list(map(_remove, (hierarchy / name for hierarchy in _hierarchies(root)))))


def unreadable(root: Path = _ROOT) -> list[str]:
    """Return the folders of groups of other users that this process cannot read."""
    found: list[str] = []
    for _folder in os.walk(root, onerror=lambda error: found.append(error.filename)):
        pass
    return found


def _hierarchies(root: Path) -> list[Path]:
    # version 2, or one folder for each of version 1
    if (root / _PROCESSES).exists():
        return [root]
    return sorted(path.parent for path in root.glob(f"*/{_PROCESSES}") if not path.parent.is_symlink())


def _remove(group: Path) -> bool:
    for _attempt in range(_ATTEMPTS):
        try:
            for folder, _folders, _files in os.walk(group, topdown=False):
                Path(folder).rmdir()
        except OSError:
            # a process that was killed ends a little later
            time.sleep(_PAUSE_S)
        else:
            return True
    return False
