"""Checks of this machine: Python, Ansible, disk, kernel limits, pseudo-terminals, the compiler of the lab."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from perfdrv.ansible.pseudo_terminal import REMEDY, pseudo_terminal_problem
from perfdrv.errors import EXIT_USAGE
from perfdrv.examining.findings import Finding, optional, required

OLDEST_PYTHON = (3, 11)
SUPPORTED_CORE = ("2.19", "2.20", "2.21")
_GIB = 1 << 30
# a run of thousands of workloads records some hundred megabytes
FREE_GIB = 2
# a lab watches a few dozen folders
INOTIFY_INSTANCES = 256
_INOTIFY = Path("/proc/sys/fs/inotify/max_user_instances")


def examine_machine(folder: Path, inotify: Path = _INOTIFY) -> Iterator[Finding]:
    """Yield the findings for this machine.

    Args:
        folder: Below which runs are written.
        inotify: The kernel's file with its limit of watches.
    """
    python = ".".join(map(str, sys.version_info[:3]))
    oldest = ".".join(map(str, OLDEST_PYTHON))
    yield required(
        "Python", sys.version_info >= OLDEST_PYTHON, python, f"install psap-perf with Python {oldest}", EXIT_USAGE
    )
    core = _version("ansible-core")
    yield required(
        "ansible-core",
        core.startswith(tuple(f"{one}." for one in SUPPORTED_CORE)),
        core or "not installed",
        f"pip install 'ansible-core>={SUPPORTED_CORE[0]}' in the environment of perfdrv",
        EXIT_USAGE,
    )
    free = shutil.disk_usage(folder).free / _GIB
    yield required(
        "disk", free >= FREE_GIB, f"{free:.1f} GiB free", "free space, or set PERF_RUNS_DIR to another disk", EXIT_USAGE
    )
    if inotify.is_file():
        limit = int(inotify.read_text(encoding="ascii"))
        yield optional(
            "inotify instances",
            limit >= INOTIFY_INSTANCES,
            str(limit),
            f"for several labs: sysctl fs.inotify.max_user_instances={INOTIFY_INSTANCES}",
        )
    problem = pseudo_terminal_problem()
    yield required("pseudo-terminals", not problem, problem or "available", REMEDY, EXIT_USAGE)
    go = shutil.which("go")
    yield optional("Go compiler", go is not None, go or "not on PATH", "for the lab: pip install 'psap-perf[lab]'")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
