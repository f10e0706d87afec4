"""Removes or lists working containers of killed builds: ``working_containers.py ACTION PODMAN``.

Podman's builder stores the options of a build beside its working container. Our builds have an unused secret whose
name contains the directory of the build; a process holds the lock in that directory while the build is in use. Builds
of others have no such secret. Needs only Python 3.9.
"""

from __future__ import annotations

import fcntl
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_MARK, _END = "id=psap-perf:", ",src="


def build_directory(state: str) -> Path | None:
    """Return the directory of the build with the builder's *state*; None for builds of others."""
    options = json.loads(state).get("CommonBuildOpts") or {}
    for secret in options.get("Secrets") or []:
        if secret.startswith(_MARK):
            return Path(secret[len(_MARK) :].rpartition(_END)[0]).expanduser()
    return None


def is_over(directory: Path, own: Path) -> bool:
    """Return whether no process uses *directory*; the caller itself uses *own*."""
    if directory == own:
        return True
    try:
        with (directory / "lock").open(encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def working_containers(storage: Path, own: Path) -> Iterator[str]:
    """Yield the IDs of the working containers in *storage* whose builds are over."""
    for path in storage.glob("*-containers/*/userdata/buildah.json"):
        try:
            directory = build_directory(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            # the file is being written or removed
            continue
        if directory and is_over(directory, own):
            yield path.parent.parent.name


def main(action: str, engine: list[str]) -> int:
    """List or remove the containers; without an engine there are none, and the build reports that."""
    try:
        words = [*engine, "info", "--format", "{{.Store.GraphRoot}}"]
        info = subprocess.run(words, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = list(working_containers(Path(info.stdout.strip()), Path.cwd())) if info.stdout.strip() else []
    if action == "list":
        print("\n".join(found))
        return 0
    removed = subprocess.run([*engine, "rm", "--force", *found], check=False) if found else None
    return removed.returncode if removed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
