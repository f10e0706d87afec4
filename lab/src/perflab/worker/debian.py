"""Programs of Debian's packages, unpacked into the cache without being installed."""

from __future__ import annotations

import fcntl
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from perflab.errors import ClusterError, PrintLine
from perflab.worker.requirements import find


def unpacked(cache: Path, packages: Iterable[str], print_line: PrintLine) -> list[Path]:
    """Return the folder of each package in the cache, after downloading and unpacking those that are missing.

    Raises:
        ClusterError: A package cannot be downloaded: this machine does not have Debian's tools, or cannot reach it.
    """
    place = cache / "debian"
    place.mkdir(parents=True, exist_ok=True)
    # the kernel releases this lock when the process ends in any way
    with (place / "lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return [_ensure(place, package, print_line) for package in packages]


def library_folders(roots: Iterable[Path]) -> list[Path]:
    """Return the folders of libraries in folders of packages."""
    names = [f"{top}/{platform.machine()}-linux-gnu" for top in ("usr/lib", "lib")]
    return [folder for root in roots for name in names if (folder := root / name).is_dir()]


def _ensure(place: Path, package: str, print_line: PrintLine) -> Path:
    folder = place / package
    if folder.exists():
        return folder
    tools = {program: find(program) for program in ("apt-get", "dpkg-deb")}
    missing = [program for program, path in tools.items() if path is None]
    if missing:
        raise ClusterError(f"cannot get Debian's package {package}: this machine does not have {', '.join(missing)}")
    print_line(f"downloading Debian's package {package}")
    with tempfile.TemporaryDirectory(dir=place, prefix=".partial-") as work:
        _run([str(tools["apt-get"]), "download", "--quiet", package], work, package)
        (archive,) = Path(work).glob("*.deb")
        partial = Path(work, "unpacked")
        _run([str(tools["dpkg-deb"]), "--extract", str(archive), str(partial)], work, package)
        # a rename, so that a folder is complete if it is there
        partial.rename(folder)
    return folder


def _run(command: list[str], work: str, package: str) -> None:
    done = subprocess.run(  # noqa: S603
        command,
        cwd=work,
        env={**os.environ, "LC_ALL": "C"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        errors = [line for line in done.stderr.splitlines() if not line.startswith("W:")]
        reason = errors[-1].removeprefix("E: ") if errors else f"code {done.returncode}"
        program = Path(shutil.which(command[0]) or command[0]).name
        raise ClusterError(
            f"cannot get Debian's package {package}: {program}: {reason}. Run `apt-get update`, or connect this "
            "machine to Debian's archive, and repeat."
        )
