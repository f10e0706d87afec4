"""The cache of programs is never corrupt: real builds of the smallest component."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from perflab.building.build import find_binaries
from perflab.building.components import COMPONENTS, lock_hash

from .labs import wait_for

ETCD = COMPONENTS[:1]
BUILD = (
    "import sys, pathlib; from perflab.building.build import ensure_binaries;"
    "from perflab.building.components import COMPONENTS;"
    "ensure_binaries(pathlib.Path(sys.argv[1]), lambda text: print(text, flush=True), COMPONENTS[:1])"
)


def start_build(cache: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", BUILD, str(cache)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


def finish(build: subprocess.Popen[str]) -> str:
    output, _ = build.communicate()
    assert build.returncode == 0, output
    return output


def test_killed_build_leaves_no_usable_parts(tmp_path: Path) -> None:
    killed = start_build(tmp_path)
    partial = f"{lock_hash(ETCD)}.partial-{killed.pid}"
    wait_for("a half-written cache", (tmp_path / partial).exists)
    killed.kill()
    killed.communicate()
    assert find_binaries(tmp_path, ETCD) is None

    output = finish(start_build(tmp_path))
    assert "[1/1] etcd v3.6.15 built" in output
    found = find_binaries(tmp_path, ETCD)
    assert found is not None
    version = subprocess.run([found.program("etcd"), "--version"], capture_output=True, text=True, check=True).stdout
    assert "3.6.15" in version
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([lock_hash(ETCD), "build.lock"])

    found.program("etcd").write_bytes(b"truncated")
    assert find_binaries(tmp_path, ETCD) is None
    finish(start_build(tmp_path))
    assert find_binaries(tmp_path, ETCD) == found


@pytest.mark.deep
def test_concurrent_builds_exclude_each_other(tmp_path: Path) -> None:
    both = [start_build(tmp_path), start_build(tmp_path)]
    outputs = sorted((finish(build) for build in both), key=len)
    assert outputs[0] == "waiting for another process that builds the lab's programs\n"
    assert "[1/1] etcd v3.6.15 built" in outputs[1]
