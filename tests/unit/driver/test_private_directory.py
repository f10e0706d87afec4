"""The private directory of a worker: private, removed, and swept up after a killed driver."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from perfdrv.errors import UsageError
from perfdrv.private_directory import PREFIX, private_directory, remove_leftovers


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_it_is_for_the_owner_only_and_gone_at_the_end(temporary: Path) -> None:
    with private_directory() as private:
        assert private.path.parent == temporary
        for folder in (private.path, private.runner, private.temporary):
            assert folder.stat().st_mode & 0o777 == 0o700
        assert set(private.variables().values()) == {str(private.temporary)}
        (private.runner / "extravars").write_text("x", encoding="utf-8")
    assert not private.path.exists()


def test_that_of_a_dead_driver_is_removed(temporary: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = temporary / f"{PREFIX}{dead.pid}-1-abc"
    left.mkdir()
    with private_directory() as alive:
        assert remove_leftovers() == [left]
        assert alive.path.is_dir()


def test_without_a_place_it_is_a_sentence(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.setattr("tempfile._candidate_tempdir_list", lambda: [str(temporary / "nowhere")])
    with pytest.raises(UsageError, match=r"There is no place for temporary files: .*\. Free space, or set TMPDIR\."):
        remove_leftovers()
    with pytest.raises(UsageError, match="no place for temporary files"), private_directory():
        pass
