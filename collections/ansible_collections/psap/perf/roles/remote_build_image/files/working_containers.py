"""Removes working containers of our builds that were killed, or lists them: ``working_containers.py ACTION PODMAN``.

Podman's builder writes beside each of its working containers what the build was given. Ours are given a secret that
nothing uses, whose name has the directory of the build, in which a lock is held as long as somebody is responsible for
it. Those of others have no such secret. Python 3.9 is all that it needs.
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
    """The directory of the build that *state* is of, the builder's own words; None for those of others."""
    options = json.loads(state).get("CommonBuildOpts") or {}
    for secret in options.get("Secrets") or []:
        if secret.startswith(_MARK):
            return Path(secret[len(_MARK) :].rpartition(_END)[0]).expanduser()
    return None


def is_over(directory: Path, own: Path) -> bool:
    """Whether nobody works there any more; who calls this does so for the directory *own*."""
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
    """The IDs of those whose builds are over, in the storage of the engine."""
    for path in storage.glob("*-containers/*/userdata/buildah.json"):
        try:
            directory = build_directory(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            # it is being written or removed
            continue
        if directory and is_over(directory, own):
            yield path.parent.parent.name


def main(action: str, engine: list[str]) -> int:
    """Without an engine there are none, and who builds is told so by the build."""
    try:
        asked = [*engine, "info", "--format", "{{.Store.GraphRoot}}"]
        told = subprocess.run(asked, capture_output=True, text=True, check=False)
    except OSError:
        return 0
    found = list(working_containers(Path(told.stdout.strip()), Path.cwd())) if told.stdout.strip() else []
    if action == "list":
        print("\n".join(found))
        return 0
    removed = subprocess.run([*engine, "rm", "--force", *found], check=False) if found else None
    return removed.returncode if removed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
