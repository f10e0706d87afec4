"""ansible-runner's private directory: private, removed, and swept up after a killed driver."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from perfdrv.private_directory import PREFIX, private_directory, remove_leftovers


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for temporary files."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return tmp_path


def test_it_is_for_the_owner_only_and_gone_at_the_end(temporary: Path) -> None:
    with private_directory() as path:
        assert path.parent == temporary
        assert path.stat().st_mode & 0o777 == 0o700
        (path / "extravars").write_text("x", encoding="utf-8")
    assert not path.exists()


def test_it_is_gone_after_an_error() -> None:
    with pytest.raises(ValueError, match="x"), private_directory() as path:
        raise ValueError("x")
    assert not path.exists()


def test_leftovers_of_dead_drivers_are_removed_and_nothing_else(temporary: Path) -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    left = temporary / f"{PREFIX}{dead.pid}-1-abc"
    reused = temporary / f"{PREFIX}{os.getpid()}-1-abc"
    foreign = temporary / f"{PREFIX}notours"
    for path in (left, reused, foreign):
        path.mkdir()
    link = temporary / f"{PREFIX}{dead.pid}-1-link"
    link.symlink_to(foreign)
    with private_directory() as alive:
        assert remove_leftovers(temporary) == sorted([left, reused])
        assert alive.is_dir()
    assert foreign.is_dir()
    assert link.is_symlink()
