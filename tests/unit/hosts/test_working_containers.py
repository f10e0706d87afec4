"""Working containers of ended builds, found by the records of podman's builder."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path
from runpy import run_path

ROLES = Path(__file__).resolve().parents[3] / "collections/ansible_collections/psap/perf/roles"


def write_record(storage: Path, name: str, options: object) -> None:
    """Write the record of a working container in the format of podman 4.3."""
    folder = storage / "overlay-containers" / name / "userdata"
    folder.mkdir(parents=True)
    (folder / "buildah.json").write_text(json.dumps({"container-id": name, "CommonBuildOpts": options}))


def test_only_containers_of_ended_builds_are_found(tmp_path: Path) -> None:
    script = run_path(str(ROLES / "remote_build_image/files/working_containers.py"))
    storage, work = tmp_path / "storage", tmp_path / "work"
    for name in ("own", "dead", "alive"):
        (work / name).mkdir(parents=True)
        (work / name / "lock").touch()
    for name in ("own", "dead", "alive", "removed"):
        write_record(storage, name, {"Secrets": ["id=x,src=y", f"id=psap-perf:{work / name},src=lock"]})
    write_record(storage, "foreign", {"Secrets": ["id=x,src=y"]})
    write_record(storage, "bare", None)
    (storage / "overlay-containers/broken/userdata").mkdir(parents=True)
    (storage / "overlay-containers/broken/userdata/buildah.json").write_text("{")
    with (work / "alive/lock").open() as alive, (work / "own/lock").open() as own:
        # The process that undoes a build holds its lock.
        for lock in (alive, own):
            fcntl.flock(lock, fcntl.LOCK_EX)
        found = set(script["working_containers"](storage, work / "own"))
    assert found == {"own", "dead", "removed"}
