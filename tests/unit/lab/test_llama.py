"""llama.cpp for tests of machines is built completely or not at all; missing build tools are named."""

from __future__ import annotations

import shutil
import tarfile
from collections import namedtuple
from pathlib import Path

import pytest
from perflab.building import llama
from perflab.building.llama import MODEL, ensure_llama_cpp, lock_hash, model
from perflab.errors import ClusterError

from tests.schemas import check_file

Usage = namedtuple("Usage", "total used free")
BUILDS = 'case "$1" in --build) for each in llama-server llama-bench; do echo "$each" > "$2/bin/$each"; done ;; '
BUILDS += '*) mkdir -p "$6/bin" ;; esac'


def no_output(text: str) -> None:
    del text


def pretend(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cmake: str) -> Path:
    """Replace every needed program, the download and the model's writer; return the cache."""
    programs = tmp_path / "programs"
    programs.mkdir()
    for name, text in {"cmake": cmake, "ninja": "true", "c++": "echo pretended 1.0"}.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    (tmp_path / "vendor/llama.cpp").mkdir(parents=True)

    def download(_command: str, *words: str) -> None:
        with tarfile.open(Path(words[words.index("--dest") + 1], "sources.tar.gz"), "w:gz") as tar:
            tar.add(tmp_path / "vendor", "package/vendor")

    monkeypatch.setattr(llama, "pip", download)
    monkeypatch.setattr(llama, "_write_models", lambda _work, folder: (folder / MODEL).write_text("model"))
    return tmp_path / "cache"


def test_build_is_recorded_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = pretend(tmp_path, monkeypatch, BUILDS)
    made = ensure_llama_cpp(cache, no_output)
    assert made.program("llama-bench").read_text() == "llama-bench\n"
    assert model(made).read_text() == "model"
    assert check_file(made.folder / "built.json") == "psap.perf/lab-binaries/1"
    assert sorted(path.name for path in cache.iterdir()) == sorted([lock_hash(), "build.lock"])
    (tmp_path / "programs/cmake").write_text("#!/bin/sh\nexit 1\n")
    assert ensure_llama_cpp(cache, no_output) == made


def test_failing_build_is_reported_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = pretend(tmp_path, monkeypatch, "echo no such generator; exit 1")
    with pytest.raises(ClusterError, match=r"failed with code 1:\n  no such generator"):
        ensure_llama_cpp(cache, no_output)
    assert [path.name for path in cache.iterdir()] == ["build.lock"]


def test_missing_build_tools_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match=r"install cmake ninja-build g\+\+ and repeat"):
        ensure_llama_cpp(tmp_path / "cache", no_output)


def test_too_little_space_is_refused_before_building(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = pretend(tmp_path, monkeypatch, BUILDS)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12 - 10**9, 10**9))
    with pytest.raises(ClusterError, match=r"1\.0 GB free.*1\.5 GB needed"):
        ensure_llama_cpp(cache, no_output)


def test_another_architecture_has_another_set() -> None:
    assert lock_hash("x86_64") != lock_hash("aarch64")
